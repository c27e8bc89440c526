// EmitConvolution: a convolution, alone or as the heart of an output fusion.
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "base/units.h"
#include "chips/compiler_policy.h"
#include "hlo_backend/ir/computation.h"
#include "hlo_backend/lowering/convolutions/convolution_operands.h"
#include "hlo_backend/lowering/convolutions/convolution_tiling.h"
#include "hlo_backend/lowering/convolutions/gradient_operands.h"
#include "hlo_backend/lowering/convolutions/mixed_operands.h"
#include "hlo_backend/lowering/convolutions/packed_operands.h"
#include "hlo_backend/lowering/convolutions/turned_input.h"
#include "hlo_backend/lowering/kernel_emitter.h"
#include "hlo_backend/lowering/pooling/pooling.h"
#include "hlo_backend/lowering/products/product_epilogue.h"
#include "hlo_backend/lowering/products/product_visits.h"
#include "hlo_backend/lowering/tiling_log.h"

namespace ptxla::lowering {
namespace {

using codegen::CodeBuilder;
using isa::When;

// Codegen spaces after those of ConvolutionOperands.
constexpr int kSums = 2, kFirstEpilogueSpace = 3;

class ConvolutionEmitter {
 public:
  // `mixed`: features that whole tiles leave may be packed.
  ConvolutionEmitter(const KernelContext& context, const hlo::Instruction& i,
                     ConvolutionForm form, EpiloguePace pace, bool mixed)
      : context_(context), i_(i), form_(std::move(form)), mixed_(mixed) {
    parts_.pace = pace;
  }

  absl::StatusOr<isa::Kernel> Emit() {
    ASSIGN_OR_RETURN(epilogue_,
                     ProductEpilogue::Create(context_, i_, &form_.product));
    ASSIGN_OR_RETURN(args_, KernelArgs(i_));
    arrays_ =
        ArrayShapeOf(context_.model, form_.product.problem.rhs.transposed);
    if (form_.turned.has_value() && arrays_.bf16) {
      form_.product.lhs.type = form_.product.problem.lhs.type =
          hlo::PrimitiveType::kBf16;
    }
    packing_ = TapPacking::Of(form_, arrays_);
    if (packing_.whole_tiles > 0 && !mixed_) packing_ = {};
    ConvolutionLimits limits;
    limits.step_bundles = chips::ProductStepBundles(context_.chip);
    limits.input_in_place = form_.product.lhs.resident;
    limits.one_box = WalksInVmem(i_, form_);
    ASSIGN_OR_RETURN(
        block_, ChooseConvolutionBlock(
                    context_, form_, packing_, arrays_, limits,
                    [this](const ConvolutionBlock& b) { return Plan(b); }));
    Tiling tiling = Plan(block_);
    if (context_.log != nullptr) context_.log->chosen = tiling.note;
    tiling.body = [this](CodeBuilder& b) { return Body(b); };
    return FrameKernel(context_, tiling);
  }

 private:
  bool Accumulates() const {
    return block_.TapGrid() > 1 ||
           PlanVisits(form_.product.problem, tile_, arrays_).k_visits > 1;
  }
  int64_t PaddedRows() const { return RoundUpTo<int64_t>(tile_.block_m, 32); }

