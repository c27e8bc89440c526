#include "hlo_backend/lowering/fusion/geometry.h"

#include <algorithm>

#include "base/status.h"
#include "base/units.h"
#include "hlo_backend/lowering/codegen/narrow_tiles.h"
#include "hlo_backend/lowering/fusion/geometry_axes.h"
#include "hlo_backend/lowering/fusion/stream_access.h"
#include "hlo_backend/lowering/refusals.h"

namespace ptxla::lowering {
namespace {

using hlo::Instruction;

class GeometryBuilder {
 public:
  GeometryBuilder(const Expression& e, uint32_t reduced, const Instruction& i,
                  const isa::MachineModel& model)
      : e_(e), reduced_(reduced), instr_(i) {
    g_.packs = !codegen::NarrowTiles::Needed(model);
    g_.packs8 = !codegen::NarrowTiles::Needed(model, 8);
  }

  absl::StatusOr<Geometry> Build() {
    RETURN_IF_ERROR(CollectStreams());
    g_.linear = IsLinear();
    RETURN_IF_ERROR(ChooseBaseTile());
    MakeAxes();
    for (Stream& s : g_.streams) RETURN_IF_ERROR(Place(&s));
    MergeAxes(e_, reduced_, &g_);
    SetUnits(instr_, reduced_, &g_);
    return std::move(g_);
  }

 private:
  int row_dim() const { return e_.space.rank() - 2; }
  int column_dim() const { return e_.space.rank() - 1; }

  absl::Status CollectStreams() {
    for (int n : e_.Leaves()) {
      const ExprNode& leaf = e_.nodes[n];
      Stream s;
      s.node = n;
      s.argument = leaf.argument;
      if (leaf.argument >= Expression::kReduced) {
        s.array = e_.is_epilogue ? e_.space : PhysicalArray::Words({}, {});
        s.array.type = leaf.type;  // of 32 bits, in scratch
        if (!e_.is_epilogue) {
          s.access = Access::kPartial;
          g_.streams.push_back(std::move(s));
          continue;
        }
      } else {
        ASSIGN_OR_RETURN(
            s.array, PhysicalArray::Of(leaf.instr->shape(), true),
            _ << "operand " << leaf.argument << " of " << instr_.name());
      }
      if (leaf.shifted != nullptr) RETURN_IF_ERROR(Shift(&s));
      RETURN_IF_ERROR(ClassifyAccess(e_, leaf, instr_, &s));
      g_.streams.push_back(std::move(s));
    }
    for (size_t r = 0; r < e_.roots.size(); ++r) {
      if (!e_.IsStored(r)) continue;
      Stream s;
      s.root = static_cast<int>(r);
      s.result = e_.results[r];
      const hlo::Shape& shape = instr_.shape().IsTuple()
                                    ? instr_.shape().element(s.result)
                                    : instr_.shape();
      ASSIGN_OR_RETURN(s.array, PhysicalArray::Of(shape, true),
                       _ << "result " << r << " of " << instr_.name());
      if (s.array.dims != e_.space.dims) {
        return Unsupported(instr_, "results have different layouts");
      }
      g_.streams.push_back(std::move(s));
    }
    return absl::OkStatus();
  }

  // In scratch its tiles are whole registers, or, where registers are not
  // expanded, of 8 rows.
  absl::Status Shift(Stream* s) const {
    PhysicalArray& a = s->array;
    s->shifted = true;
    if (a.linear != 0) return absl::OkStatus();
    if (e_.space.tile_rows < isa::kSublanes || a.rows == 1 || a.columns == 1) {
      return Unsupported(instr_, "parts of low tiles");
    }
    a.tile_rows = isa::kSublanes * (g_.packs ? a.packing : 1);
    a.tiles_down = CeilOfRatio(a.rows, a.tile_rows);
    return absl::OkStatus();
  }

