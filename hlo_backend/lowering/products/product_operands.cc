#include "hlo_backend/lowering/products/product_operands.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/status.h"
#include "base/units.h"
#include "hlo_backend/analysis/fusion_rules.h"
#include "hlo_backend/ir/computation.h"
#include "isa/program.h"
#include "isa/vmem_banks.h"

namespace ptxla::lowering {
namespace {

using hlo::DimVector;
using hlo::Instruction;
using hlo::Opcode;
using hlo::PrimitiveType;

// Bytes of a whole tile in VMEM.
int64_t FullTileBytes(const MatrixView& v) {
  return v.tile_rows * 128 * hlo::BitWidth(v.type) / 8;
}

absl::Status Refuse(const Instruction& dot, absl::string_view what) {
  return absl::UnimplementedError(
      absl::StrCat("%", dot.name(), ": ", what, " is not lowered"));
}

// The value behind a chain of conversions that the arrays make anyway, or that
// lose nothing.
const Instruction* BehindConverts(const Instruction* i) {
  const auto wide = [](PrimitiveType t) {
    return t == PrimitiveType::kF32 || t == PrimitiveType::kBf16;
  };
  while (i->opcode() == Opcode::kConvert && wide(i->shape().type()) &&
         IsProductType(i->operand(0)->shape().type())) {
    i = i->operand(0);
  }
  return i;
}

// Checks that the dimensions of a dot's operand, major to minor, are its batch
// dimensions in order, free dimensions, and K, the last two in either order.
// True if K is the minor dimension.
absl::StatusOr<bool> KIsMinor(const Instruction& dot, const hlo::Shape& shape,
                              const DimVector& batch,
                              const DimVector& contracting) {
  if (contracting.size() != 1) return Refuse(dot, "more than one K dimension");
  ASSIGN_OR_RETURN(PhysicalArray a, PhysicalArray::Of(shape, /*fours=*/true));
  if (a.rank() < 2 || a.linear != 0) return Refuse(dot, "a vector operand");
  for (size_t i = 0; i < batch.size(); ++i) {
    if (a.dims[i] != batch[i]) return Refuse(dot, "a batch dimension inside");
  }
  const int64_t minor = a.dims[a.rank() - 1];
  const int64_t second = a.dims[a.rank() - 2];
  if (minor == contracting[0]) return true;
  if (second == contracting[0]) return false;
  return Refuse(dot, "a K dimension outside the two minor ones");
}

}  // namespace

absl::StatusOr<MatrixView> MatrixView::Of(const hlo::Shape& shape) {
  ASSIGN_OR_RETURN(PhysicalArray a, PhysicalArray::Of(shape, /*fours=*/true));
  MatrixView v;
  v.type = a.type;
  v.planes = a.planes;
  v.rows = a.rows;
  v.columns = a.columns;
  v.tile_bytes = a.tile_bytes();
  v.row_stride = a.row_stride();
  v.plane_stride = a.plane_stride();
  v.resident =
      shape.has_layout() && shape.layout().memory_space == hlo::kMemoryVmem;
  // Of 8- and 4-bit types a lone tile may have fewer rows than a register.
  v.tile_rows = a.bits > 8 ? 8 : a.tiles_down == 1 ? 256 / a.bits : a.tile_rows;
  if (a.tile_rows != v.tile_rows && a.tiles_down > 1) {
    return absl::UnimplementedError(
        absl::StrCat("tiles of ", a.tile_rows, " rows in ", shape.ToString()));
  }
  return v;
}

bool MatrixView::FoldPlanes() {
  if (planes == 1) return true;
  if (rows % tile_rows != 0) return false;
  rows *= planes;
  planes = 1;
  plane_stride *= rows;
  return true;
}

absl::StatusOr<ProductForm> ProductForm::Of(const Instruction& instruction) {
  ProductForm f;
  f.dot = &instruction;
  std::vector<const Instruction*> operands(instruction.operands().begin(),
                                           instruction.operands().end());
  if (instruction.opcode() == Opcode::kFusion) {
    for (const Instruction* inner : instruction.fused()->instructions()) {
      if (inner->opcode() == Opcode::kDot) f.dot = inner;
    }
    operands.assign(f.dot->operands().begin(), f.dot->operands().end());
  }
  const Instruction& dot = *f.dot;
  if (dot.opcode() != Opcode::kDot) {
    return Refuse(instruction, "a product without a dot");
  }
  const hlo::DotAttrs& attrs = dot.attrs<hlo::DotAttrs>();
  const hlo::Shape* shapes[2];
  int args[2] = {-1, -1};
  const Instruction* values[2] = {nullptr, nullptr};
  for (int o = 0; o < 2; ++o) {
    const Instruction* source = BehindConverts(operands[o]);
    if (instruction.opcode() == Opcode::kFusion) {
      if (source->opcode() != Opcode::kParameter) {
        source = values[o] = operands[o];
      } else {
        args[o] = static_cast<int>(source->parameter_number());
      }
    } else {
      source = operands[o];
      args[o] = o;
    }
    shapes[o] = &source->shape();
    const PrimitiveType type = source->shape().type();
    const bool computed = values[o] != nullptr;
    if (!IsProductType(type) || (computed && hlo::BitWidth(type) < 16)) {
      return Refuse(dot, absl::StrCat("an operand of type ",
                                      hlo::PrimitiveTypeName(type)));
    }
  }
  if (&instruction == f.dot && instruction.operand(0) == instruction.operand(1))
    args[1] = 0;
  ASSIGN_OR_RETURN(bool lhs_k_minor, KIsMinor(dot, *shapes[0], attrs.lhs_batch,
                                              attrs.lhs_contracting));
  ASSIGN_OR_RETURN(bool rhs_k_minor, KIsMinor(dot, *shapes[1], attrs.rhs_batch,
                                              attrs.rhs_contracting));
  ASSIGN_OR_RETURN(f.lhs, MatrixView::Of(*shapes[0]), _ << "%" << dot.name());
  ASSIGN_OR_RETURN(f.rhs, MatrixView::Of(*shapes[1]), _ << "%" << dot.name());
  ASSIGN_OR_RETURN(f.out, MatrixView::Of(dot.shape()), _ << "%" << dot.name());
  f.lhs_arg = args[0];
  f.rhs_arg = args[1];
  f.lhs_value = values[0];
  f.rhs_value = values[1];

  // The result is [batch, lhs free, rhs free]; its layout says which of the
  // two is minor.
  const int64_t nb = static_cast<int64_t>(attrs.lhs_batch.size());
  const int64_t lhs_free = shapes[0]->rank() - nb - 1;
  const int64_t rhs_free = shapes[1]->rank() - nb - 1;
  ASSIGN_OR_RETURN(PhysicalArray out, PhysicalArray::Of(dot.shape()));
  if (rhs_free != 1 || lhs_free < 1 || out.rank() != nb + lhs_free + 1) {
    return Refuse(dot, "free dimensions of this number");
  }
  const int64_t minor = out.dims[out.rank() - 1];
  for (int64_t d = 0; d < nb; ++d) {
    if (out.dims[d] != d) return Refuse(dot, "a result with batch inside");
  }
  if (minor == nb + lhs_free) {
    f.swapped = false;
  } else if (lhs_free == 1 && minor == nb) {
    f.swapped = true;
  } else {
    return Refuse(dot, "a result with this order of dimensions");
  }
  if (lhs_free > 1) {
    if (nb > 0 || !lhs_k_minor || !f.lhs.FoldPlanes() || !f.out.FoldPlanes()) {
      return Refuse(dot, "several free dimensions with padding between them");
    }
  }
  if (f.swapped) {
    std::swap(f.lhs, f.rhs);
    std::swap(f.lhs_arg, f.rhs_arg);
    std::swap(f.lhs_value, f.rhs_value);
    std::swap(lhs_k_minor, rhs_k_minor);
  }
  ProductProblem& p = f.problem;
  p.batch = f.out.planes;
  p.m = f.out.rows;
  p.n = f.out.columns;
  p.k = lhs_k_minor ? f.lhs.columns : f.lhs.rows;
  p.lhs = {f.lhs.type, !lhs_k_minor, f.lhs.resident};
  p.rhs = {f.rhs.type, rhs_k_minor, f.rhs.resident};
  // Rows of narrow types are loaded a register at a time.
  const int lhs_bits = hlo::BitWidth(p.lhs.type);
  if (lhs_bits <= 8 && !p.lhs.transposed) {
    p.row_unit = std::max<int64_t>(p.row_unit, 256 / lhs_bits);
  }
  p.lhs.computed = f.lhs_value != nullptr;
  p.rhs.computed = f.rhs_value != nullptr;
  // Rounded on the way, or never f32: one part.
  const auto parts_of = [&](int o) {
    const PrimitiveType type = dot.operand(o)->shape().type();
    return type == PrimitiveType::kF32 ? shapes[o]->type() : type;
  };
  p.passes = PassesOf(attrs, parts_of(0), parts_of(1));
  if (p.passes.size() > 1 && (p.lhs.computed || p.rhs.computed)) {
    return Refuse(dot, "a computed operand above default precision");
  }
  if (f.swapped) {
    for (ProductPass& pass : p.passes) std::swap(pass.lhs, pass.rhs);
  }
  return f;
}

GridDims GridDims::Of(const ProductTile& t) {
  GridDims g;
  g.m = t.n_inner ? 1 : 2;
  g.n = t.n_inner ? 2 : 1;
  g.bounds.assign(4, 1);
  g.bounds[g.b] = t.grid_b;
  g.bounds[g.m] = t.grid_m;
  g.bounds[g.n] = t.grid_n;
  g.bounds[g.k] = t.grid_k;
  for (int dim : {0, 1, 2}) {
    if (g.bounds[dim] > 1) {
      g.megacore_dim = dim;
      break;
    }
  }
  return g;
}

namespace {

// A window over planes, rows of tiles and tiles of a row.
isa::Window MakeWindow(const MatrixView& v, int arg, isa::Direction direction,
                       int64_t block_b, int64_t block_rows,
                       int64_t block_columns, int grid_b, int grid_rows,
                       int grid_columns) {
  const int64_t tile = FullTileBytes(v);
  isa::Window w;
  w.arg = arg;
  w.direction = direction;
  isa::WindowDim planes, rows, columns;
  // An array with fewer planes than the product's batch is shared by all.
  planes.block = v.planes == 1 ? 1 : block_b;
  planes.extent = v.planes;
  planes.hbm_stride = v.plane_stride;
  planes.grid_dim = v.planes == 1 ? -1 : grid_b;
  rows.block = CeilOfRatio<int64_t>(block_rows, v.tile_rows);
  rows.extent = CeilOfRatio<int64_t>(v.rows, v.tile_rows);
  rows.hbm_stride = v.row_stride;
  rows.grid_dim = grid_rows;
  columns.block = CeilOfRatio<int64_t>(block_columns, 128);
  columns.extent = CeilOfRatio<int64_t>(v.columns, 128);
  columns.hbm_stride = v.tile_bytes;
  columns.grid_dim = grid_columns;
  columns.vmem_stride = tile;
  rows.vmem_stride = columns.block * tile;
  planes.vmem_stride = rows.block * rows.vmem_stride;
  w.slot_bytes = planes.block * planes.vmem_stride;
  // Part of a tile of bytes is loaded as a whole register.
  if (hlo::BitWidth(v.type) == 8) w.slot_bytes += isa::kVregBytes;
  w.inner_bytes = v.tile_bytes;
  w.dims = {planes, rows, columns};
  return w;
}

// A window over a box of tiles of 8 rows and tiles of a row.
isa::Window MakeBox(const MatrixView& v, int arg, isa::Direction direction,
                    int64_t block_columns, const GridDims& g) {
  isa::Window w;
  w.arg = arg;
  w.direction = direction;
  w.inner_bytes = v.tile_bytes;
  // Three dimensions at least: a batch of one member.
  if (g.box.size() == 1) w.dims.emplace_back();
  for (const GridDims::BoxDim& dim : g.box) {
    isa::WindowDim d;
    d.block = dim.block;
    d.extent = dim.extent;
    d.grid_dim = dim.grid_dim;
    w.dims.push_back(d);
  }
  isa::WindowDim columns;
  columns.block = CeilOfRatio<int64_t>(block_columns, 128);
  columns.extent = CeilOfRatio<int64_t>(v.columns, 128);
  columns.grid_dim = g.n;
  w.dims.push_back(columns);
  int64_t in_array = v.row_stride, in_slot = FullTileBytes(v);
  w.dims.back().hbm_stride = v.tile_bytes;
  w.dims.back().vmem_stride = in_slot;
  in_slot *= columns.block;
  for (size_t d = w.dims.size() - 1; d-- > 0;) {
    w.dims[d].hbm_stride = in_array;
    w.dims[d].vmem_stride = in_slot;
    in_array *= w.dims[d].extent;
    in_slot *= w.dims[d].block;
  }
  // The last 16 rows may be only 8: the others go behind the block.
  w.slot_bytes = in_slot + columns.block * FullTileBytes(v);
  return w;
}

int Add(isa::Window w, const std::vector<int64_t>& grid, Tiling* tiling) {
  bool moves = false;
  for (const isa::WindowDim& d : w.dims) {
    moves = moves || (d.grid_dim >= 0 && grid[d.grid_dim] > 1);
  }
  w.slots = moves ? 2 : 1;
  tiling->windows.push_back(std::move(w));
  return static_cast<int>(tiling->windows.size()) - 1;
}

}  // namespace

int AddOperandWindow(const MatrixView& view, int arg, const ProductTile& t,
                     const GridDims& g, bool is_lhs, bool transposed,
                     Tiling* tiling) {
  const int64_t other = is_lhs ? t.block_m : t.block_n;
  const int other_dim = is_lhs ? g.m : g.n;
  // Rows are K for a transposed LHS and for a plain RHS.
  const bool k_rows = is_lhs == transposed;
  return Add(
      MakeWindow(view, arg, isa::Direction::kIn, t.block_b,
                 k_rows ? t.block_k : other, k_rows ? other : t.block_k, g.b,
                 k_rows ? g.k : other_dim, k_rows ? other_dim : g.k),
      g.bounds, tiling);
}

int AddResultWindow(const MatrixView& view, int arg, const ProductTile& t,
                    const GridDims& g, isa::Direction direction,
                    Tiling* tiling) {
  if (!g.box.empty()) {
    return Add(MakeBox(view, arg, direction, t.block_n, g), g.bounds, tiling);
  }
  return Add(MakeWindow(view, arg, direction, t.block_b, t.block_m, t.block_n,
                        g.b, g.m, g.n),
             g.bounds, tiling);
}

BlockPlace PlaceOf(const MatrixView& view, const isa::Window& window,
                   int window_number, int space, codegen::CodeBuilder* b) {
  BlockPlace p;
  p.base = b->GlobalSca();
  b->WindowAddress(p.base, window_number);
  const std::optional<int64_t> bank =
      view.resident ? isa::ResidentBankOffset(window, isa::kVmemAlignment)
                    : std::optional<int64_t>(0);
  if (bank.has_value()) {
    b->SetBank(p.base, codegen::CodeBuilder::kAbsoluteBanks,
               static_cast<int32_t>(*bank));
  }
  p.space = space;
  p.type = view.type;
  p.tile_rows = view.tile_rows;
  p.row_bytes = 128 * hlo::BitWidth(view.type) / 8;
  const auto pitch = [&](int dim) {
    return view.resident ? window.dims[dim].hbm_stride
                         : window.dims[dim].vmem_stride;
  };
  const int dims = static_cast<int>(window.dims.size());
  p.batch_pitch = view.planes == 1 ? 0 : pitch(0);
  p.row_pitch = pitch(dims - 2);
  p.lane_pitch = pitch(dims - 1);
  return p;
}

}  // namespace ptxla::lowering
