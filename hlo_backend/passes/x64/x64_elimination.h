// Writes 64-bit arithmetic as arithmetic on pairs of 32-bit words
// (x64_pairs.h), as the TPU compiler does.
//
// A 64-bit parameter, result, tuple element or loop state keeps its shape and
// its bytes; in HBM it is two planes: the low words tiled as u32, then the high
// words (f64: the high f32 plane first; c64: the real one). Three custom calls
// name the planes and cost nothing:
//
//   %lo = u32[8] custom-call(%p), custom_call_target="X64SplitLow"
//   %hi = u32[8] custom-call(%p), custom_call_target="X64SplitHigh"
//   %y  = s64[8] custom-call(%lo, %hi), custom_call_target="X64Combine"
//
// Indices of slices, gathers and scatters become s32 (their low words).
// Unimplemented, naming the instruction: an f64 as its bits, convolutions of
// f64, collectives of 64-bit types, and sums of f64 in scatters.
#ifndef PTXLA_HLO_BACKEND_PASSES_X64_X64_ELIMINATION_H_
#define PTXLA_HLO_BACKEND_PASSES_X64_X64_ELIMINATION_H_

#include "hlo_backend/passes/pass.h"

namespace ptxla::hlo {

inline constexpr char kX64SplitLow[] = "X64SplitLow";
inline constexpr char kX64SplitHigh[] = "X64SplitHigh";
inline constexpr char kX64Combine[] = "X64Combine";
// A value made of both, each of which may be made where the value lies.
bool IsX64Combine(const Instruction& i);

class X64EliminationPass : public Pass {
 public:
  absl::string_view name() const override { return "x64-elimination"; }
  absl::StatusOr<bool> Run(Module* module, const PassContext& context) override;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_X64_X64_ELIMINATION_H_