  // Every array is read and written tile by tile, with the iteration's own
  // dimensions and equal tiles: then the order of memory is the order of all.
  bool IsLinear() const {
    if (e_.space.rank() <= 1) return true;
    if (Shifts(g_)) return false;
    int64_t tile_rows = -1;
    for (const ExprNode& n : e_.nodes) {
      if (n.kind == ExprNode::Kind::kIota) return false;
    }
    const uint32_t all = (1u << e_.space.rank()) - 1;
    if (reduced_ != 0 && reduced_ != all) return false;
    // A reduction over ragged rows needs to know its rows.
    if (reduced_ != 0 && (e_.space.rows % e_.space.tile_rows != 0 ||
                          e_.space.columns % 128 != 0)) {
      return false;
    }
    for (const Stream& s : g_.streams) {
      if (s.access == Access::kSplat && e_.nodes[s.node].depends == 0) continue;
      if (s.access == Access::kPartial) continue;
      if (s.access != Access::kTile || s.array.sizes != e_.space.sizes) {
        return false;
      }
      if (s.node >= 0 && !SameOrder(s)) return false;
      if (tile_rows >= 0 && s.array.tile_rows != tile_rows) return false;
      tile_rows = s.array.tile_rows;
    }
    return true;
  }

  bool SameOrder(const Stream& s) const {
    const ExprNode& leaf = e_.nodes[s.node];
    for (int p = 0; p < s.array.rank(); ++p) {
      if (s.array.sizes[p] != 1 && leaf.map[s.array.dims[p]] != p) return false;
    }
    return true;
  }

  absl::Status ChooseBaseTile() {
    if (g_.linear) return absl::OkStatus();
    int64_t rows = 8;
    for (const Stream& s : g_.streams) {
      if (s.access == Access::kTile) rows = std::min(rows, s.array.tile_rows);
    }
    g_.base_rows = static_cast<int>(rows);
    return absl::OkStatus();
  }

  // Planes, rows and columns of base tiles; lower tiles share them.
  static std::vector<int64_t> PartsOfLinear(const PhysicalArray& a,
                                            int64_t tiles) {
    if (a.rank() < 2 || a.tile_rows < isa::kSublanes) return {tiles};
    std::vector<int64_t> parts(a.sizes.begin(), a.sizes.end() - 2);
    parts.push_back(a.tiles_down * a.tile_rows / isa::kSublanes);
    parts.push_back(a.tiles_across);
    return parts;
  }

  void MakeAxes() {
    g_.axis_of_dim.assign(e_.space.rank(), -1);
    if (g_.linear) {
      Axis axis;
      axis.kind = Axis::Kind::kColumn;
      const PhysicalArray& a = e_.space;
      // Tiles of fewer than 8 rows may fill the last register in part.
      axis.elements = a.linear > 0 ? a.linear : a.tiles() * a.tile_rows * 128;
      axis.tiles = CeilOfRatio<int64_t>(axis.elements, 1024);
      axis.reduced = reduced_ != 0;
      if (a.linear == 0 && a.rank() >= 2 && a.tile_rows == 8) {
        g_.row_of_tiles = CeilOfRatio<int64_t>(a.sizes.back(), 128);
      }
      for (int d = 0; d < a.rank(); ++d) {
        axis.dims.push_back(d);
        g_.axis_of_dim[d] = 0;
      }
      axis.parts = PartsOfLinear(a, axis.tiles);
      g_.axes.push_back(axis);
      return;
    }
    for (int d = 0; d < e_.space.rank(); ++d) {
      Axis axis;
      axis.elements = e_.space.sizes[d];
      axis.tiles = axis.elements;
      if (d == row_dim()) {
        axis.kind = Axis::Kind::kRow;
        axis.tiles = CeilOfRatio<int64_t>(axis.elements, g_.base_rows);
      } else if (d == column_dim()) {
        axis.kind = Axis::Kind::kColumn;
        axis.tiles = CeilOfRatio<int64_t>(axis.elements, 128);
      } else if (axis.elements == 1) {
        continue;
      }
      axis.reduced = reduced_ >> d & 1;
      axis.dims.push_back(d);
      axis.parts.push_back(axis.tiles);
      g_.axis_of_dim[d] = static_cast<int>(g_.axes.size());
      g_.axes.push_back(axis);
    }
  }

