#include "hlo_backend/lowering/products/product_operands.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/status.h"
#include "base/units.h"
#include "hlo_backend/analysis/contracted_planes.h"
#include "hlo_backend/analysis/member_rows.h"
#include "hlo_backend/analysis/product_batch.h"
#include "hlo_backend/ir/computation.h"
#include "isa/program.h"
#include "isa/vmem_banks.h"

namespace ptxla::lowering {
namespace {

using hlo::DimVector;
using hlo::Instruction;
using hlo::Opcode;
using hlo::PrimitiveType;

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

// Checks that the dimensions of a dot's operand, major to minor, are its
// `batch` dimensions in order, free dimensions, and K, the last two in either
// order. True if K is the minor dimension.
absl::StatusOr<bool> KIsMinor(const Instruction& dot, const hlo::Shape& shape,
                              int batch, const DimVector& of_dot,
                              int64_t contracting) {
  const auto members = hlo::MembersInRows(shape, batch);
  if (members) return contracting == members->lanes;
  ASSIGN_OR_RETURN(PhysicalArray a, PhysicalArray::Of(shape, /*fours=*/true));
  if (a.rank() < 2 || a.linear != 0) return Refuse(dot, "a vector operand");
  const auto common = static_cast<int>(of_dot.size());
  for (int i = 0; i < batch; ++i) {
    if (a.dims[i] != (i < common ? of_dot[i] : i)) {
      return Refuse(dot, "a batch dimension inside");
    }
  }
  const int64_t minor = a.dims[a.rank() - 1];
  const int64_t second = a.dims[a.rank() - 2];
  if (minor == contracting) return true;
  if (second == contracting) return false;
  return Refuse(dot, "a K dimension outside the two minor ones");
}

// Of a result as it lies; planes that the product takes as rows are rows.
std::optional<hlo::ProductWindows> WindowsOf(const hlo::WindowConfig& config,
                                             const hlo::Shape& result,
                                             const PhysicalArray& out,
                                             const ProductProblem& problem) {
  std::vector<int64_t> extents;
  for (const int64_t d : out.dims) {
    extents.push_back(result.dim(static_cast<int>(d)));
  }
  auto windows = hlo::WindowsOfProduct(config, extents);
  if (!windows || problem.batch > 1 || windows->planes == 1) return windows;
  const int64_t rows = extents[extents.size() - 2];
  if (windows->rows < rows) return std::nullopt;
  windows->rows = windows->planes * rows;
  windows->planes = 1;
  return windows;
}

}  // namespace

absl::StatusOr<MatrixView> MatrixView::OfOperand(const hlo::Shape& shape,
                                                 int64_t batch) {
  const auto order = hlo::MembersInRows(shape, batch);
  if (!order) return Of(shape);
  ASSIGN_OR_RETURN(PhysicalArray a, PhysicalArray::Of(shape));
  MatrixView v;
  v.type = a.type;
  v.members = a.rows;
  v.planes = a.rows * a.planes / shape.dim(order->rows);
  v.rows = shape.dim(order->rows);
  v.columns = a.columns;
  v.tile_bytes = a.tile_bytes();
  v.member_stride = a.row_stride();
  // Rows outside of the other batch dimensions, or inside.
  const bool outside = a.dims[0] == order->rows;
  v.row_stride = a.plane_stride() * (outside ? v.planes / v.members : 1);
  v.plane_stride = a.plane_stride() * (outside ? 1 : v.rows);
  v.resident = shape.layout().memory_space == hlo::kMemoryVmem;
  if (v.resident && v.rows % hlo::kMemberRowTile != 0) {
    return absl::UnimplementedError(absl::StrCat(
        shape.ToString(), " in VMEM: rows of members beyond its end"));
  }
  return v;
}

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
  // Of matrices that members share: their own batch dimensions, or -1.
  int own_batch[2] = {-1, -1};
  const Instruction* sliced[2] = {nullptr, nullptr};
  for (int o = 0; o < 2; ++o) {
    const Instruction* source = BehindConverts(operands[o]);
    if (instruction.opcode() == Opcode::kFusion) {
      sliced[o] = hlo::SlicedMembers(dot, o);
      if (sliced[o] != nullptr) source = sliced[o]->operand(0);
      if (const Instruction* matrix = hlo::SharedMatrix(dot, o)) {
        own_batch[o] = matrix->shape().rank() - 2;
        source = BehindConverts(matrix);
        if (source->opcode() != Opcode::kParameter) {
          return Refuse(dot, "a computed operand that members share");
        }
      }
    }
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
    shapes[o] = sliced[o] != nullptr ? &sliced[o]->shape() : &source->shape();
    const PrimitiveType type = source->shape().type();
    const bool computed = values[o] != nullptr;
    if (!IsProductType(type) || (computed && hlo::BitWidth(type) < 16)) {
      return Refuse(dot, absl::StrCat("an operand of type ",
                                      hlo::PrimitiveTypeName(type)));
    }
  }
  if (&instruction == f.dot && instruction.operand(0) == instruction.operand(1))
    args[1] = 0;
  const int nb = hlo::ProductBatch(dot), of_rhs = hlo::OperandBatch(dot, 1);
  const auto in_planes = hlo::MatrixContraction(dot);
  const auto ks = static_cast<int64_t>(attrs.lhs_contracting.size());
  if (ks != 1 && !in_planes) return Refuse(dot, "more than one K dimension");
  const int inner = in_planes.value_or(0);
  // Of what is broadcast: the dimensions that it has itself.
  const auto batch_of = [&](int o) {
    return own_batch[o] >= 0 ? own_batch[o] : o == 0 ? nb : of_rhs;
  };
  const auto minor_of = [&](int o, DimVector of_dot, int64_t contracting) {
    const int batch = batch_of(o);
    if (own_batch[o] >= 0) {
      of_dot.resize(batch);
      contracting -= nb - batch;
    }
    return KIsMinor(dot, *shapes[o], batch, of_dot, contracting);
  };
  ASSIGN_OR_RETURN(bool lhs_k_minor,
                   minor_of(0, attrs.lhs_batch, attrs.lhs_contracting[inner]));
  ASSIGN_OR_RETURN(bool rhs_k_minor,
                   minor_of(1, attrs.rhs_batch, attrs.rhs_contracting[inner]));
  ASSIGN_OR_RETURN(f.lhs, MatrixView::OfOperand(*shapes[0], batch_of(0)),
                   _ << "%" << dot.name());
  ASSIGN_OR_RETURN(f.rhs, MatrixView::OfOperand(*shapes[1], batch_of(1)),
                   _ << "%" << dot.name());
  ASSIGN_OR_RETURN(f.out, MatrixView::Of(dot.shape()), _ << "%" << dot.name());
  for (int o = 0; o < 2; ++o) {
    if (sliced[o] == nullptr) continue;
    const hlo::Shape& from = sliced[o]->operand(0)->shape();
    MatrixView& view = o == 0 ? f.lhs : f.rhs;
    view.first_byte = sliced[o]->attrs<hlo::SliceAttrs>().starts[0] *
                      (view.planes / shapes[o]->dim(0)) * view.plane_stride;
    view.resident =
        from.has_layout() && from.layout().memory_space == hlo::kMemoryVmem;
  }
  f.rhs.shared_by = hlo::SharingMembers(dot);
  for (int o = 0; o < 2; ++o) {
    if (own_batch[o] < 0) continue;
    int64_t& sharing = (o == 0 ? f.lhs : f.rhs).shared_by;
    sharing = 1;
    for (int d = own_batch[o]; d < nb; ++d) sharing *= dot.shape().dim(d);
  }
  f.lhs_arg = args[0];
  f.rhs_arg = args[1];
  f.lhs_value = values[0];
  f.rhs_value = values[1];

