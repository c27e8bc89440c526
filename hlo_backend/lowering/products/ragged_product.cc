#include "hlo_backend/lowering/products/ragged_product.h"

#include <algorithm>
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
#include "hlo_backend/lowering/movement/row_index.h"
#include "hlo_backend/lowering/products/product_operands.h"
#include "hlo_backend/lowering/products/product_stream.h"
#include "hlo_backend/lowering/products/ragged_store.h"
#include "hlo_backend/lowering/products/ragged_tiling.h"
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
    ASSIGN_OR_RETURN(lhs_, MatrixView::Of(i.operand(0)->shape()));
    ASSIGN_OR_RETURN(rhs_, MatrixView::Of(i.operand(1)->shape()));
    ASSIGN_OR_RETURN(out_, MatrixView::Of(i.shape()));
    arrays_ = ArrayShapeOf(context_.model, false);
    problem_.m = call_.by_groups ? call_.k : call_.rows;
    problem_.k = call_.by_groups ? call_.rows : call_.k;
    problem_.n = call_.n;
    problem_.lhs = {lhs_.type, call_.by_groups, false};
    problem_.rhs = {rhs_.type, false, false};
    ASSIGN_OR_RETURN(plan_,
                     ChooseRaggedTiling(context_, call_, lhs_.type, arrays_));
    Tiling tiling;
    ASSIGN_OR_RETURN(tiling.args, KernelArgs(i));
    tiling.grid = plan_.grid.bounds;
    tiling.megacore_dim = plan_.grid.megacore_dim;
    tiling.note = Note();
    RETURN_IF_ERROR(AddWindows(&tiling));
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

  absl::Status AddWindows(Tiling* tiling) {
    const bool t = call_.by_groups;
    lhs_window_ = AddOperandWindow(lhs_, 0, tile(), grid(), /*is_lhs=*/true,
                                   /*transposed=*/t, tiling);
    rhs_window_ = AddOperandWindow(rhs_, 1, tile(), grid(), /*is_lhs=*/false,
                                   /*transposed=*/false, tiling);
    ASSIGN_OR_RETURN(RowIndex words, RowIndex::Of(*i_.operand(3)));
    words_ = words;
    words_window_ =
        words.AddWindow(3, i_.operand(3)->shape().dim(0), 1, tiling);
    tiling->windows[words_window_].direction = isa::Direction::kIn;
    out_window_ =
        AddResultWindow(out_, static_cast<int>(tiling->args.size()) - 1, tile(),
                        grid(), isa::Direction::kOut, tiling);
    // Many steps make one block of sums: the next has time to wait.
    if (plan_.sums) tiling->windows[out_window_].slots = 1;
    if (!call_.dense) {
      const AssumedSteps assumed = AssumeSteps(call_);
      const auto by_table = [&](int window, int dim, int arg,
                                const std::vector<int64_t>& table) {
        isa::WindowDim& d = tiling->windows[window].dims[dim];
        if (d.grid_dim < 0) return;
        d.table = table;
        d.table_arg = arg;
      };
      const int group_arg = 4, tile_arg = 5;
      by_table(lhs_window_, 1, tile_arg, assumed.tile);
      if (t) {
        by_table(rhs_window_, 1, tile_arg, assumed.tile);
        by_table(out_window_, 0, group_arg, assumed.group);
      } else {
        by_table(rhs_window_, 0, group_arg, assumed.group);
        by_table(out_window_, 1, tile_arg, assumed.tile);
      }
    }
    windows_ = tiling->windows;
    return absl::OkStatus();
  }

  void PlanScratch(Tiling* tiling) {
    const ProductTile& t = tile();
    int64_t top = 0;
    const auto take = [&](bool wanted, int64_t size) {
      const int64_t at = top;
      if (wanted) top += RoundUpTo<int64_t>(size, isa::kVregBytes);
      return at;
    };
    sums_at_ = take(Accumulates(), t.block_m * t.block_n * 4);
    const int64_t lhs = t.block_m * t.block_k;
    const int64_t masks = MaskedRows::TableBytes(t.block_k);
    lhs_masks_at_ = take(MasksLhs() && !call_.dense, masks);
    rhs_masks_at_ = take(MasksRhs(), masks);
    masked_lhs_at_ =
        take(MasksLhs() && call_.dense, lhs * hlo::BitWidth(lhs_.type) / 8);
    turned_lhs_at_ = take(call_.by_groups, lhs * (arrays_.bf16 ? 2 : 4));
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

  // The group's rows inside of the step's block, and whether the step begins a
  // block of the result.
  void ReadRows(CodeBuilder& b) {
    const Sca words = b.GlobalSca();
    b.WindowAddress(words, words_window_);
    const Sca index = b.NewSca();
    b.GridIndex(index, plan_.groups_dim);
    if (call_.dense) {
      const int rows_dim = call_.by_groups ? grid().k : grid().m;
      const int64_t block = call_.by_groups ? tile().block_k : tile().block_m;
      const Sca at = b.NewSca();
      b.GridIndex(at, rows_dim);
      const Sca origin = b.SMulImm(at, static_cast<int32_t>(block));
      low_ = b.Promote(
          b.SBinary(Opcode::kSsub, words_.LoadRaw(b, words, index), origin));
      high_ = b.Promote(b.SBinary(Opcode::kSsub,
                                  words_.LoadRaw(b, words, b.SAddImm(index, 1)),
                                  origin));
      return;
    }
    const Sca word = words_.LoadRaw(b, words, index);
    constexpr int32_t kField = (1 << hlo::kRaggedLowShift) - 1;
    high_ = b.Promote(b.SBinaryImm(Opcode::kSand, word, kField));
    low_ = b.Promote(b.SBinaryImm(
        Opcode::kSand, b.SBinaryImm(Opcode::kSshrl, word, hlo::kRaggedLowShift),
        kField));
    first_ =
        b.Promote(b.SBinaryImm(Opcode::kSshrl, word, hlo::kRaggedFirstShift));
  }

  absl::Status Body(CodeBuilder& b) {
    const ProductTile& t = tile();
    b.NewBlock("addresses");
    parts_.lhs = PlaceOf(lhs_, windows_[lhs_window_], lhs_window_, kLhs, &b);
    parts_.rhs = PlaceOf(rhs_, windows_[rhs_window_], rhs_window_, kRhs, &b);
    result_ = PlaceOf(out_, windows_[out_window_], out_window_, kOut, &b);
    // A step has one plane of each.
    parts_.lhs.batch_pitch = parts_.rhs.batch_pitch = result_.batch_pitch = 0;
    ReadRows(b);
    if (Accumulates()) {
      parts_.sums =
          Scratch(b, kSums, sums_at_, hlo::PrimitiveType::kF32, t.block_n);
    }
    const RowMaskSource source =
        call_.dense ? RowMaskSource::kLanes : RowMaskSource::kSublanes;
    const hlo::PrimitiveType numbers =
        arrays_.bf16 ? hlo::PrimitiveType::kBf16 : hlo::PrimitiveType::kF32;
    if (MasksLhs() && call_.dense) {
      const BlockPlace to =
          Scratch(b, kMaskedLhs, masked_lhs_at_, lhs_.type, t.block_k);
      EmitRowMask(parts_.lhs, to, t.block_m, t.block_k, low_, high_, &b);
      parts_.lhs = to;
    } else if (MasksLhs()) {
      lhs_rows_.emplace(parts_.lhs, low_, high_, source);
      lhs_rows_->Start(kLhsMasks, lhs_masks_at_, &b);
      parts_.lhs.computed = &*lhs_rows_;
    }
    if (MasksRhs()) {
      rhs_rows_.emplace(parts_.rhs, low_, high_, source);
      rhs_rows_->Start(kRhsMasks, rhs_masks_at_, &b);
      parts_.rhs.computed = &*rhs_rows_;
    }
    if (call_.by_groups) {
      const BlockPlace to =
          Scratch(b, kLhsT, turned_lhs_at_, numbers, t.block_k);
      parts_.turned = parts_.lhs;
      parts_.turns_lhs = true;
      parts_.lhs = to;
    }
    return plan_.sums ? SumOverSteps(b) : OneStep(b);
  }

  absl::Status OneStep(CodeBuilder& b) {
    RaggedStore store(result_, low_, high_, first_, StoreInto(), &b);
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

  // All steps of a block of the result in the dimensions that add to it.
  template <class Fn>
  void AtEnd(CodeBuilder& b, bool first, Fn fn) {
    const When::Kind kind = first ? When::Kind::kFirst : When::Kind::kLast;
    const bool groups = call_.dense && !call_.by_groups;
    if (groups) b.BeginWhen(plan_.groups_dim, kind);
    b.BeginWhen(grid().k, kind);
    fn();
    b.EndWhen();
    if (groups) b.EndWhen();
  }

  absl::Status SumOverSteps(CodeBuilder& b) {
    const ProductTile& t = tile();
    AtEnd(b, true, [&] {
      EachRowTile(b, "clear sums", [&](Sca at, Sca, int64_t c) {
        b.Store(kSums, at, static_cast<int32_t>(c * isa::kVregBytes), b.Imm(0));
      });
    });
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
    AtEnd(b, false, [&] {
      if (call_.dense) {
        EachRowTile(b, "store sums", [&](Sca from, Sca to, int64_t c) {
          b.Store(
              kOut, to, static_cast<int32_t>(c * result_.lane_pitch),
              b.Load(kSums, from, static_cast<int32_t>(c * isa::kVregBytes)));
        });
        return;
      }
      b.BeginScope();
      RaggedStore store(result_, low_, high_, first_, StoreInto(), &b);
      for (int64_t row = 0; row < t.block_m; row += 16) {
        b.NewBlock("store rows");
        for (int64_t col = 0; col < t.block_n; col += 128) {
          std::vector<Vec> tiles;
          for (int64_t at = row; at < std::min(row + 16, t.block_m); at += 8) {
            tiles.push_back(
                b.Load(kSums, parts_.sums.base,
                       static_cast<int32_t>(parts_.sums.Offset(0, at, col))));
          }
          store.Emit(0, row, col, tiles);
        }
      }
      b.EndScope();
    });
    return absl::OkStatus();
  }

  // A loop over rows of tiles of the block: code for tile `c` of one, with the
  // addresses of the row in the sums and in the result.
  template <class Fn>
  void EachRowTile(CodeBuilder& b, const char* label, Fn fn) {
    const ProductTile& t = tile();
    const Sca row = b.BeginLoop(t.block_m / 8, 1);
    b.NewBlock(label);
    const auto at = [&](const BlockPlace& place) {
      return b.SAdd(place.base,
                    b.SMulImm(row, static_cast<int32_t>(place.row_pitch)));
    };
    const Sca from = at(parts_.sums), to = at(result_);
    for (int64_t c = 0; c < t.block_n / 128; ++c) fn(from, to, c);
    b.EndLoop();
  }

  const KernelContext& context_;
  const hlo::Instruction& i_;
  const hlo::RaggedCall call_;
  MatrixView lhs_, rhs_, out_;
  ProductProblem problem_;
  ArrayShape arrays_;
  RaggedTiling plan_;
  StreamParts parts_;
  BlockPlace result_;
  RowIndex words_;
  std::vector<isa::Window> windows_;
  int lhs_window_ = 0, rhs_window_ = 0, words_window_ = 0, out_window_ = 0;
  int64_t sums_at_ = 0, lhs_masks_at_ = 0, rhs_masks_at_ = 0;
  int64_t masked_lhs_at_ = 0, turned_lhs_at_ = 0;
  std::optional<MaskedRows> lhs_rows_, rhs_rows_;
  Sca low_, high_, first_;
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