  absl::Status Place(Stream* s) {
    s->strides.assign(g_.axes.size(), 0);
    const PhysicalArray& a = s->array;
    if (s->access == Access::kPartial) return absl::OkStatus();
    if (s->access == Access::kSplat && s->node >= 0 &&
        e_.nodes[s->node].depends == 0) {
      return absl::OkStatus();
    }
    s->tile_by_tile = s->access == Access::kTile && a.packing > 1 &&
                      (!g_.packs || a.bits == 4);
    // Tiles of fewer than 8 rows go tile by tile, if not in memory's order.
    s->by_parts = s->access == Access::kTile && a.packing == 4 &&
                  (g_.linear || a.tile_rows >= 8) && !s->tile_by_tile &&
                  (s->node < 0 || !g_.packs8);
    if (g_.linear) {
      s->pack_columns = s->tile_by_tile ? 1 : a.packing;
      s->strides[0] = 4096 / a.packing;
      return absl::OkStatus();
    }
    if (s->access == Access::kTile) {
      RETURN_IF_ERROR(ChoosePacking(g_, instr_, s));
    }
    // Strides of the physical dimensions.
    int64_t plane = a.plane_stride();
    for (int p = a.rank() - 1; p >= 0; --p) {
      const int d = s->node >= 0 ? IterationDim(e_.nodes[s->node], a, p) : p;
      int64_t stride = 0;
      const bool row = a.rank() >= 2 && p == a.rank() - 2;
      const bool column = p == a.rank() - 1;
      if (!row && !column) {
        stride = plane;
        plane *= a.sizes[p];
      }
      if (d < 0) continue;
      const int axis = g_.axis_of_dim[d];
      if (axis < 0) continue;
      const Axis::Kind kind = g_.axes[axis].kind;
      if (column) {
        if (s->access == Access::kTile) {
          stride = a.tile_bytes() / 1;
        } else if (kind == Axis::Kind::kColumn) {
          stride = a.rank() >= 2 ? a.tile_bytes() : 512 / a.packing;
        } else if (kind == Axis::Kind::kMajor) {
          s->lane_axis = axis;
          continue;
        }
      } else if (row) {
        if (s->access == Access::kTile || s->rows_from_rows) {
          stride = a.row_stride() / s->pack_rows;
        } else {
          s->row_axis = axis;
          continue;
        }
      }
      s->strides[axis] = stride;
    }
    return absl::OkStatus();
  }

  const Expression& e_;
  const uint32_t reduced_;
  const Instruction& instr_;
  Geometry g_;
};

}  // namespace

absl::StatusOr<Geometry> Geometry::Of(const Expression& e, uint32_t reduced,
                                      const Instruction& i,
                                      const isa::MachineModel& model) {
  ASSIGN_OR_RETURN(Geometry g, GeometryBuilder(e, reduced, i, model).Build());
  for (const hlo::Instruction* r : e.reduces) {
    if (r == nullptr || r->shape().rank() != 1) continue;
    g.result_packing = std::max(
        g.result_packing, std::max(1, 32 / hlo::BitWidth(r->shape().type())));
  }
  for (const ExprNode& node : e.nodes) {
    g.operations += node.kind != ExprNode::Kind::kConstant &&
                    (g.AxesOf(node) >> g.column_axis & 1);
    if (node.kind == ExprNode::Kind::kOp &&
        hlo::IsTranscendental(node.instr->opcode()) &&
        (g.AxesOf(node) >> g.column_axis & 1)) {
      g.uses_eup = true;
    }
  }
  return g;
}

uint32_t Geometry::AxesOf(const ExprNode& node) const {
  uint32_t axes = 0;
  for (size_t d = 0; d < axis_of_dim.size(); ++d) {
    if ((node.depends >> d & 1) && axis_of_dim[d] >= 0) {
      axes |= 1u << axis_of_dim[d];
    }
  }
  return axes;
}

}  // namespace ptxla::lowering
