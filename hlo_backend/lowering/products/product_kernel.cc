// EmitProduct: a dot, alone or as the heart of an output fusion.
#include <algorithm>
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

struct MadeTile {
  ProductTile tile;
  int64_t step = 0;  // cycles of one
};

// Cycles that no kernel with a choice of tiles takes less than.
class Bounds {
 public:
  Bounds(const KernelContext& context, const hlo::Instruction& i,
         const ProductForm& form, const EpiloguePace& pace)
      : emitter_(context, i, form, pace) {
    if (!emitter_.Prepare().ok()) return;
    auto choices = emitter_.Choices();
    if (choices.ok()) choices_ = *std::move(choices);
  }

  // INT64_MAX for a choice that there is not. `made`: tiles whose steps are
  // known. Tiles that only walk the grid in another order have the same steps.
  int64_t Of(size_t choice, absl::Span<const MadeTile> made) {
    if (choice >= choices_.size()) return INT64_MAX;
    const auto& [tile, cost] = choices_[choice];
    const int64_t least = cost.cycles;
    emitter_.Take(tile, cost);
    int64_t step = INT64_MAX;
    for (const MadeTile& m : made) {
      if (emitter_.HasStepOf(m.tile)) step = std::min(step, m.step);
    }
    return step == INT64_MAX ? least : std::max(least, emitter_.CyclesOf(step));
  }

 private:
  ProductEmitter emitter_;
  std::vector<TileChoice> choices_;
};

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
  std::optional<Bounds> bounds;
  std::vector<MadeTile> made;
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
    made.push_back({emitter.tile(), trial.step});
    return trial;
  };
  const auto least = [&](size_t choice) {
    if (!bounds.has_value()) bounds.emplace(context, i, form, paces[0]);
    return bounds->Of(choice, made);
  };
  return FastestProduct(paces, context.chip, make, least).kernel;
}

}  // namespace ptxla::lowering
