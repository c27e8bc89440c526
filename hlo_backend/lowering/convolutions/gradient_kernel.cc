// EmitGradientConvolution: a gradient of weights, whose batch is contracted, or
// a pass whose batch lies in the lanes: rows are then its features.
//
//   out[p, m, n] = sum over taps t and rows r of
//                  kernel[t, r, m] * in[InputOf(p, t), r, n]
//
// Both arrays lie as the forward pass left them, batch in rows. So the kernel's
// blocks are transposed once by the XLU, and the planes of the input that an
// output meets are pushed as weights: windows that are shifted cost nothing. A
// step adds up some planes of taps and, where these alone are too much, part of
// the batch or of the second axis; the grid's innermost dimensions walk over
// the rest. Where the result is too much, it makes some of its planes. Results
// of few features share tiles (packed_gradient.h). What is computed in front of
// the kernel (products/operand_prologue.h) is computed on the way to the XLU.
// Two cores share planes or columns of the result; where a step makes all of
// it, they share the steps and add up their sums (products/shared_depth.h).
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "base/status.h"
#include "base/units.h"
#include "hlo_backend/lowering/convolutions/convolution_operands.h"
#include "hlo_backend/lowering/convolutions/convolution_tiling.h"
#include "hlo_backend/lowering/convolutions/gradient_choice.h"
#include "hlo_backend/lowering/convolutions/gradient_operands.h"
#include "hlo_backend/lowering/convolutions/gradient_plan.h"
#include "hlo_backend/lowering/convolutions/gradient_steps.h"
#include "hlo_backend/lowering/convolutions/gradient_turns.h"
#include "hlo_backend/lowering/convolutions/gradient_walk.h"
#include "hlo_backend/lowering/convolutions/packed_gradient.h"
#include "hlo_backend/lowering/kernel_emitter.h"
#include "hlo_backend/lowering/products/product_epilogue.h"
#include "hlo_backend/lowering/products/shared_depth.h"
#include "hlo_backend/lowering/tiling_log.h"

namespace ptxla::lowering {
namespace {

using codegen::CodeBuilder;
using isa::When;

// ASSUMED: steps that are tried besides the best, where its code has too few
// registers; with 32 (v4) taps that go backward find one behind 16.
constexpr int kOtherSteps = 64;

class GradientEmitter {
 public:
  GradientEmitter(const KernelContext& context, const hlo::Instruction& i,
                  ConvolutionForm form, EpiloguePace pace, bool may_pack,
                  std::vector<std::string>* tried)
      : context_(context),
        i_(i),
        form_(std::move(form)),
        may_pack_(may_pack),
        tried_(*tried) {
    parts_.pace = pace;
  }

  absl::StatusOr<isa::Kernel> Emit() {
    ASSIGN_OR_RETURN(epilogue_,
                     ProductEpilogue::Create(context_, i_, &form_.product));
    ASSIGN_OR_RETURN(args_, KernelArgs(i_));
    steps_.emplace(context_, form_);
    ASSIGN_OR_RETURN(turns_,
                     GradientTurns::Create(context_, i_, form_, *steps_));
    GradientPlanner planner(context_, form_, *steps_, args_, turns_.get(),
                            epilogue_.get());
    const auto plan = [&](const GradientStep& step) {
      return planner.Plan(step, &plan_);
    };
    ASSIGN_OR_RETURN(const GradientStep best,
                     GradientChoice(context_, form_, *steps_, *turns_, plan)
                         .Best(may_pack_, !WalksInVmem(i_, form_), tried_));
    Tiling tiling = plan(best);
    tried_.push_back(tiling.note);
    if (context_.log != nullptr) context_.log->chosen = tiling.note;
    tiling.body = [this](CodeBuilder& b) { return Body(b); };
    return FrameKernel(context_, tiling);
  }

 private:
  absl::Status Body(CodeBuilder& b) {
    const bool resident = form_.product.rhs.resident;
    if (!resident) {
      FillBorders(form_, plan_.block, plan_.planes, plan_.windows[plan_.input],
                  plan_.input, &b);
    }
    padding_.emplace(form_.rows, plan_.block.row_tiles, steps_->arrays().bf16,
                     &b);
    if (plan_.block.row_grid > 1) padding_->ForPartsOf(kGradientSecondGrid, &b);
    b.NewBlock("addresses");
    ASSIGN_OR_RETURN(
        const BlockPlace lhs,
        turns_->Turn(kTransposedRows, plan_.transposed_offset, *padding_, b));
    parts_.k_extent = steps_->KOf(plan_.step);
    StartSums(b);
    b.NewBlock("addresses");
    RETURN_IF_ERROR(epilogue_->Start(b));
    if (resident && EdgeAxis(form_, plan_.block).value_or(-1) == 0) {
      return Edges(lhs, b);
    }
    return WithOperands({}, lhs, b, [&] { return WalkSteps(b); });
  }

  template <class Fn>
  absl::Status WithOperands(const ConvolutionEdge& edge, const BlockPlace& lhs,
                            CodeBuilder& b, Fn multiply) {
    if (plan_.step.packed) {
      PackedGradientOperands operands(steps_->packing(), plan_.exchanged, edge,
                                      steps_->arrays(), lhs, parts_.k_extent,
                                      plan_.windows[plan_.input], plan_.input,
                                      plan_.packed_offset, *padding_, &b);
      parts_.operands = &operands;
      return multiply();
    }
    GradientOperands operands(form_, plan_.block, edge, steps_->arrays(), lhs,
                              plan_.windows[plan_.input], plan_.input,
                              *padding_, &b);
    parts_.operands = &operands;
    return multiply();
  }