  // The result is [batch, lhs free, rhs free]; its layout says which of the
  // two is minor.
  const int64_t lhs_free = dot.operand(0)->shape().rank() - nb - ks;
  const int64_t rhs_free = dot.operand(1)->shape().rank() - of_rhs - ks;
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
  for (const MatrixView* view : {&f.lhs, &f.rhs}) {
    if (view->members > 0 && values[view == &f.rhs] != nullptr) {
      return Refuse(dot, "a computed operand whose members lie in rows");
    }
  }
  if (lhs_free > 1) {
    if (nb > 0 || !lhs_k_minor || !f.lhs.FoldPlanes() || !f.out.FoldPlanes()) {
      return Refuse(dot, "several free dimensions with padding between them");
    }
  }
  if (f.rhs.shared_by > 1 && values[1] != nullptr) {
    return Refuse(dot, "a computed operand that members share");
  }
  if (f.swapped) {
    std::swap(f.lhs, f.rhs);
    std::swap(f.lhs_arg, f.rhs_arg);
    std::swap(f.lhs_value, f.rhs_value);
    std::swap(lhs_k_minor, rhs_k_minor);
  }
  // A tile of weights, or one that is turned, would be waited for in each
  // plane.
  if (in_planes &&
      (f.rhs_value != nullptr || (f.lhs_value != nullptr && !lhs_k_minor))) {
    return Refuse(dot, "a computed operand that planes of K do not stream");
  }
  ProductProblem& p = f.problem;
  p.batch = f.out.planes;
  p.m = f.out.rows;
  p.n = f.out.columns;
  p.k = lhs_k_minor ? f.lhs.columns : f.lhs.rows;
  if (in_planes) {
    f.lhs.planes_of_k = f.rhs.planes_of_k = f.lhs.planes > 1;
    p.k_planes = f.lhs.planes;
  }
  p.lhs = {f.lhs.type, !lhs_k_minor, f.lhs.resident};
  p.rhs = {f.rhs.type, rhs_k_minor, f.rhs.resident};
  // Rows of narrow types are loaded a register at a time.
  const int lhs_bits = hlo::BitWidth(p.lhs.type);
  if (lhs_bits <= 8 && !p.lhs.transposed) {
    p.row_unit = std::max<int64_t>(p.row_unit, 256 / lhs_bits);
  }
  p.members = std::max(f.lhs.members * f.lhs.shared_by,
                       f.rhs.members * f.rhs.shared_by);
  for (auto [view, operand] : {std::pair(&f.lhs, &p.lhs), {&f.rhs, &p.rhs}}) {
    operand->gathered = view->members > 0;
    operand->shared_by = view->shared_by;
    if (view->shared_by == 1) continue;
    p.shared_members.push_back({view->shared_by, p.batch / view->shared_by});
    if (view->members > 0) p.member_unit *= view->shared_by;
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
  if (const auto config = hlo::WindowConfigOf(instruction)) {
    f.windows = WindowsOf(*config, dot.shape(), out, p);
  }
  return f;
}

}  // namespace ptxla::lowering
