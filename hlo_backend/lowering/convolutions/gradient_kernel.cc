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
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "base/units.h"
#include "hlo_backend/lowering/convolutions/convolution_operands.h"
#include "hlo_backend/lowering/convolutions/convolution_tiling.h"
#include "hlo_backend/lowering/convolutions/gradient_choice.h"
#include "hlo_backend/lowering/convolutions/gradient_operands.h"
#include "hlo_backend/lowering/convolutions/gradient_steps.h"
#include "hlo_backend/lowering/convolutions/gradient_turns.h"
#include "hlo_backend/lowering/convolutions/gradient_walk.h"
#include "hlo_backend/lowering/convolutions/packed_gradient.h"
#include "hlo_backend/lowering/kernel_emitter.h"
#include "hlo_backend/lowering/products/product_epilogue.h"
#include "hlo_backend/lowering/products/product_visits.h"
#include "hlo_backend/lowering/products/shared_depth.h"
#include "hlo_backend/lowering/tiling_log.h"

namespace ptxla::lowering {
namespace {

using codegen::CodeBuilder;
using isa::When;

constexpr int kGradientSums = 2, kTransposedRows = 3, kFirstOtherSpace = 4;
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
    ASSIGN_OR_RETURN(
        const GradientStep best,
        GradientChoice(context_, form_, *steps_, *turns_,
                       [this](const GradientStep& s) { return Plan(s); })
            .Best(may_pack_, !WalksInVmem(i_, form_), tried_));
    Tiling tiling = Plan(best);
    tried_.push_back(tiling.note);
    if (context_.log != nullptr) context_.log->chosen = tiling.note;
    tiling.body = [this](CodeBuilder& b) { return Body(b); };
    return FrameKernel(context_, tiling);
  }

 private:
  Tiling Plan(const GradientStep& step) {
    step_ = step;
    const AxisBlock& cut = step.cut;
    const SecondCut& second = step.second;
    const ProductTile& tile = step.tile;
    grid_ = GridDims::Of(tile);
    block_ = steps_->BlockOf(step);
    const bool box = step.inner > 1;
    if (second.grid() > 1) grid_.bounds.push_back(second.grid());
    if (box) PartPlanes();
    if (grid_.megacore_dim < 0) grid_.megacore_dim = SharedSteps();
    planes_ = ConvolutionGrid();
    for (size_t a = 0; a < form_.axes.size(); ++a) {
      planes_.axis.push_back(block_.axes[a].grid == 1 ? -1
                             : a == 0                 ? grid_.b
                                                      : kGradientSecondGrid);
      planes_.tap_axis.push_back(block_.axes[a].tap_grid == 1 ? -1
                                 : a == 0                     ? grid_.k
                                          : kGradientSecondGrid);
    }
    planes_.dims = grid_;
    Tiling tiling;
    tiling.note =
        absl::StrCat("gradient, taps ", cut.taps, ", ", tile.ToString());
    if (cut.grid > 1 || box) {
      absl::StrAppend(&tiling.note, ", planes ", cut.outputs);
    }
    if (box) absl::StrAppend(&tiling.note, "x", block_.axes[1].outputs);
    if (second.rows > 1) {
      absl::StrAppend(&tiling.note, ", rows ", 8 * block_.row_tiles);
    }
    if (second.taps > 1) {
      absl::StrAppend(&tiling.note, ", inner taps ", block_.axes[1].taps);
    }
    if (step.packed) {
      exchanged_ = GradientPacking::Exchanged(block_);
      absl::StrAppend(&tiling.note, ", results in ",
                      steps_->packing().taps.tiles.size(), " tiles");
    }
    tiling.args = args_;
    tiling.grid = grid_.bounds;
    tiling.megacore_dim = grid_.megacore_dim;
    turns_->AddWindows(step, grid_, kFirstOtherSpace, &tiling);
    input_ = AddGradientInputWindow(form_, block_, tile, grid_, &tiling);
    windows_ = tiling.windows;
    const int64_t rows = RoundUpTo<int64_t>(tile.block_m, 16);
    const ProductTile stream = steps_->StreamTile(step);
    transposed_offset_ =
        Accumulates() ? stream.block_b * rows * stream.block_n * 4 : 0;
    packed_offset_ = transposed_offset_ +
                     rows * tile.block_k * (steps_->arrays().bf16 ? 2 : 4);
    int64_t scratch = packed_offset_;
    if (step.packed) {
      scratch += RoundUpTo<int64_t>(
          CostOfPacking(steps_->packing().taps, steps_->packing().exchanged,
                        exchanged_, context_.model)
              .bytes,
          isa::kVregBytes);
    }
    epilogue_->SetScratch(scratch);
    tiling.scratch_bytes = scratch + epilogue_->ScratchBytes(tile);
    peer_ = PeerParts();
    if (SharesSteps()) {
      peer_ = PeerParts::Add(0, transposed_offset_, &tiling);
    }
    epilogue_->AddWindows(tile, grid_, kFirstOtherSpace, &tiling);
    tiling.work.flops = tiling.work.mxu_flops = form_.flops;
    for (const isa::KernelArg& arg : tiling.args) {
      if (arg.space == isa::Space::kHbm) tiling.work.hbm_bytes += arg.bytes;
    }
    return tiling;
  }

