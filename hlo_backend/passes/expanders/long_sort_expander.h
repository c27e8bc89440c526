// Sorts that do not fit VMEM, as sorts of their parts: columnsort (F. T.
// Leighton, "Tight bounds on the complexity of parallel sorting", 1985).
//
// N numbers are s parts of r, r >= 2 (s - 1)^2. The parts are sorted four
// times, each time all of them side by side; in between the array is turned
// (number i of r x s comes to where its row says), turned back, and cut half a
// part later, after which only neighbours overlap.
//
//   sort(f32[67108864])  ==>  sort(f32[256,262144] %x), dimensions={1}
//                             reshape, transpose, sort; transpose, reshape,
//                             sort; slice, sort(f32[255,262144]), concatenate
//
// Of equal elements the first comes first where the sort is stable: their
// positions go along, in an operand that counts or in one more. So they do
// where N is not s parts and some are added behind. What the TPU compiler does
// for such sorts is not known; it has no limit.
#ifndef PTXLA_HLO_BACKEND_PASSES_EXPANDERS_LONG_SORT_EXPANDER_H_
#define PTXLA_HLO_BACKEND_PASSES_EXPANDERS_LONG_SORT_EXPANDER_H_

#include <cstdint>

#include "hlo_backend/passes/pass.h"

namespace ptxla::hlo {

// What VMEM does not hold wherever its operands lie.
class LongSortExpanderPass : public Pass {
 public:
  absl::string_view name() const override { return "long-sort-expander"; }
  absl::StatusOr<bool> Run(Module* module, const PassContext& context) override;
};

// And what it does not hold beside windows of operands in HBM, in the pipeline
// of instructions that have no kernel.
class WindowedSortExpanderPass : public Pass {
 public:
  absl::string_view name() const override { return "windowed-sort-expander"; }
  absl::StatusOr<bool> Run(Module* module, const PassContext& context) override;
};

// As the passes with so many bytes of VMEM. Null: the sort fits, or its
// elements are no words.
Instruction* SortInParts(Instruction* sort, int64_t room, bool windows);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_EXPANDERS_LONG_SORT_EXPANDER_H_
