#include "hlo_backend/lowering/fusion/copy_reduced_tiles.h"

#include "base/status.h"
#include "hlo_backend/lowering/codegen/narrow_tiles.h"
#include "hlo_backend/lowering/codegen/spaces.h"
#include "hlo_backend/lowering/fusion/position_fold.h"
#include "hlo_backend/lowering/fusion/result_rows.h"
#include "hlo_backend/lowering/fusion/tile_fold.h"
#include "hlo_backend/lowering/refusals.h"

namespace ptxla::lowering {

using codegen::CodeBuilder;
using codegen::Sca;
using codegen::Vec;
using isa::Opcode;

absl::Status CopyReducedTiles(const Reduction& r, const Reduction* extremum,
                              const Geometry& g, const NestPlan& plan,
                              const std::vector<int64_t>& extent, Sca first,
                              Sca result, CodeBuilder& b) {
  TileFold fold(r, b);
  const PhysicalArray& a = r.result;
  const bool halves = a.packing == 2 && a.type == hlo::PrimitiveType::kBf16;
  // Results of fewer rows than the tiles that they are made in are one tile
  // down.
  const bool fits = a.tile_rows == g.base_rows ||
                    (a.tile_rows < g.base_rows && a.tiles_down == 1);
  if (a.rank() <= 1 || (a.packing > 1 && !halves) || !fits ||
      (halves && (g.base_rows < 8 || a.tile_rows < 2))) {
    return Unsupported(*r.reduce, "narrow result over whole tiles");
  }
  const int64_t stored_rows = halves ? a.tile_rows / 2 : a.tile_rows;
  codegen::NarrowTiles narrow(
      &b, halves ? codegen::NarrowTiles::StoreOf(a.bits) : 0);
  const int64_t rows = g.row_axis >= 0 ? extent[g.row_axis] : 1;
  const int64_t columns = extent[g.column_axis];
  const Sca from = b.GlobalSca(), to = b.GlobalSca();
  b.SMove(from, first);
  b.SMove(to, result);
  const bool moves = !r.moving.empty();
  const int64_t row_stride =
      moves && g.row_axis >= 0 ? r.moving[g.row_axis] : a.row_stride();
  for (int axis : {g.row_axis, g.column_axis}) {
    // What moves with the grid is there already.
    if (moves || axis < 0 || plan.grid_dim[axis] < 0) continue;
    const int64_t stride = axis == g.row_axis ? row_stride : a.tile_bytes();
    const Sca step = b.NewSca();
    b.GridIndex(step, plan.grid_dim[axis]);
    b.SBinaryTo(
        to, Opcode::kSadd, to,
        b.SMulImm(step, static_cast<int32_t>(stride * plan.block[axis])));
  }
  const int64_t row_bytes = g.row_axis >= 0 ? r.strides[g.row_axis] : 0;
  if (rows > 1) b.BeginLoop(rows, 1);
  b.NewBlock("tiles");
  for (int64_t c = 0; c < columns; ++c) {
    Vec v = b.Load(codegen::kReductionSpace, from,
                   static_cast<int32_t>(c * isa::kVregBytes));
    if (extremum != nullptr) {
      const Vec values =
          b.Load(codegen::kReductionSpace, from,
                 static_cast<int32_t>(c * isa::kVregBytes + extremum->scratch -
                                      r.scratch));
      ASSIGN_OR_RETURN(v, PositionFold(*extremum, r, b).WithInit({values, v}));
    } else {
      ASSIGN_OR_RETURN(v, fold.WithInit(v));
    }
    const int32_t at = static_cast<int32_t>(c * a.tile_bytes());
    if (halves && g.packs) {
      b.StoreMasked(codegen::kReducedRowSpace, to, at,
                    b.Binary(Opcode::kVpackCBf16, v, v),
                    b.Range(0, 128, 0, stored_rows));
    } else if (halves) {
      narrow.Store(codegen::NarrowType::kBf16, codegen::kReducedRowSpace, to,
                   at, v, static_cast<int>(stored_rows));
    } else if (stored_rows < 8) {
      b.StoreMasked(codegen::kReducedRowSpace, to, at, v,
                    b.Range(0, 128, 0, stored_rows));
    } else {
      b.Store(codegen::kReducedRowSpace, to, at, v);
    }
  }
  if (rows > 1) {
    b.SBinaryImmTo(from, Opcode::kSadd, from, static_cast<int32_t>(row_bytes));
    b.SBinaryImmTo(to, Opcode::kSadd, to, static_cast<int32_t>(row_stride));
    b.EndLoop();
  }
  return absl::OkStatus();
}

}  // namespace ptxla::lowering