  // The grid dimension along which two cores make sums of their own; -1: none.
  // An input in VMEM has code of its own for the ends of the first axis. Whole
  // numbers have no gradients.
  int SharedSteps() const {
    const ProductProblem& p = form_.product.problem;
    if (context_.model.cores != 2 || p.kept.any || p.integers ||
        p.rhs.resident || step_.inner > 1) {
      return -1;
    }
    if (step_.tile.grid_k > 1) return grid_.k;
    return step_.second.grid() > 1 ? kGradientSecondGrid : -1;
  }
  bool SharesSteps() const {
    return grid_.megacore_dim >= grid_.k && step_.inner == 1;
  }

  // The grid of a box of planes.
  void PartPlanes() {
    const AxisBlock &outer = block_.axes[0], &inner = block_.axes[1];
    int64_t whole = 1;  // planes of what lies inside of both
    for (size_t a = 2; a < form_.axes.size(); ++a) whole *= form_.axes[a].out;
    grid_.planes = {{outer.outputs, form_.axes[0].out, grid_.b},
                    {inner.outputs * whole, form_.axes[1].out * whole,
                     kGradientSecondGrid}};
    grid_.bounds.push_back(inner.grid);
    if (grid_.megacore_dim < 0) grid_.megacore_dim = kGradientSecondGrid;
  }

  // Packed sums are always taken apart from VMEM.
  bool Accumulates() const {
    return step_.packed || step_.tile.grid_k > 1 || step_.second.grid() > 1 ||
           PlanVisits(form_.product.problem, step_.tile, steps_->arrays())
                   .k_visits > 1;
  }

  absl::Status Body(CodeBuilder& b) {
    const bool resident = form_.product.rhs.resident;
    if (!resident) {
      FillBorders(form_, block_, planes_, windows_[input_], input_, &b);
    }
    padding_.emplace(form_.rows, block_.row_tiles, steps_->arrays().bf16, &b);
    if (block_.row_grid > 1) padding_->ForPartsOf(kGradientSecondGrid, &b);
    b.NewBlock("addresses");
    ASSIGN_OR_RETURN(
        const BlockPlace lhs,
        turns_->Turn(kTransposedRows, transposed_offset_, *padding_, b));
    parts_.k_extent = steps_->KOf(step_);
    StartSums(b);
    b.NewBlock("addresses");
    RETURN_IF_ERROR(epilogue_->Start(b));
    if (resident && EdgeAxis(form_, block_).value_or(-1) == 0) {
      return Edges(lhs, b);
    }
    return WithOperands({}, lhs, b, [&] { return WalkSteps(b); });
  }

