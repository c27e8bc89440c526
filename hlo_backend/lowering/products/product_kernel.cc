// EmitProduct: a dot, alone or as the heart of an output fusion.
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/status.h"
#include "hlo_backend/lowering/kernel_emitter.h"
#include "hlo_backend/lowering/products/fastest_product.h"
#include "hlo_backend/lowering/products/product_emitter.h"
#include "hlo_backend/lowering/products/product_paces.h"
#include "isa/timing.h"

namespace ptxla::lowering {
namespace {

absl::StatusOr<isa::Kernel> Emit(ProductEmitter& emitter, size_t choice,
                                 const KernelContext& context) {
  RETURN_IF_ERROR(emitter.Prepare());
  RETURN_IF_ERROR(emitter.ChooseTiles(choice));
  ASSIGN_OR_RETURN(const Tiling tiling, emitter.Plan());
  return FrameKernel(context, tiling);
}

// By choice of tiles; of none, if they cannot be known.
std::vector<int64_t> LeastCycles(ProductEmitter& emitter) {
  if (!emitter.Prepare().ok()) return {};
  auto cycles = emitter.LeastCycles();
  return cycles.ok() ? *std::move(cycles) : std::vector<int64_t>();
}

}  // namespace

absl::StatusOr<isa::Kernel> EmitProduct(const KernelContext& context,
                                        const hlo::Instruction& i) {
  ASSIGN_OR_RETURN(ProductForm form, ProductForm::Of(i));
  ChooseNumbers(context.model, form.dot->shape().type(), &form.problem);
  const bool converts = form.problem.lhs.slow || form.problem.rhs.slow;
  const bool splits = form.problem.passes.size() > 1 ||
                      form.problem.lhs.conversion > 0 ||
                      form.problem.rhs.conversion > 0;
  const bool computes = form.lhs_value != nullptr || form.rhs_value != nullptr;
  const auto paces = PacesOf(computes, converts, splits);
  const auto make = [&](const EpiloguePace& pace, size_t choice) {
    ProductEmitter emitter(context, i, form, pace);
    ProductTrial trial;
    trial.kernel = Emit(emitter, choice, context);
    if (!trial.kernel.ok()) return trial;
    trial.step = isa::CyclesOfFirstClass(*trial.kernel, context.model);
    trial.cycles = emitter.CyclesOf(trial.step);
    // Windows of the schedule are taken however long they take.
    trial.expected =
        emitter.HasGivenWindows() ? trial.step : emitter.ExpectedStep();
    trial.waits = emitter.HasLongEpilogue();
    return trial;
  };
  std::optional<std::vector<int64_t>> bounds;
  const auto least = [&](size_t choice) {
    if (!bounds.has_value()) {
      ProductEmitter emitter(context, i, form, paces[0]);
      bounds = LeastCycles(emitter);
    }
    return choice < bounds->size() ? (*bounds)[choice] : INT64_MAX;
  };
  return FastestProduct(paces, context.chip, make, least).kernel;
}

}  // namespace ptxla::lowering
