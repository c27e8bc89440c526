// Moves starts of asynchronous instructions up to what they need, and their
// dones down to who needs them: the work between hides them.
//
//   a, s = all-reduce-start(p), d = all-reduce-done(s), b, c(b, d)
//   ==> s, a, b, d, c
#ifndef PTXLA_HLO_BACKEND_PASSES_MEMORY_ASYNC_SPREADER_H_
#define PTXLA_HLO_BACKEND_PASSES_MEMORY_ASYNC_SPREADER_H_

#include <vector>

#include "absl/container/flat_hash_set.h"
#include "hlo_backend/ir/computation.h"

namespace ptxla::hlo {

bool HasStarts(const Computation& computation);

class Spreader {
 public:
  // A valid order of all instructions of a computation.
  explicit Spreader(const std::vector<Instruction*>& order) : order_(order) {}
  std::vector<Instruction*> Run();

 private:
  void Emit(Instruction* i);
  bool IsReady(const Instruction& i) const;

  const std::vector<Instruction*>& order_;
  absl::flat_hash_set<const Instruction*> emitted_;
  std::vector<Instruction*> result_;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_MEMORY_ASYNC_SPREADER_H_
