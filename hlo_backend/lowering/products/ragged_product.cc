#include "hlo_backend/lowering/products/ragged_product.h"

#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status.h"
#include "base/units.h"
#include "hlo_backend/ir/ragged_call.h"
#include "hlo_backend/lowering/kernel_emitter.h"
#include "hlo_backend/lowering/products/product_operands.h"
#include "hlo_backend/lowering/products/product_stream.h"
#include "hlo_backend/lowering/products/ragged_store.h"
#include "hlo_backend/lowering/products/ragged_sums.h"
#include "hlo_backend/lowering/products/ragged_tiling.h"
#include "hlo_backend/lowering/products/ragged_windows.h"
#include "hlo_backend/lowering/products/row_mask.h"

namespace ptxla::lowering {
namespace {

using codegen::CodeBuilder;
using codegen::Sca;
using codegen::Vec;
using isa::Opcode;
using isa::When;

enum Space : int {
  kLhs,
  kRhs,
  kOut,
  kSums,
  kLhsMasks,
  kRhsMasks,
  kMaskedLhs,
  kLhsT
};

// Sums of a stream that neither starts nor finishes need none.
class NoEpilogue final : public Epilogue {
 public:
  void Emit(int64_t, int64_t, int64_t, const std::vector<Vec>&) override {}
};

absl::Status CheckLayout(const hlo::Instruction& i, const hlo::Shape& shape) {
  if (!shape.has_layout()) return absl::OkStatus();
  const auto& order = shape.layout().minor_to_major;
  for (size_t d = 0; d < order.size(); ++d) {
    if (order[d] != static_cast<int64_t>(order.size() - 1 - d)) {
      return absl::UnimplementedError(absl::StrCat(
          "%", i.name(), ": a grouped product of ", shape.ToString()));
    }
  }
  return absl::OkStatus();
}

// Bytes from the beginning of the kernel's scratch.
struct RaggedScratch {
  int64_t sums = 0;
  int64_t lhs_masks = 0, rhs_masks = 0;  // tables of masks of rows
  int64_t masked_lhs = 0;                // dense: without others' rows
  int64_t turned_lhs = 0;                // by groups
};

class RaggedEmitter {
 public:
  RaggedEmitter(const KernelContext& context, const hlo::Instruction& i,
                EpiloguePace pace)
      : context_(context), i_(i), call_(*hlo::RaggedCall::Of(i)) {
    parts_.pace = pace;
  }

  absl::StatusOr<isa::Kernel> Emit() {
    const hlo::Instruction& i = i_;
    for (const hlo::Instruction* operand : i.operands()) {
      RETURN_IF_ERROR(CheckLayout(i, operand->shape()));
    }
    RETURN_IF_ERROR(CheckLayout(i, i.shape()));
    ASSIGN_OR_RETURN(views_.lhs, MatrixView::Of(i.operand(0)->shape()));
    ASSIGN_OR_RETURN(views_.rhs, MatrixView::Of(i.operand(1)->shape()));
    ASSIGN_OR_RETURN(views_.out, MatrixView::Of(i.shape()));
    arrays_ = ArrayShapeOf(context_.model, false);
    problem_.m = call_.by_groups ? call_.k : call_.rows;
    problem_.k = call_.by_groups ? call_.rows : call_.k;
    problem_.n = call_.n;
    problem_.lhs = {views_.lhs.type, call_.by_groups, false};
    problem_.rhs = {views_.rhs.type, false, false};
    ASSIGN_OR_RETURN(
        plan_, ChooseRaggedTiling(context_, call_, views_.lhs.type, arrays_));
    Tiling tiling;
    ASSIGN_OR_RETURN(tiling.args, KernelArgs(i));
    tiling.grid = plan_.grid.bounds;
    tiling.megacore_dim = plan_.grid.megacore_dim;
    tiling.note = Note();
    ASSIGN_OR_RETURN(windows_,
                     AddRaggedWindows(i, call_, views_, plan_, &tiling));
    PlanScratch(&tiling);
    tiling.work.mxu_flops = static_cast<int64_t>(2 * call_.MultiplyAdds());
    tiling.work.flops = tiling.work.mxu_flops;
    for (const isa::KernelArg& arg : tiling.args) {
      tiling.work.hbm_bytes += arg.bytes;
    }
    tiling.body = [this](CodeBuilder& b) { return Body(b); };
    return FrameKernel(context_, tiling);
  }

