#include "hlo_backend/lowering/movement/transpose_blocks.h"

#include <algorithm>

#include "absl/functional/function_ref.h"

namespace ptxla::lowering {
namespace {

using codegen::CodeBuilder;
using codegen::Sca;
using isa::Opcode;

void Advance(CodeBuilder& b, Sca address, int64_t bytes) {
  b.SBinaryImmTo(address, Opcode::kSadd, address, static_cast<int32_t>(bytes));
}

// `code`, with whether it is that of the last step along a grid dimension.
void ForLast(CodeBuilder& b, int grid_dim, absl::FunctionRef<void(bool)> code) {
  b.BeginWhen(grid_dim, isa::When::Kind::kNotLast);
  code(false);
  b.EndWhen();
  b.BeginWhen(grid_dim, isa::When::Kind::kLast);
  code(true);
  b.EndWhen();
}

}  // namespace

int64_t TransposeBlocks::LastUnitTiles(const TransposeSide& in,
                                       const Part& part) const {
  if (!IsRagged(in)) return UnitTiles();
  return std::min(UnitTiles(), in.rows - (RowLoops(part) - 1) * UnitTiles());
}

int64_t TransposeBlocks::LastTilesOfResult() const {
  const int64_t tiles = out_.rows % kTransposeBlock;
  return tiles == 0 ? kTransposeBlock : tiles;
}

void TransposeBlocks::EmitStep(const Cut& down, const Cut& across) {
  const auto part = [&](bool last_down, bool last_across) {
    TransposeSide in = in_, out = out_;
    Part p;
    p.rows = last_down ? down.OfLast() : down.step;
    p.columns = last_across ? across.OfLast() : across.step;
    if (last_across) p.last_tiles = LastTilesOfResult();
    p.exact = out.resident;
    const int64_t before = down.StepsBefore() * down.step;
    in.rows = last_down ? in_.rows - before * kTransposeBlock
                        : p.rows * kTransposeBlock;
    in.columns = p.columns;
    out.columns = p.rows;
    Emit(in, out, p);
  };
  const auto of_rows = [&](bool last_down) {
    if (across.step >= across.all) return part(last_down, true);
    ForLast(b_, across.grid_dim,
            [&](bool last_across) { part(last_down, last_across); });
  };
  if (down.step >= down.all) return of_rows(true);
  ForLast(b_, down.grid_dim, of_rows);
}

void TransposeBlocks::EmitColumns(const Cut& down, const Cut& across) {
  ForLast(b_, across.grid_dim, [&](bool last) {
    Part p;
    p.rows = down.step;
    p.columns = last ? across.OfLast() : across.step;
    if (last) p.last_tiles = LastTilesOfResult();
    p.exact = last;
    Emit(p);
  });
}

void TransposeBlocks::Emit(const TransposeSide& in, const TransposeSide& out,
                           const Part& part) {
  b_.BeginScope();
  TransposeUnit unit(&b_, pack_);
  b_.NewBlock("addresses");
  const Sca from = b_.GlobalSca(), to = b_.GlobalSca();
  in.Address(b_, from);
  out.Address(b_, to);
  in.Load(b_, from);
  const int64_t columns = part.columns;
  const bool cut = part.exact &&
                   (part.last_tiles != kTransposeBlock || columns % pack_ != 0);
  const int64_t full =
      cut ? (columns - 1) / pack_ * pack_ : RoundUpTo<int64_t>(columns, pack_);
  if (full == columns && full <= together_ * pack_) {
    FewColumns(in, out, part, &unit, from, to);
  } else {
    Rows(in, out, part, full, &unit, from, to);
  }
  out.Store(b_);
  b_.EndScope();
}

void TransposeBlocks::Rows(const TransposeSide& in, const TransposeSide& out,
                           const Part& part, int64_t full, TransposeUnit* unit,
                           Sca from, Sca to) {
  const int64_t together = std::min(full, together_ * pack_);
  const int64_t row_loops = RowLoops(part);
  const bool unrolled = IsRagged(in);
  const Sca f = b_.GlobalSca(), t = b_.GlobalSca();
  for (int64_t r = 0; r < (unrolled ? row_loops : 1); ++r) {
    const int64_t in_tiles =
        r + 1 == row_loops ? LastUnitTiles(in, part) : UnitTiles();
    if (!unrolled) b_.BeginLoop(row_loops, 1);
    b_.NewBlock("row");
    b_.SMove(f, from);
    b_.SMove(t, to);
    const auto units = [&](int64_t count, int64_t tiles) {
      b_.NewBlock("blocks");
      for (int64_t c = 0; c < count; c += pack_) {
        unit->Emit(in, out, f, t, 0, c, count, tiles, part.exact, in_tiles);
      }
      Advance(b_, f, count * in.tile_bytes);
      Advance(b_, t, count * kTransposeBlock * out.row_stride);
    };
    const int64_t loops = together > 0 ? full / together : 0;
    if (loops > 0) {
      b_.BeginLoop(loops, 1);
      units(together, kTransposeBlock);
      b_.EndLoop();
    }
    if (full > loops * together)
      units(full - loops * together, kTransposeBlock);
    if (full < part.columns) units(part.columns - full, part.last_tiles);
    b_.NewBlock("next row");
    Advance(b_, from, pack_ * kTransposeBlock * in.row_stride);
    Advance(b_, to, pack_ * out.tile_bytes);
    if (!unrolled) b_.EndLoop();
  }
}

void TransposeBlocks::FewColumns(const TransposeSide& in,
                                 const TransposeSide& out, const Part& part,
                                 TransposeUnit* unit, Sca from, Sca to) {
  const int64_t columns = part.columns, row_loops = RowLoops(part);
  const int64_t rows =
      std::max<int64_t>(1, together_ / CeilOfRatio<int64_t>(columns, pack_));
  const auto some = [&](int64_t count, bool last) {
    b_.NewBlock("blocks");
    for (int64_t r = 0; r < count; ++r) {
      const int64_t in_tiles =
          last && r + 1 == count ? LastUnitTiles(in, part) : UnitTiles();
      for (int64_t c = 0; c < columns; c += pack_) {
        unit->Emit(in, out, from, to, r, c, columns, kTransposeBlock,
                   part.exact, in_tiles);
      }
    }
    Advance(b_, from, count * UnitTiles() * in.row_stride);
    Advance(b_, to, count * pack_ * out.tile_bytes);
  };
  const int64_t loops = (row_loops - 1) / rows;  // the last may be ragged
  if (loops > 0) {
    b_.BeginLoop(loops, 1);
    some(rows, false);
    b_.EndLoop();
  }
  some(row_loops - loops * rows, true);
}

}  // namespace ptxla::lowering
