// Planes of a stack that a loop walks are read and written where they lie. The
// slice of an iteration becomes a name for them (analysis/planes_in_place.h),
// which no kernel copies:
//
//   body: %w = bf16[1,512,2048]{..S(1)} dynamic-slice(%stack, %i, 0, 0)
//         %y = fusion(%x, bitcast(%w))
//   ==>   %w = bf16[1,512,2048] dynamic-slice(..), backend_config="in place"
//         %y = fusion(%x, bitcast(%w))      // its windows are in the stack
//
// And the kernel that makes an update stores it there, beside the result that
// others read:
//
//   %h = bf16[64,512] fusion(..)
//   %n = dynamic-update-slice(%made, bitcast(%h), %i, 0, 0)
//   ==> %f = (bf16[64,512]{..S(1)}, bf16[64,512]) fusion(..)
//       %n = dynamic-update-slice(%made, bitcast(%f#1), ..), "in place"
//
// So does the TPU compiler, whose fusions have both inside of them: weights of
// the layers that a scan walks, inputs and results of a recurrence, what a
// backward pass reads again. Where the loop does nothing else with the stack,
// and all readers and makers are kernels, in front of what changes the index.
// On a scheduled module; what fusions of the TPU compiler had inside of them is
// a part of them here (fusion_splitter.h) and comes to lie in place, too, but
// slices that are kernels there stay kernels.
#ifndef PTXLA_HLO_BACKEND_PASSES_LOOPS_PLANES_IN_PLACE_H_
#define PTXLA_HLO_BACKEND_PASSES_LOOPS_PLANES_IN_PLACE_H_

#include "absl/functional/function_ref.h"
#include "hlo_backend/passes/pass.h"

namespace ptxla::hlo {

class PlanesInPlacePass : public Pass {
 public:
  absl::string_view name() const override { return "planes-in-place"; }
  absl::StatusOr<bool> Run(Module* module, const PassContext& context) override;
};

// A slice of planes of what the next iteration has, too.
bool SlicesState(const Instruction& slice);

// What the pass does, for slices and updates for which `may` holds.
bool PutPlanesInPlace(Module* module,
                      absl::FunctionRef<bool(const Instruction&)> may);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_LOOPS_PLANES_IN_PLACE_H_
