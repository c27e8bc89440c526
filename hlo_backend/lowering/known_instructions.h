// What lowering asks of each instruction of a module, kept for the next round:
// where nothing has changed but the memory that some values lie in, most
// kernels are those of the round before.
//
//   KnownInstructions known;                   // of one module
//   options.known = &known;
//   ... Lower(*module, ...), values move, Lower(*module, ...) ...
//   known.Clear();                             // the module has changed
#ifndef PTXLA_HLO_BACKEND_LOWERING_KNOWN_INSTRUCTIONS_H_
#define PTXLA_HLO_BACKEND_LOWERING_KNOWN_INSTRUCTIONS_H_

#include <cstdint>

#include "absl/container/flat_hash_map.h"
#include "hlo_backend/analysis/cost_analysis.h"
#include "hlo_backend/ir/instruction.h"

namespace ptxla::lowering {

class KnownInstructions {
 public:
  // hlo::KernelFingerprint of an instruction.
  uint64_t FingerprintOf(const hlo::Instruction& i);

  // What `costs` says of it, wherever its arrays lie.
  const hlo::Cost& CostOf(const hlo::Instruction& i, hlo::CostAnalysis* costs);

  void Clear() {
    kernels_.clear();
    costs_.clear();
  }

 private:
  struct Kernel {
    uint64_t spaces = 0;  // of all arrays that the fingerprint looks at
    uint64_t fingerprint = 0;
  };
  absl::flat_hash_map<const hlo::Instruction*, Kernel> kernels_;
  absl::flat_hash_map<const hlo::Instruction*, hlo::Cost> costs_;
};

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_KNOWN_INSTRUCTIONS_H_
