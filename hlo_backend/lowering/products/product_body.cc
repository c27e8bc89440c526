// The code of a step of a product: operands brought to the form that the
// arrays take, and the streams of the steps along K.
#include <algorithm>

#include "base/status.h"
#include "base/units.h"
#include "hlo_backend/lowering/products/converted_operand.h"
#include "hlo_backend/lowering/products/product_emitter.h"
#include "hlo_backend/lowering/products/product_spaces.h"
#include "hlo_backend/lowering/products/shared_depth.h"

namespace ptxla::lowering {
namespace {

using codegen::CodeBuilder;
using isa::When;

// An operand's block, or the prologue that computes it.
absl::Status PlaceWindow(const MatrixView& view,
                         const std::vector<isa::Window>& windows, int window,
                         int space, OperandPrologue* prologue, bool rows_ahead,
                         CodeBuilder& b, BlockPlace* place) {
  *place = {};
  if (prologue == nullptr) {
    *place = PlaceOf(view, windows[window], window, space, &b);
    return absl::OkStatus();
  }
  place->computed = prologue;
  place->type = view.type;
  RETURN_IF_ERROR(prologue->Start(b));
  return rows_ahead ? prologue->MakeAllRows(b) : absl::OkStatus();
}

}  // namespace

absl::Status ProductEmitter::Body(CodeBuilder& b) {
  b.NewBlock("addresses");
  // Values per row go through the XLUs, which take what they are given in
  // order: between the tiles of an LHS that they transpose, every one of them
  // would be waited for.
  const bool turns = form_.problem.lhs.transposed;
  RETURN_IF_ERROR(PlaceWindow(form_.lhs, windows_, lhs_window_,
                              ProductSpace::kLhs, lhs_prologue_.get(),
                              parts_.pace.rows_ahead || turns, b, &parts_.lhs));
  RETURN_IF_ERROR(PlaceWindow(form_.rhs, windows_, rhs_window_,
                              ProductSpace::kRhs, rhs_prologue_.get(),
                              parts_.pace.rows_ahead, b, &parts_.rhs));
  parts_.lhs.shared_by = std::min(form_.lhs.shared_by, tile_.block_b);
  parts_.rhs.shared_by = std::min(form_.rhs.shared_by, tile_.block_b);
  parts_.lhs.slow = SlowLhs() && lhs_prologue_ == nullptr;
  parts_.rhs.slow = SlowRhs() && rhs_prologue_ == nullptr;
  b.NewBlock("addresses");
  if (Accumulates()) {
    parts_.sums.base = b.GlobalSca();
    b.ScratchAddress(parts_.sums.base, 0);
    b.SetBank(parts_.sums.base, CodeBuilder::kAbsoluteBanks, 0);
    parts_.sums.space = ProductSpace::kSums;
    parts_.sums.type = hlo::PrimitiveType::kF32;
    parts_.sums.lane_pitch = isa::kVregBytes;
    parts_.sums.row_pitch = tile_.block_n / 128 * isa::kVregBytes;
    parts_.sums.batch_pitch = PaddedRows() / 8 * parts_.sums.row_pitch;
  }
  RETURN_IF_ERROR(epilogue_->Start(b));
  if (parts_.rhs.Converts() && StaysWhileMWalks()) ConvertRhs(b);
  if (form_.problem.lhs.transposed) {
    TurnLhs(b);
  } else if (parts_.lhs.Converts()) {
    PrepareLhs(b);
  }
  if (parts_.turns_lhs && StaysWhileNWalks()) return StreamTurning(b);
  if (tile_.grid_k == 1) return Stream(b, true, true);
  if (SharesK()) return StepsOfSharedK(b);
  if (tile_.k_planes == 1) return StepsOfK(b, grid_.k, tile_.grid_k);
  if (tile_.grid_k == tile_.k_planes) {
    return StepsOfK(b, grid_.k_planes, tile_.k_planes);
  }
  return StepsOfPlanes(b);
}

absl::Status ProductEmitter::StepsOfK(CodeBuilder& b, int dim, int64_t steps) {
  const bool whole = dim != grid_.k;  // K of a plane in each step
  RETURN_IF_ERROR(
      StreamWhen(b, {{dim, When::Kind::kFirst}}, true, false, whole));
  if (steps > 2) {
    RETURN_IF_ERROR(StreamWhen(
        b, {{dim, When::Kind::kNotFirst}, {dim, When::Kind::kNotLast}}, false,
        false, whole));
  }
  return StreamWhen(b, {{dim, When::Kind::kLast}}, false, true, true);
}

absl::Status ProductEmitter::StepsOfSharedK(CodeBuilder& b) {
  using Kind = When::Kind;
  const bool ragged = KOfStep(true) != KOfStep(false);
  for (const bool starts : {true, false}) {
    b.BeginWhen(isa::kCoreShare, starts ? Kind::kFirst : Kind::kNotFirst);
    if (ragged) {
      RETURN_IF_ERROR(
          StreamWhen(b, {{grid_.k, Kind::kNotLast}}, starts, false, false));
      RETURN_IF_ERROR(
          StreamWhen(b, {{grid_.k, Kind::kLast}}, starts, false, true));
    } else {
      RETURN_IF_ERROR(Stream(b, starts, /*finishes=*/false));
    }
    b.EndWhen();
  }
  b.BeginWhen(isa::kCoreShare, Kind::kLast);
  RETURN_IF_ERROR(FinishShared(b));
  b.EndWhen();
  return epilogue_->status();
}

absl::Status ProductEmitter::FinishShared(CodeBuilder& b) {
  peer_.Send(b);
  FinishSharedSums({peer_, parts_.sums, tile_.block_b, PaddedRows(),
                    tile_.block_n, form_.problem.integers, nullptr},
                   parts_.pace, epilogue_.get(), &b);
  return epilogue_->Finish(b);
}

absl::Status ProductEmitter::StepsOfPlanes(CodeBuilder& b) {
  const int k = grid_.k, plane = grid_.k_planes;
  using Kind = When::Kind;
  RETURN_IF_ERROR(StreamWhen(b, {{k, Kind::kFirst}, {plane, Kind::kFirst}},
                             true, false, false));
  RETURN_IF_ERROR(StreamWhen(b, {{k, Kind::kFirst}, {plane, Kind::kNotFirst}},
                             false, false, false));
  if (tile_.grid_k > 2 * tile_.k_planes) {
    RETURN_IF_ERROR(StreamWhen(b, {{k, Kind::kNotFirst}, {k, Kind::kNotLast}},
                               false, false, false));
  }
  RETURN_IF_ERROR(StreamWhen(b, {{k, Kind::kLast}, {plane, Kind::kNotLast}},
                             false, false, true));
  return StreamWhen(b, {{k, Kind::kLast}, {plane, Kind::kLast}}, false, true,
                    true);
}

absl::Status ProductEmitter::StreamWhen(
    CodeBuilder& b, const std::vector<std::pair<int, When::Kind>>& when,
    bool starts, bool finishes, bool ends_k) {
  for (const auto& [dim, kind] : when) b.BeginWhen(dim, kind);
  RETURN_IF_ERROR(Stream(b, starts, finishes, ends_k));
  for (size_t n = 0; n < when.size(); ++n) b.EndWhen();
  return absl::OkStatus();
}

BlockPlace ProductEmitter::Scratch(CodeBuilder& b, int space, int64_t offset,
                                   int64_t rows, int64_t columns) const {
  BlockPlace to;
  to.base = b.GlobalSca();
  b.ScratchAddress(to.base, static_cast<int32_t>(offset));
  b.SetBank(to.base, CodeBuilder::kAbsoluteBanks, static_cast<int32_t>(offset));
  to.space = space;
  to.type = arrays_.bf16 ? hlo::PrimitiveType::kBf16 : hlo::PrimitiveType::kF32;
  to.lane_pitch = 8 * 128 * MxuBytes();
  to.row_pitch = columns / 128 * to.lane_pitch;
  to.batch_pitch = rows / 8 * to.row_pitch;
  return to;
}

void ProductEmitter::Convert(const BlockPlace& from, const BlockPlace& to,
                             int64_t rows, int64_t columns,
                             OperandPrologue* prologue, CodeBuilder& b) {
  if (prologue != nullptr) {
    prologue->EmitBlock(to, tile_.block_b, rows, columns, &b);
  } else {
    EmitConvertedOperand(from, to, tile_.block_b, rows, columns, &b);
  }
}

void ProductEmitter::PrepareLhs(CodeBuilder& b) {
  const BlockPlace to =
      Scratch(b, ProductSpace::kConvertedLhs, converted_lhs_offset_,
              PaddedRows(), tile_.block_k);
  if (!StaysWhileNWalks()) {
    parts_.converted_lhs = to;
    return;
  }
  b.BeginWhen(grid_.n, When::Kind::kFirst);
  Convert(parts_.lhs, to, PaddedRows(), tile_.block_k, lhs_prologue_.get(), b);
  b.EndWhen();
  parts_.lhs = to;
}

void ProductEmitter::ConvertRhs(CodeBuilder& b) {
  const bool n_rows = form_.problem.rhs.transposed;
  const int64_t n = RoundUpTo<int64_t>(tile_.block_n, 128);
  const int64_t rows = n_rows ? n : tile_.block_k;
  const int64_t columns = n_rows ? tile_.block_k : n;
  const BlockPlace to = Scratch(b, ProductSpace::kConvertedRhs,
                                converted_rhs_offset_, rows, columns);
  b.BeginWhen(grid_.m, When::Kind::kFirst);
  Convert(parts_.rhs, to, rows, columns, rhs_prologue_.get(), b);
  b.EndWhen();
  parts_.rhs = to;
}

void ProductEmitter::TurnLhs(CodeBuilder& b) {
  BlockPlace to;
  to.base = b.GlobalSca();
  b.ScratchAddress(to.base, static_cast<int32_t>(transposed_offset_));
  b.SetBank(to.base, CodeBuilder::kAbsoluteBanks,
            static_cast<int32_t>(transposed_offset_));
  to.space = ProductSpace::kTransposedLhs;
  to.type =
      TransposesF32() ? hlo::PrimitiveType::kF32 : hlo::PrimitiveType::kBf16;
  to.lane_pitch = 8 * 128 * (TransposesF32() ? 4 : 2);
  to.row_pitch = tile_.block_k / 128 * to.lane_pitch;
  to.batch_pitch = PaddedRows() / 8 * to.row_pitch;
  to.shared_by = parts_.lhs.shared_by;
  parts_.turned = parts_.lhs;
  parts_.turns_lhs = true;
  parts_.lhs = to;
}

absl::Status ProductEmitter::StreamTurning(CodeBuilder& b) {
  b.BeginWhen(grid_.n, When::Kind::kFirst);
  RETURN_IF_ERROR(Stream(b, true, true));
  b.EndWhen();
  parts_.turns_lhs = false;
  parts_.turned = {};
  b.BeginWhen(grid_.n, When::Kind::kNotFirst);
  RETURN_IF_ERROR(Stream(b, true, true));
  b.EndWhen();
  return absl::OkStatus();
}

absl::Status ProductEmitter::Stream(CodeBuilder& b, bool starts, bool finishes,
                                    bool ends_k) {
  parts_.starts = starts;
  parts_.finishes = finishes;
  parts_.k_extent = KOfStep(ends_k);
  long_epilogue_ = 2 * epilogue_->live_registers() >
                   parts_.pace.share * context_.model.vregs;
  b.BeginScope();
  epilogue_->BeginStream();
  EmitStream(form_.problem, tile_, arrays_, parts_, epilogue_.get(), &b);
  if (finishes) RETURN_IF_ERROR(epilogue_->Finish(b));
  b.EndScope();
  for (const OperandPrologue* prologue :
       {lhs_prologue_.get(), rhs_prologue_.get()}) {
    if (prologue != nullptr) RETURN_IF_ERROR(prologue->status());
  }
  return epilogue_->status();
}

}  // namespace ptxla::lowering
