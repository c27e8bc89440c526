// EmitProduct: a dot, alone or as the heart of an output fusion.
#include <utility>

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
    trial.step =
        isa::TimeKernel(*trial.kernel, context.model).classes[0].profile.cycles;
    trial.cycles = emitter.CyclesOf(trial.step);
    // Windows of the schedule are taken however long they take.
    trial.expected =
        emitter.HasGivenWindows() ? trial.step : emitter.ExpectedStep();
    trial.waits = emitter.HasLongEpilogue();
    return trial;
  };
  return FastestProduct(paces, context.chip, make).kernel;
}

}  // namespace ptxla::lowering
