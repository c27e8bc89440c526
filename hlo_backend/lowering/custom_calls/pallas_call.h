// `tpu_custom_call`: a Pallas kernel, timed by what it carries. Its grid is
// walked step by step: which blocks are fetched and stored comes from its index
// maps, what a step computes from its body (step_walker.h), and the memory
// pipeline overlaps the two. The result takes time and computes nothing, so it
// is marked as an estimate.
//
//   ASSIGN_OR_RETURN(isa::Kernel k, EmitPallasCall(context, call));
//   k.note   // "ESTIMATE: Mosaic kernel attention, grid 8x4x4, ..."
//
// Unimplemented names the call where it carries no kernel that can be read.
#ifndef PTXLA_HLO_BACKEND_LOWERING_CUSTOM_CALLS_PALLAS_CALL_H_
#define PTXLA_HLO_BACKEND_LOWERING_CUSTOM_CALLS_PALLAS_CALL_H_

#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "hlo_backend/ir/instruction.h"
#include "hlo_backend/lowering/kernel_plan.h"
#include "hlo_backend/mosaic/pallas_kernel.h"

namespace ptxla::lowering {

inline constexpr char kPallasTarget[] = "tpu_custom_call";

// Cycles of the core that has most of the grid, entry and exit included.
struct PallasTime {
  int64_t cycles = 0;
  int64_t steps = 0;      // of that core
  int64_t bundles = 0;    // of those steps
  int64_t hbm_bytes = 0;  // of all cores
  int cores = 1;
  bool assumed = false;            // something depended on data
  std::vector<std::string> taken;  // what prefetched arrays are taken to hold
  std::set<std::string> unknown;   // operations that no rule knows
};

// `arrays`: the call's operands that have windows, then its results, in the
// order of the kernel's windows; the last `results` of them are results.
// `constants`: values of prefetched arrays that are known, by their number.
absl::StatusOr<PallasTime> TimeOf(
    const KernelContext& context, const mosaic::PallasKernel& kernel,
    absl::Span<const hlo::Shape* const> arrays, size_t results,
    std::vector<std::vector<int64_t>> constants = {});

absl::StatusOr<isa::Kernel> EmitPallasCall(const KernelContext& context,
                                           const hlo::Instruction& call);

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_CUSTOM_CALLS_PALLAS_CALL_H_