  // The first step along the first axis, the last one, and those between meet
  // other planes of an input in VMEM.
  absl::Status Edges(const BlockPlace& lhs, CodeBuilder& b) {
    const bool taps = plan_.step.cut.tap_grid > 1;
    const int dim = taps ? plan_.grid.k : plan_.grid.b;
    const auto some = [&](bool first, bool last) -> absl::Status {
      b.BeginWhen(dim, first ? When::Kind::kFirst : When::Kind::kNotFirst);
      b.BeginWhen(dim, last ? When::Kind::kLast : When::Kind::kNotLast);
      b.BeginScope();
      RETURN_IF_ERROR(WithOperands({0, first, last}, lhs, b, [&] {
        return Stream(b, first || !taps, last || !taps);
      }));
      b.EndScope();
      b.EndWhen();
      b.EndWhen();
      return absl::OkStatus();
    };
    RETURN_IF_ERROR(some(true, false));
    if (plan_.grid.bounds[dim] > 2) RETURN_IF_ERROR(some(false, false));
    return some(false, true);
  }

  void StartSums(CodeBuilder& b) {
    const int64_t rows = RoundUpTo<int64_t>(plan_.step.tile.block_m, 16);
    if (plan_.accumulates) {
      b.NewBlock("addresses");
      parts_.sums.base = b.GlobalSca();
      b.ScratchAddress(parts_.sums.base, 0);
      b.SetBank(parts_.sums.base, CodeBuilder::kAbsoluteBanks, 0);
      parts_.sums.space = kGradientSums;
      parts_.sums.type = hlo::PrimitiveType::kF32;
      parts_.sums.lane_pitch = isa::kVregBytes;
      parts_.sums.row_pitch =
          steps_->StreamTile(plan_.step).block_n / 128 * isa::kVregBytes;
      parts_.sums.batch_pitch = rows / 8 * parts_.sums.row_pitch;
    }
  }

  absl::Status WalkSteps(CodeBuilder& b) {
    GradientWalk walk;
    walk.taps = {plan_.grid.k, plan_.step.tile.grid_k};
    walk.second = {kGradientSecondGrid, plan_.step.second.grid()};
    if (plan_.SharesSteps()) walk.shared_dim = plan_.grid.megacore_dim;
    walk.stream = [&](bool starts, bool finishes) {
      return Stream(b, starts, finishes);
    };
    walk.finish_shared = [&] { return FinishShared(b); };
    return walk.Emit(b);
  }

  absl::Status FinishShared(CodeBuilder& b) {
    const int64_t rows = RoundUpTo<int64_t>(plan_.step.tile.block_m, 16);
    const ProductTile stream = steps_->StreamTile(plan_.step);
    plan_.peer.Send(b);
    if (plan_.step.packed) {
      RETURN_IF_ERROR(
          plan_.peer.Combine(b, [&](codegen::Vec x, codegen::Vec y) {
            return b.Binary(isa::Opcode::kVaddF32, x, y);
          }));
      EmitUnpacking(steps_->packing(), parts_.sums, rows, epilogue_.get(), &b);
    } else {
      const auto is_empty = [&](int64_t batch, int64_t row) {
        for (int64_t k = 0; k < parts_.k_extent; k += isa::kLanes) {
          if (parts_.operands->Meets(batch, row, k)) return false;
        }
        return true;
      };
      FinishSharedSums(
          {plan_.peer, parts_.sums, stream.block_b, rows, stream.block_n,
           /*integers=*/false, is_empty},
          parts_.pace, epilogue_.get(), &b);
    }
    RETURN_IF_ERROR(epilogue_->Finish(b));
    return epilogue_->status();
  }

  absl::Status Stream(CodeBuilder& b, bool starts, bool finishes) {
    parts_.starts = starts;
    parts_.finishes = finishes && !plan_.step.packed;
    b.BeginScope();
    EmitStream(steps_->StreamProblem(plan_.step),
               steps_->StreamTile(plan_.step), steps_->arrays(), parts_,
               epilogue_.get(), &b);
    if (finishes && plan_.step.packed) {
      EmitUnpacking(steps_->packing(), parts_.sums,
                    RoundUpTo<int64_t>(plan_.step.tile.block_m, 16),
                    epilogue_.get(), &b);
    }
    if (finishes) RETURN_IF_ERROR(epilogue_->Finish(b));
    b.EndScope();
    return epilogue_->status();
  }

  const KernelContext& context_;
  const hlo::Instruction& i_;
  ConvolutionForm form_;
  std::vector<isa::KernelArg> args_;
  const bool may_pack_;
  std::vector<std::string>& tried_;
  std::optional<GradientSteps> steps_;
  GradientPlan plan_;
  StreamParts parts_;
  std::optional<RowPadding> padding_;
  std::unique_ptr<GradientTurns> turns_;
  std::unique_ptr<ProductEpilogue> epilogue_;
};

}  // namespace

absl::StatusOr<isa::Kernel> EmitGradientConvolution(
    const KernelContext& context, const hlo::Instruction& i,
    const ConvolutionForm& form, const EpiloguePace& pace) {
  absl::StatusOr<isa::Kernel> kernel;
  for (const bool may_pack : {true, false}) {
    std::vector<std::string> tried;
    for (int n = 0; n <= kOtherSteps; ++n) {
      const size_t before = tried.size();
      kernel = GradientEmitter(context, i, form, pace, may_pack, &tried).Emit();
      if (!absl::IsResourceExhausted(kernel.status())) return kernel;
      if (tried.size() == before) break;  // there is no other step
    }
  }
  return kernel;
}

}  // namespace ptxla::lowering