  // The tiling without its code; makes `block` the one of this emitter.
  Tiling Plan(const ConvolutionBlock& block) {
    block_ = block;
    const ConvolutionCost cost =
        CostOf(form_, packing_, block_, arrays_, context_.model);
    tile_ = cost.tile;
    tile_.grid_n = block_.column_grid;
    grid_ = ConvolutionGrid::Of(form_, block_);
    const KeptResults& kept = form_.product.problem.kept;
    if (kept.any && !kept.exchanged) grid_.dims.megacore_dim = -1;
    Tiling tiling;
    tiling.note = block_.ToString();
    if (IsPacked(packing_, block_)) {
      absl::StrAppend(&tiling.note, ", taps in ", tile_.block_k / 128,
                      " K tiles");
    }
    tiling.args = args_;
    tiling.grid = grid_.dims.bounds;
    tiling.megacore_dim = grid_.dims.megacore_dim;
    input_ = form_.turned.has_value()
                 ? AddTurnedWindow(form_, block_, grid_, &tiling)
                 : AddInputWindow(form_, block_, grid_, &tiling);
    weights_ = AddWeightWindow(form_, block_, grid_, &tiling);
    windows_ = {tiling.windows[input_], tiling.windows[weights_]};
    packed_at_ = Accumulates() ? PaddedRows() * tile_.block_n * 4 : 0;
    turned_at_ =
        packed_at_ + RoundUpTo<int64_t>(cost.packed_bytes, isa::kVregBytes);
    const int64_t scratch =
        turned_at_ + RoundUpTo<int64_t>(cost.turned_bytes, isa::kVregBytes);
    epilogue_->SetScratch(scratch);
    tiling.scratch_bytes = scratch + epilogue_->ScratchBytes(tile_);
    epilogue_->AddWindows(tile_, grid_.dims, kFirstEpilogueSpace, &tiling);
    tiling.work.flops = tiling.work.mxu_flops = form_.flops;
    for (const isa::KernelArg& arg : tiling.args) {
      if (arg.space == isa::Space::kHbm) tiling.work.hbm_bytes += arg.bytes;
    }
    return tiling;
  }

  absl::Status Body(CodeBuilder& b) {
    if (form_.turned.has_value()) {
      return Steps(
          {},
          EmitTurn(form_, block_, grid_, windows_[0], input_, turned_at_, &b),
          b);
    }
    if (form_.product.lhs.resident) {
      const int edge = EdgeAxis(form_, block_).value_or(-1);
      if (edge >= 0) return Edges(edge, b);
    } else {
      FillBorders(form_, block_, grid_, windows_[0], input_, &b);
    }
    return Steps({}, Input(b), b);
  }

  ConvolutionInput Input(CodeBuilder& b) const {
    return ConvolutionInput::InWindow(form_, windows_[0], input_, &b);
  }

  absl::Status Steps(const ConvolutionEdge& edge, ConvolutionInput input,
                     CodeBuilder& b) {
    const bool packed = IsPacked(packing_, block_);
    if (packed && packing_.whole_tiles == 0) {
      PackedOperands operands(form_, block_, edge, packing_, arrays_,
                              std::move(input), windows_[1], weights_,
                              packed_at_, &b);
      parts_.k_extent = 128 * operands.KTiles();
      return Multiply(&operands, b);
    }
    ConvolutionOperands operands(
        form_, block_,
        packed ? packing_.WholeFeatures() : form_.product.problem.k, edge,
        arrays_, input, windows_[1], weights_, &b);
    if (!packed) {
      parts_.k_extent = 128 * operands.KTiles();
      return Multiply(&operands, b);
    }
    PackedOperands rest(form_, block_, edge, packing_, arrays_,
                        std::move(input), windows_[1], weights_, packed_at_,
                        &b);
    MixedOperands mixed(&operands, &rest);
    parts_.k_extent = 128 * mixed.KTiles();
    return Multiply(&mixed, b);
  }

  // Code for the first step along the axis, for the last one, and for those
  // between.
  absl::Status Edges(int axis, CodeBuilder& b) {
    const int dim = grid_.axis[axis];
    const int64_t steps = block_.axes[axis].grid;
    const auto some = [&](bool first, bool last) -> absl::Status {
      b.BeginWhen(dim, first ? When::Kind::kFirst : When::Kind::kNotFirst);
      b.BeginWhen(dim, last ? When::Kind::kLast : When::Kind::kNotLast);
      b.BeginScope();
      RETURN_IF_ERROR(Steps({axis, first, last}, Input(b), b));
      b.EndScope();
      b.EndWhen();
      b.EndWhen();
      return absl::OkStatus();
    };
    RETURN_IF_ERROR(some(true, false));
    if (steps > 2) RETURN_IF_ERROR(some(false, false));
    return some(false, true);
  }