  template <class Fn>
  absl::Status WithOperands(const ConvolutionEdge& edge, const BlockPlace& lhs,
                            CodeBuilder& b, Fn multiply) {
    if (step_.packed) {
      PackedGradientOperands operands(steps_->packing(), exchanged_, edge,
                                      steps_->arrays(), lhs, parts_.k_extent,
                                      windows_[input_], input_, packed_offset_,
                                      *padding_, &b);
      parts_.operands = &operands;
      return multiply();
    }
    GradientOperands operands(form_, block_, edge, steps_->arrays(), lhs,
                              windows_[input_], input_, *padding_, &b);
    parts_.operands = &operands;
    return multiply();
  }

  // The first step along the first axis, the last one, and those between meet
  // other planes of an input in VMEM.
  absl::Status Edges(const BlockPlace& lhs, CodeBuilder& b) {
    const bool taps = step_.cut.tap_grid > 1;
    const int dim = taps ? grid_.k : grid_.b;
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
    if (grid_.bounds[dim] > 2) RETURN_IF_ERROR(some(false, false));
    return some(false, true);
  }

  void StartSums(CodeBuilder& b) {
    const int64_t rows = RoundUpTo<int64_t>(step_.tile.block_m, 16);
    if (Accumulates()) {
      b.NewBlock("addresses");
      parts_.sums.base = b.GlobalSca();
      b.ScratchAddress(parts_.sums.base, 0);
      b.SetBank(parts_.sums.base, CodeBuilder::kAbsoluteBanks, 0);
      parts_.sums.space = kGradientSums;
      parts_.sums.type = hlo::PrimitiveType::kF32;
      parts_.sums.lane_pitch = isa::kVregBytes;
      parts_.sums.row_pitch =
          steps_->StreamTile(step_).block_n / 128 * isa::kVregBytes;
      parts_.sums.batch_pitch = rows / 8 * parts_.sums.row_pitch;
    }
  }

  absl::Status WalkSteps(CodeBuilder& b) {
    GradientWalk walk;
    walk.taps = {grid_.k, step_.tile.grid_k};
    walk.second = {kGradientSecondGrid, step_.second.grid()};
    if (SharesSteps()) walk.shared_dim = grid_.megacore_dim;
    walk.stream = [&](bool starts, bool finishes) {
      return Stream(b, starts, finishes);
    };
    walk.finish_shared = [&] { return FinishShared(b); };
    return walk.Emit(b);
  }

  absl::Status FinishShared(CodeBuilder& b) {
    const int64_t rows = RoundUpTo<int64_t>(step_.tile.block_m, 16);
    const ProductTile stream = steps_->StreamTile(step_);
    peer_.Send(b);
    if (step_.packed) {
      RETURN_IF_ERROR(peer_.Combine(b, [&](codegen::Vec x, codegen::Vec y) {
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
          {peer_, parts_.sums, stream.block_b, rows, stream.block_n,
           /*integers=*/false, is_empty},
          parts_.pace, epilogue_.get(), &b);
    }
    RETURN_IF_ERROR(epilogue_->Finish(b));
    return epilogue_->status();
  }

  absl::Status Stream(CodeBuilder& b, bool starts, bool finishes) {
    parts_.starts = starts;
    parts_.finishes = finishes && !step_.packed;
    b.BeginScope();
    EmitStream(steps_->StreamProblem(step_), steps_->StreamTile(step_),
               steps_->arrays(), parts_, epilogue_.get(), &b);
    if (finishes && step_.packed) {
      EmitUnpacking(steps_->packing(), parts_.sums,
                    RoundUpTo<int64_t>(step_.tile.block_m, 16), epilogue_.get(),
                    &b);
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
  GradientStep step_;
  ConvolutionBlock block_;
  ConvolutionBlock exchanged_;  // where results are packed
  ConvolutionGrid planes_;
  GridDims grid_;
  StreamParts parts_;
  int input_ = 0;
  int64_t transposed_offset_ = 0, packed_offset_ = 0;
  PeerParts peer_;  // where cores share steps
  std::optional<RowPadding> padding_;
  std::unique_ptr<GradientTurns> turns_;
  std::vector<isa::Window> windows_;
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
