// Names that are new: "add" gives "add", then "add.1", "add.2". A reserved
// "add.7" makes the next one "add.8".
#ifndef PTXLA_HLO_BACKEND_IR_NAME_UNIQUER_H_
#define PTXLA_HLO_BACKEND_IR_NAME_UNIQUER_H_

#include <cstdint>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"

namespace ptxla::hlo {

class NameUniquer {
 public:
  std::string Unique(absl::string_view wish);
  // `name` is in use.
  void Reserve(absl::string_view name);

 private:
  // Base name (without ".N") -> next N; 0 means that the bare base is free.
  absl::flat_hash_map<std::string, int64_t> next_;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_IR_NAME_UNIQUER_H_
