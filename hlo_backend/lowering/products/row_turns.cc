// RowEpilogue: rows whose columns come in several steps.
#include <algorithm>

#include "base/status.h"
#include "hlo_backend/lowering/fusion/tile_fold.h"
#include "hlo_backend/lowering/products/row_epilogue.h"

namespace ptxla::lowering {

using codegen::CodeBuilder;
using codegen::Sca;
using codegen::Vec;
using isa::Opcode;

bool RowEpilogue::OnlyReduces() const {
  return e_.stages == 1 && !folded_ && !row_results_.empty();
}

absl::Status RowEpilogue::ForRowTiles(
    CodeBuilder& b,
    const std::function<absl::Status(const Reduction&, Sca, int32_t)>& emit) {
  const int64_t tiles = batch_ * (rows_of_block_ / 8);
  for (size_t k = 0; k < stages_.reductions.size(); ++k) {
    const Reduction& r = stages_.reductions[k];
    const int32_t first = RowOffset(static_cast<int>(k), 0, 0);
    const int64_t looped =
        tiles / kRowTilesInTurn > 1 ? tiles / kRowTilesInTurn : 0;
    if (looped > 0) {
      const Sca index =
          b.BeginLoop(looped, static_cast<int32_t>(kRowTilesInTurn));
      b.NewBlock("rows in turn");
      const Sca base = b.SAdd(
          scratch_, b.SMulImm(index, static_cast<int32_t>(isa::kVregBytes)));
      b.SetBank(base, codegen::kUnknownBanks, 0);
      for (int64_t t = 0; t < kRowTilesInTurn; ++t) {
        RETURN_IF_ERROR(
            emit(r, base, first + static_cast<int32_t>(t * isa::kVregBytes)));
      }
      b.EndLoop();
    }
    b.NewBlock("rows in turn");
    for (int64_t t = looped * kRowTilesInTurn; t < tiles; ++t) {
      RETURN_IF_ERROR(
          emit(r, scratch_, first + static_cast<int32_t>(t * isa::kVregBytes)));
    }
  }
  return absl::OkStatus();
}

void RowEpilogue::StartTurns(CodeBuilder& b) {
  lane_columns_ = {};
  if (column_steps_ * column_block_ > columns_) {
    lane_columns_ = b.GlobalVec();
    const Sca index = b.NewSca();
    b.GridIndex(index, column_grid_);
    b.Move(
        lane_columns_,
        b.Binary(
            Opcode::kVaddS32, b.BinaryImm(Opcode::kVand, b.LaneSequence(), 127),
            b.Splat(b.SMulImm(index, static_cast<int32_t>(column_block_)))));
  }
  b.BeginWhen(column_grid_, isa::When::Kind::kFirst);
  const absl::Status stored = ForRowTiles(
      b, [&](const Reduction& r, Sca base, int32_t offset) -> absl::Status {
        b.Store(scratch_space_, base, offset,
                b.Imm(MonoidIdentity(r.op, r.type)));
        return absl::OkStatus();
      });
  if (status_.ok()) status_ = stored;
  b.EndWhen();
  b.NewBlock("addresses");
}

absl::Status RowEpilogue::FinishTurns(CodeBuilder& b) {
  return ForRowTiles(
      b, [&](const Reduction& r, Sca base, int32_t offset) -> absl::Status {
        TileFold fold(r, b);
        ASSIGN_OR_RETURN(Vec v,
                         fold.Lanes(b.Load(scratch_space_, base, offset)));
        ASSIGN_OR_RETURN(v, fold.WithInit(v));
        b.Store(scratch_space_, base, offset, v);
        return absl::OkStatus();
      });
}

Vec RowEpilogue::InArray(const Reduction& r, int64_t col, Vec words) {
  CodeBuilder& b = *b_;
  const uint32_t identity = MonoidIdentity(r.op, r.type);
  if (InTurns()) {
    if (!lane_columns_.valid()) return words;
    return b.SelectImm(b.CompareImm(Opcode::kVcmpLtS32, lane_columns_,
                                    static_cast<uint32_t>(columns_ - col)),
                       words, identity);
  }
  const int64_t left = columns_ - col;
  if (left >= isa::kLanes) return words;
  return b.SelectImm(b.Range(0, static_cast<int>(left), 0, 8), words, identity);
}

}  // namespace ptxla::lowering
