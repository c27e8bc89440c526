// The distinct users of a value, in order of first use until one is removed
// (the last then takes its place). Lookup stays fast for constants with tens
// of thousands of users.
#ifndef PTXLA_HLO_BACKEND_IR_USER_LIST_H_
#define PTXLA_HLO_BACKEND_IR_USER_LIST_H_

#include <memory>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"

namespace ptxla::hlo {

class Instruction;

class UserList {
 public:
  absl::Span<Instruction* const> list() const { return list_; }
  bool Contains(const Instruction* user) const { return Find(user) >= 0; }
  void Add(Instruction* user);     // nothing if already there
  void Remove(Instruction* user);  // nothing if not there
  void Clear();

 private:
  // Beyond this many users an index is kept.
  static constexpr int kLinear = 24;
  int Find(const Instruction* user) const;

  absl::InlinedVector<Instruction*, 2> list_;
  std::unique_ptr<absl::flat_hash_map<const Instruction*, int>> index_;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_IR_USER_LIST_H_