  absl::Status Multiply(StreamOperands* operands, CodeBuilder& b) {
    parts_.operands = operands;
    if (Accumulates()) {
      b.NewBlock("addresses");
      parts_.sums.base = b.GlobalSca();
      b.ScratchAddress(parts_.sums.base, 0);
      b.SetBank(parts_.sums.base, CodeBuilder::kAbsoluteBanks, 0);
      parts_.sums.space = kSums;
      parts_.sums.type = hlo::PrimitiveType::kF32;
      parts_.sums.lane_pitch = isa::kVregBytes;
      parts_.sums.row_pitch = tile_.block_n / 128 * isa::kVregBytes;
      parts_.sums.batch_pitch = 0;
    }
    b.NewBlock("addresses");
    RETURN_IF_ERROR(epilogue_->Start(b));
    if (block_.TapGrid() == 1) return Stream(b, true, true);
    b.BeginWhen(grid_.taps, When::Kind::kFirst);
    RETURN_IF_ERROR(Stream(b, true, false));
    b.EndWhen();
    if (block_.TapGrid() > 2) {
      b.BeginWhen(grid_.taps, When::Kind::kNotFirst);
      b.BeginWhen(grid_.taps, When::Kind::kNotLast);
      RETURN_IF_ERROR(Stream(b, false, false));
      b.EndWhen();
      b.EndWhen();
    }
    b.BeginWhen(grid_.taps, When::Kind::kLast);
    RETURN_IF_ERROR(Stream(b, false, true));
    b.EndWhen();
    return absl::OkStatus();
  }

  absl::Status Stream(CodeBuilder& b, bool starts, bool finishes) {
    parts_.starts = starts;
    parts_.finishes = finishes;
    b.BeginScope();
    EmitStream(form_.product.problem, tile_, arrays_, parts_, epilogue_.get(),
               &b);
    if (finishes) RETURN_IF_ERROR(epilogue_->Finish(b));
    b.EndScope();
    return epilogue_->status();
  }

  const KernelContext& context_;
  const hlo::Instruction& i_;
  ConvolutionForm form_;
  const bool mixed_;
  ArrayShape arrays_;
  TapPacking packing_;
  int64_t packed_at_ = 0, turned_at_ = 0;  // in scratch
  std::vector<isa::KernelArg> args_;
  ConvolutionBlock block_;
  ConvolutionGrid grid_;
  ProductTile tile_;
  StreamParts parts_;
  int input_ = 0, weights_ = 0;
  std::vector<isa::Window> windows_;
  std::unique_ptr<ProductEpilogue> epilogue_;
};

// Thriftier and thriftier with registers.
constexpr EpiloguePace kPaces[] = {{},
                                   {0.3},
                                   {0.3, true},
                                   {0.0, true},
                                   {0.6, false, 2, false},
                                   {0.3, true, 2, false},
                                   {0.0, true, 2, false}};

}  // namespace

bool IsConvolution(const hlo::Instruction& i) {
  if (i.opcode() != hlo::Opcode::kFusion) {
    return i.opcode() == hlo::Opcode::kConvolution;
  }
  for (const hlo::Instruction* inner : i.fused()->instructions()) {
    if (inner->opcode() == hlo::Opcode::kConvolution) return true;
  }
  return false;
}

absl::StatusOr<isa::Kernel> EmitConvolution(const KernelContext& context,
                                            const hlo::Instruction& i) {
  if (i.opcode() == hlo::Opcode::kConvolution &&
      (i.attrs<hlo::ConvAttrs>().feature_group_count > 1 ||
       i.attrs<hlo::ConvAttrs>().batch_group_count > 1)) {
    return EmitDepthwise(context, i);
  }
  ASSIGN_OR_RETURN(const ConvolutionForm form, ConvolutionForm::Of(i));
  absl::StatusOr<isa::Kernel> kernel;
  // Both kinds of operands need masks in registers, which may be too many.
  for (const bool mixed : {true, false}) {
    if (form.gradient && !mixed) break;
    for (const EpiloguePace& pace : kPaces) {
      kernel = form.gradient
                   ? EmitGradientConvolution(context, i, form, pace)
                   : ConvolutionEmitter(context, i, form, pace, mixed).Emit();
      if (!absl::IsResourceExhausted(kernel.status())) return kernel;
    }
  }
  return kernel;
}

}  // namespace ptxla::lowering
