// Elementwise kernels: a fusion of kind kLoop, or one elementwise instruction.
#include <algorithm>
#include <optional>
#include <utility>

#include "base/status.h"
#include "hlo_backend/lowering/core_window.h"
#include "hlo_backend/lowering/fusion/fusion_tiling.h"
#include "hlo_backend/lowering/fusion/packed_formula.h"
#include "hlo_backend/lowering/kernel_emitter.h"

namespace ptxla::lowering {
namespace {

// Each step along the dimension has results of its own.
bool ResultsMoveAlong(int dim, const Tiling& tiling) {
  for (const isa::Window& w : tiling.windows) {
    if (w.direction == isa::Direction::kIn ||
        tiling.args[w.arg].space == isa::Space::kVmem) {
      continue;
    }
    if (std::none_of(
            w.dims.begin(), w.dims.end(),
            [&](const isa::WindowDim& d) { return d.grid_dim == dim; })) {
      return false;
    }
  }
  return true;
}

// Two tiles of a 16-bit array share a register, and lie in neighbouring
// columns: walking down long columns, the TPU compiler loads and unpacks each
// for itself, for what the first column leaves to the second fills the
// registers.
Geometry TileByTile(Geometry g) {
  for (Stream& s : g.streams) {
    if (s.access != Access::kTile || s.array.packing != 2) continue;
    s.tile_by_tile = true;
    s.pack_columns = 1;
  }
  g.axes[g.column_axis].unit = g.axes[g.column_axis].core_unit = 1;
  return g;
}

// The registers of one column of tiles of a body: loads, and results.
int64_t RegistersOfColumn(const Geometry& g, const NestPlan& plan) {
  int64_t streams = 0;
  for (const Stream& s : g.streams) streams += s.access == Access::kTile;
  return plan.unroll[g.column_axis] / g.row_of_tiles * streams;
}

// Arrays of 16 bits, of which several are loaded, and none that is narrower.
bool MayGoTileByTile(const Geometry& g, const isa::MachineModel& model) {
  if (model.vmem_banks == 0 || g.packed_bf16 || g.row_of_tiles < 2) {
    return false;
  }
  int packing = 1, loaded = 0;
  for (const Stream& s : g.streams) {
    if (s.tile_by_tile) return false;
    loaded += s.node >= 0 && s.access == Access::kTile && s.array.packing == 2;
    packing = std::max<int>(packing, s.array.packing);
  }
  return packing == 2 && loaded > 1;
}

}  // namespace

absl::StatusOr<isa::Kernel> EmitLoopFusion(const KernelContext& context,
                                           const hlo::Instruction& i) {
  ASSIGN_OR_RETURN(const Expression e, Expression::Build(i));
  ASSIGN_OR_RETURN(Geometry g, Geometry::Of(e, 0, i, context.model));
  g.packed_bf16 = context.chip.Policy("packed_bf16").value_or(0) > 0 &&
                  i.opcode() == hlo::Opcode::kFusion && IsPackedFormula(e, g);
  std::optional<Geometry> by_tile;
  if (MayGoTileByTile(g, context.model)) by_tile = TileByTile(g);
  const auto make = [&](int copies, int64_t target,
                        bool) -> absl::StatusOr<Tiling> {
    ASSIGN_OR_RETURN(FusionTiling cut,
                     CutFusion(context, i, e, g, target, copies));
    const Geometry* walked = &g;
    if (by_tile && RegistersOfColumn(g, cut.plan) > context.model.vregs) {
      ASSIGN_OR_RETURN(cut, CutFusion(context, i, e, *by_tile, target, copies));
      walked = &*by_tile;
    }
    Tiling tiling = std::move(cut.tiling);
    const int shared = SharedDim(tiling.grid, context.model.cores);
    if (ResultsMoveAlong(shared, tiling)) tiling.megacore_dim = shared;
    tiling.body = [&e, walked, plan = std::move(cut.plan),
                   places = std::move(cut.places),
                   shifted = std::move(cut.shifted)](codegen::CodeBuilder& b) {
      for (const ShiftedStream& s : shifted) s.Fill(b);
      NestCode nest(e, *walked, plan, places, b);
      return nest.Run(NestCode::Hooks());
    };
    return tiling;
  };
  return EmitWidestThatFits(context, i, g, make);
}

}  // namespace ptxla::lowering
