// Kernels that only take time, for what cannot be lowered yet.
#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/units.h"
#include "hlo_backend/analysis/cost_analysis.h"
#include "hlo_backend/ir/computation.h"
#include "hlo_backend/ir/shape.h"
#include "hlo_backend/lowering/kernel_emitter.h"
#include "hlo_backend/lowering/lowering.h"

namespace ptxla::lowering {
namespace {

constexpr char kMark[] = "ESTIMATE";
constexpr char kReasonBegins[] = ": ";
constexpr char kRoofline[] = "roofline; ";

}  // namespace

bool IsEstimate(const isa::Kernel& kernel) {
  return absl::StartsWith(kernel.note, kMark);
}

absl::string_view EstimateReason(const isa::Kernel& kernel) {
  absl::string_view note = kernel.note;
  if (!absl::ConsumePrefix(&note, kMark)) return "";
  absl::ConsumePrefix(&note, kReasonBegins);
  absl::ConsumePrefix(&note, kRoofline);
  return note;
}

isa::Kernel EmitWait(const hlo::Instruction& i, int64_t cycles, int cores,
                     absl::string_view reason) {
  isa::Kernel kernel;
  const std::vector<const hlo::Shape*> leaves = KernelLeaves(i);
  for (size_t k = 0; k < leaves.size(); ++k) {
    isa::KernelArg arg;
    arg.name = absl::StrCat("arg", k);
    arg.space = ArgSpace(*leaves[k]);
    arg.direction = isa::Direction::kInOut;
    arg.bytes = leaves[k]->ByteSize();
    kernel.args.push_back(std::move(arg));
  }
  if (cores > 1) {
    kernel.grid = {cores};
    kernel.megacore_dim = 0;
  }
  isa::Block block;
  block.label = "estimate";
  block.AddNop(static_cast<int>(
      std::min<int64_t>(std::max<int64_t>(1, cycles), INT32_MAX)));
  kernel.step.push_back(std::move(block));
  kernel.note = absl::StrCat(kMark, kReasonBegins, reason);
  return kernel;
}

absl::StatusOr<isa::Kernel> EmitEstimate(const KernelContext& context,
                                         const hlo::Instruction& i,
                                         absl::string_view reason) {
  int64_t bytes = 0;  // what is in VMEM costs no traffic
  for (const hlo::Shape* leaf : KernelLeaves(i)) {
    if (ArgSpace(*leaf) == isa::Space::kHbm) bytes += leaf->ByteSize();
  }
  const hlo::Cost cost = hlo::CostAnalysis().Of(i);
  const Picoseconds memory =
      Bytes(bytes) / context.chip.hbm_bandwidth_per_device();
  const Picoseconds vector =
      Flops(cost.flops - cost.matmul_flops) / context.chip.PeakVpu();
  const Picoseconds matrix = Flops(cost.matmul_flops) /
                             context.chip.PeakMatmul(chips::MatmulType::kBf16);
  const Picoseconds time = std::max(memory, std::max(vector, matrix));
  const Cycles cycles = context.chip.core().clock.CyclesCeil(time);
  return EmitWait(i, cycles.count(), 1, absl::StrCat(kRoofline, reason));
}

}  // namespace ptxla::lowering