 private:
  const ProductTile& tile() const { return plan_.tile; }
  const GridDims& grid() const { return plan_.grid; }
  // Partial sums wait: from step to step, or between the arrays' tiles of K.
  bool Accumulates() const {
    return plan_.sums || PlanVisits(problem_, tile(), arrays_).k_visits > 1;
  }
  // Dense, one operand suffices, as in the TPU compiler's fused products.
  bool MasksLhs() const { return call_.dense != call_.by_groups; }
  bool MasksRhs() const { return call_.by_groups; }
  RaggedStore::Into StoreInto() const {
    return call_.by_groups ? RaggedStore::Into::kSums
                           : RaggedStore::Into::kRows;
  }

  std::string Note() const {
    const ProductTile& t = tile();
    return absl::StrCat(call_.dense ? "dense over " : "grouped, ", call_.groups,
                        " groups, block ", t.block_m, "x", t.block_n, "x",
                        t.block_k, ", grid ", absl::StrJoin(grid().bounds, "x"),
                        call_.dense ? "" : "; assumes groups of equal size");
  }

  void PlanScratch(Tiling* tiling) {
    const ProductTile& t = tile();
    int64_t top = 0;
    const auto take = [&](bool wanted, int64_t size) {
      const int64_t at = top;
      if (wanted) top += RoundUpTo<int64_t>(size, isa::kVregBytes);
      return at;
    };
    scratch_.sums = take(Accumulates(), t.block_m * t.block_n * 4);
    const int64_t lhs = t.block_m * t.block_k;
    const int64_t masks = MaskedRows::TableBytes(t.block_k);
    scratch_.lhs_masks = take(MasksLhs() && !call_.dense, masks);
    scratch_.rhs_masks = take(MasksRhs(), masks);
    scratch_.masked_lhs = take(MasksLhs() && call_.dense,
                               lhs * hlo::BitWidth(views_.lhs.type) / 8);
    scratch_.turned_lhs = take(call_.by_groups, lhs * (arrays_.bf16 ? 2 : 4));
    tiling->scratch_bytes = top;
  }

  static BlockPlace Scratch(CodeBuilder& b, int space, int64_t offset,
                            hlo::PrimitiveType type, int64_t columns) {
    BlockPlace p;
    p.base = b.GlobalSca();
    b.ScratchAddress(p.base, static_cast<int32_t>(offset));
    b.SetBank(p.base, CodeBuilder::kAbsoluteBanks,
              static_cast<int32_t>(offset));
    p.space = space;
    p.type = type;
    p.lane_pitch = 8 * 128 * hlo::BitWidth(type) / 8;
    p.row_pitch = CeilOfRatio<int64_t>(columns, 128) * p.lane_pitch;
    return p;
  }

