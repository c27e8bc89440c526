// 64-bit counters of loops as s32, where all their values fit: a counter that
// starts as a constant, changes by a constant and is compared with one
// (analysis/trip_count.h). Frameworks count in s64; the scalar unit, and memory
// of its own for a loop's counters (loop_residency.h), are of 32 bits.
//
//   while((s64 i, x)) { (i + 1, f(x, i)) }
//   ==> while((s32 i, x)) { (i + 1, f(x, convert(i))) }
//
// Before x64-elimination, on bodies that no other loop runs. Comparisons of the
// counter with what is known to fit are of 32 bits too.
#ifndef PTXLA_HLO_BACKEND_PASSES_LOOPS_COUNTER_NARROWING_H_
#define PTXLA_HLO_BACKEND_PASSES_LOOPS_COUNTER_NARROWING_H_

#include "hlo_backend/passes/pass.h"

namespace ptxla::hlo {

class CounterNarrowingPass : public Pass {
 public:
  absl::string_view name() const override { return "counter-narrowing"; }
  absl::StatusOr<bool> Run(Module* module, const PassContext& context) override;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_LOOPS_COUNTER_NARROWING_H_
