#include "hlo_backend/lowering/custom_calls/pallas_call.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status.h"
#include "hlo_backend/lowering/kernel_emitter.h"

namespace ptxla::lowering {
namespace {

// The call's arrays that have windows, then its results.
std::vector<const hlo::Shape*> WindowArrays(const hlo::Instruction& call,
                                            const mosaic::PallasKernel& kernel,
                                            size_t* results) {
  std::vector<const hlo::Shape*> arrays = KernelLeaves(call);
  *results = 0;
  hlo::ForEachLeaf(call.shape(),
                   [&](const hlo::Shape& s, const hlo::ShapeIndex&) {
                     *results += s.IsArray() ? 1 : 0;
                   });
  // Bounds of the grid and prefetched scalars stand in front.
  if (arrays.size() > kernel.windows.size()) {
    arrays.erase(arrays.begin(), arrays.end() - static_cast<std::ptrdiff_t>(
                                                    kernel.windows.size()));
  }
  return arrays;
}

// A bound that is an operand: as long as it can be.
std::string GridText(const mosaic::PallasKernel& kernel) {
  if (kernel.grid.empty()) return "1";
  std::vector<int64_t> bounds = kernel.grid;
  for (size_t d = 0; d < bounds.size(); ++d) {
    if (bounds[d] == mosaic::kDynamic) {
      bounds[d] = std::max<int64_t>(1, kernel.BoundOf(static_cast<int>(d)));
    }
  }
  return absl::StrJoin(bounds, "x");
}

// Values of the call's prefetched arrays that are constants of the program.
std::vector<std::vector<int64_t>> Constants(
    const hlo::Instruction& call, const mosaic::PallasKernel& kernel) {
  std::vector<std::vector<int64_t>> constants(
      static_cast<size_t>(kernel.scalar_prefetch));
  // Bounds of the grid stand in front.
  size_t first = 0;
  for (const int64_t bound : kernel.grid) first += bound == mosaic::kDynamic;
  for (size_t k = 0; k < constants.size(); ++k) {
    const size_t number = first + k;
    if (number >= static_cast<size_t>(call.operand_count())) break;
    const hlo::Instruction& operand = *call.operand(static_cast<int>(number));
    if (!operand.shape().IsArray() ||
        operand.shape().type() != hlo::PrimitiveType::kS32) {
      continue;
    }
    const bool one = operand.opcode() == hlo::Opcode::kBroadcast &&
                     operand.operand(0)->shape().ElementCount() == 1;
    const hlo::Instruction& source = one ? *operand.operand(0) : operand;
    if (source.opcode() != hlo::Opcode::kConstant) continue;
    const hlo::Literal& literal = source.literal();
    for (int64_t e = 0; e < operand.shape().ElementCount(); ++e) {
      constants[k].push_back(literal.Get<int32_t>(one ? 0 : e));
    }
  }
  return constants;
}

}  // namespace

absl::StatusOr<isa::Kernel> EmitPallasCall(const KernelContext& context,
                                           const hlo::Instruction& call) {
  absl::StatusOr<mosaic::PallasKernel> read =
      mosaic::PallasKernelOf(call.backend_config());
  if (!read.ok()) {
    return absl::UnimplementedError(
        absl::StrCat("custom call \"tpu_custom_call\" is not lowered: ",
                     read.status().message()));
  }
  const mosaic::PallasKernel& pallas = *read;
  size_t results = 0;
  const std::vector<const hlo::Shape*> arrays =
      WindowArrays(call, pallas, &results);
  ASSIGN_OR_RETURN(
      const PallasTime time,
      TimeOf(context, pallas, arrays, results, Constants(call, pallas)));
  return EmitWait(
      call, time.cycles, time.cores,
      absl::StrCat("Mosaic kernel ", pallas.name, ", grid ", GridText(pallas),
                   ", ", time.bundles / std::max<int64_t>(1, time.steps),
                   " bundles a step", time.taken.empty() ? "" : ", ASSUMED: ",
                   absl::StrJoin(time.taken, ", "),
                   time.assumed ? ", conditions on data taken as true" : "",
                   time.unknown.empty()
                       ? ""
                       : absl::StrCat(", one instruction a register for ",
                                      absl::StrJoin(time.unknown, " "))));
}

}  // namespace ptxla::lowering