  absl::Status Body(CodeBuilder& b) {
    const ProductTile& t = tile();
    b.NewBlock("addresses");
    parts_.lhs =
        PlaceOf(views_.lhs, windows_.all[windows_.lhs], windows_.lhs, kLhs, &b);
    parts_.rhs =
        PlaceOf(views_.rhs, windows_.all[windows_.rhs], windows_.rhs, kRhs, &b);
    result_ =
        PlaceOf(views_.out, windows_.all[windows_.out], windows_.out, kOut, &b);
    // A step has one plane of each.
    parts_.lhs.batch_pitch = parts_.rhs.batch_pitch = result_.batch_pitch = 0;
    rows_ = ReadRaggedRows(call_, plan_, windows_, &b);
    if (Accumulates()) {
      parts_.sums =
          Scratch(b, kSums, scratch_.sums, hlo::PrimitiveType::kF32, t.block_n);
    }
    const RowMaskSource source =
        call_.dense ? RowMaskSource::kLanes : RowMaskSource::kSublanes;
    const hlo::PrimitiveType numbers =
        arrays_.bf16 ? hlo::PrimitiveType::kBf16 : hlo::PrimitiveType::kF32;
    if (MasksLhs() && call_.dense) {
      const BlockPlace to = Scratch(b, kMaskedLhs, scratch_.masked_lhs,
                                    views_.lhs.type, t.block_k);
      EmitRowMask(parts_.lhs, to, t.block_m, t.block_k, rows_.low, rows_.high,
                  &b);
      parts_.lhs = to;
    } else if (MasksLhs()) {
      lhs_rows_.emplace(parts_.lhs, rows_.low, rows_.high, source);
      lhs_rows_->Start(kLhsMasks, scratch_.lhs_masks, &b);
      parts_.lhs.computed = &*lhs_rows_;
    }
    if (MasksRhs()) {
      rhs_rows_.emplace(parts_.rhs, rows_.low, rows_.high, source);
      rhs_rows_->Start(kRhsMasks, scratch_.rhs_masks, &b);
      parts_.rhs.computed = &*rhs_rows_;
    }
    if (call_.by_groups) {
      const BlockPlace to =
          Scratch(b, kLhsT, scratch_.turned_lhs, numbers, t.block_k);
      parts_.turned = parts_.lhs;
      parts_.turns_lhs = true;
      parts_.lhs = to;
    }
    return plan_.sums ? SumOverSteps(b) : OneStep(b);
  }

  absl::Status OneStep(CodeBuilder& b) {
    RaggedStore store(result_, rows_.low, rows_.high, rows_.first, StoreInto(),
                      &b);
    parts_.k_extent = call_.by_groups ? tile().block_k : problem_.k;
    Stream(b, true, &store);
    return absl::OkStatus();
  }

  void Stream(CodeBuilder& b, bool whole, Epilogue* epilogue) {
    parts_.starts = parts_.finishes = whole;
    b.BeginScope();
    EmitStream(problem_, tile(), arrays_, parts_, epilogue, &b);
    b.EndScope();
  }

  absl::Status SumOverSteps(CodeBuilder& b) {
    const ProductTile& t = tile();
    RaggedSums sums(call_, plan_, parts_.sums, result_, rows_, &b);
    sums.Clear();
    NoEpilogue none;
    const int64_t last =
        problem_.k - (t.grid_k - 1) * t.block_k;  // of the last step along K
    parts_.k_extent = t.block_k;
    if (last == t.block_k) {
      Stream(b, false, &none);
    } else {
      if (t.grid_k > 1) {
        b.BeginWhen(grid().k, When::Kind::kNotLast);
        Stream(b, false, &none);
        b.EndWhen();
      }
      b.BeginWhen(grid().k, When::Kind::kLast);
      parts_.k_extent = last;
      Stream(b, false, &none);
      b.EndWhen();
    }
    sums.Store(StoreInto());
    return absl::OkStatus();
  }

  const KernelContext& context_;
  const hlo::Instruction& i_;
  const hlo::RaggedCall call_;
  RaggedViews views_;
  ProductProblem problem_;
  ArrayShape arrays_;
  RaggedTiling plan_;
  RaggedWindows windows_;
  RaggedScratch scratch_;
  StreamParts parts_;
  BlockPlace result_;
  RaggedRows rows_;
  std::optional<MaskedRows> lhs_rows_, rhs_rows_;
};

}  // namespace

absl::StatusOr<isa::Kernel> EmitRaggedProduct(const KernelContext& context,
                                              const hlo::Instruction& i) {
  absl::StatusOr<isa::Kernel> kernel;
  for (const EpiloguePace& pace :
       {EpiloguePace{}, EpiloguePace{0.3}, EpiloguePace{0.3, true},
        EpiloguePace{0.0, true}}) {
    kernel = RaggedEmitter(context, i, pace).Emit();
    if (!absl::IsResourceExhausted(kernel.status())) break;
  }
  return kernel;
}

}  // namespace ptxla::lowering
