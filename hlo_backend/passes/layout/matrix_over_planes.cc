#include "hlo_backend/passes/layout/matrix_over_planes.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "chips/compiler_policy.h"
#include "hlo_backend/analysis/tiled_layout.h"
#include "hlo_backend/passes/control_edges.h"
#include "hlo_backend/passes/dimension_utils.h"
#include "hlo_backend/passes/layout/dimension_order.h"
#include "hlo_backend/passes/layout/turned_rows.h"

namespace ptxla::hlo {
namespace {

// Fewer numbers than these leave most lanes empty wherever they go (ASSUMED; 19
// and 32 channels of a resize are libtpu 0.0.42.1's kernels so).
constexpr int64_t kFewestInLanes = 16;

double BytesOf(PrimitiveType type, const DimVector& dims, int generation) {
  return static_cast<double>(TpuBytes(Shape::Array(type, dims), generation));
}

// The product, with its roles.
struct Parts {
  DotAttrs attrs;
  int of_x = 0;  // operand number of the array
  Instruction *x = nullptr, *matrix = nullptr;
  int64_t k = 0;                 // what is contracted of x
  int64_t matrix_k = 0;          // and of the matrix
  DimVector at;                  // the dimension of x that each was
  int64_t columns = 0;           // of the result, by the matrix
  const Shape* shape = nullptr;  // of the product

  bool turned = false;  // x is what a moving transpose turns

  int rank() const { return x->shape().rank(); }
  // The dimension that shares tiles with k in a plane: the minor one or, if
  // that is contracted, the rows.
  int64_t Kept() const { return k == rank() - 1 ? rank() - 2 : rank() - 1; }
};

// The dimension of `rows` that is dimension `d` of what a reshape has made of
// them; -1: it, or what is inside of it, has changed.
int64_t SameFromEnd(const Shape& reshaped, const Shape& rows, int64_t d) {
  const int more = rows.rank() - reshaped.rank();
  for (auto at = static_cast<int>(d); at < reshaped.rank(); ++at) {
    if (reshaped.dim(at) != rows.dim(at + more)) return -1;
  }
  return d + more;
}

// The operand that a moving transpose turns, its rows perhaps joined; else the
// one of more dimensions.
bool TakeArray(Instruction* dot, const IsMoving& moves, Parts* p) {
  for (const int o : {0, 1}) {
    Instruction* rows = RowsOfProduct(*dot, o);
    if (rows == nullptr || !moves(*rows)) continue;
    const DotAttrs& attrs = dot->attrs<DotAttrs>();
    const DimVector& k = o == 0 ? attrs.lhs_contracting : attrs.rhs_contracting;
    const int64_t whole_k =
        SameFromEnd(dot->operand(o)->shape(), rows->shape(), k[0]);
    if (whole_k < 0) continue;
    p->of_x = o;
    p->x = rows->operand(0);
    p->at.assign(rows->dimensions().begin(), rows->dimensions().end());
    p->k = p->at[whole_k];
    p->turned = true;
    return true;
  }
  p->of_x = dot->operand(0)->shape().rank() > 2 ? 0 : 1;
  p->x = dot->operand(p->of_x);
  p->at.resize(p->rank());
  std::iota(p->at.begin(), p->at.end(), 0);
  p->k =
      p->of_x == 0 ? p->attrs.lhs_contracting[0] : p->attrs.rhs_contracting[0];
  return p->rank() > 2;
}

bool Take(Instruction* dot, const IsMoving& moves, Parts* p) {
  p->attrs = dot->attrs<DotAttrs>();
  if (!p->attrs.lhs_batch.empty() || p->attrs.lhs_contracting.size() != 1 ||
      !p->attrs.sparsity.empty() || !TakeArray(dot, moves, p)) {
    return false;
  }
  p->matrix = dot->operand(1 - p->of_x);
  if (p->matrix->shape().rank() != 2) return false;
  p->matrix_k =
      p->of_x == 0 ? p->attrs.rhs_contracting[0] : p->attrs.lhs_contracting[0];
  p->columns = p->matrix->shape().dim(static_cast<int>(1 - p->matrix_k));
  p->shape = &dot->shape();
  return true;
}

// The order of a product whose dimension `place[d]` is x's dimension d, and
// `columns` the matrix's.
DimVector OrderOfResult(const Parts& p, const DimVector& place,
                        int64_t columns) {
  DimVector order;
  for (const int64_t d : p.at) {
    if (d != p.k) order.push_back(place[d]);
  }
  order.insert(p.of_x == 0 ? order.end() : order.begin(), columns);
  return order;
}

Instruction* Add(Instruction* dot, const DimVector& dims, Instruction* left,
                 Instruction* right, const DotAttrs& attrs) {
  Instruction* product =
      dot->parent()->Add(Opcode::kDot, Shape::Array(dot->shape().type(), dims),
                         {left, right}, attrs);
  product->set_metadata(dot->shared_metadata());
  return product;
}

// The minor dimension is contracted: rows as they lie.
ProductPlanes OfRows(Instruction* dot, Parts p) {
  p.attrs.lhs_contracting = {p.k};
  p.attrs.rhs_contracting = {p.matrix_k};
  auto& precision = p.attrs.precision.operands;
  if (p.of_x == 1 && precision.size() == 2) {
    std::swap(precision[0], precision[1]);
  }
  DimVector dims = p.x->shape().dims(), place(p.rank());
  dims.back() = p.columns;
  std::iota(place.begin(), place.end(), 0);
  return {Add(dot, dims, p.x, p.matrix, p.attrs),
          OrderOfResult(p, place, p.rank() - 1)};
}

// A product for each plane, with what is left of it in the lanes, or the
// matrix's columns.
ProductPlanes OfPlanes(Builder& b, Instruction* dot, Parts p, bool in_lanes) {
  const int members = p.rank() - 2;
  const int64_t kept = p.Kept();
  DimVector order;  // of x: planes, what is contracted, what is kept
  for (int64_t d = 0; d < p.rank(); ++d) {
    if (d != p.k && d != kept) order.push_back(d);
  }
  order.push_back(std::min(p.k, kept));
  order.push_back(std::max(p.k, kept));
  const int64_t x_k = p.k < kept ? members : members + 1;
  DimVector dims = Permuted(p.x->shape().dims(), order), place(p.rank());
  for (int d = 0; d < p.rank(); ++d) place[order[d]] = d;
  const int64_t lanes = p.x->shape().dim(static_cast<int>(kept));
  dims.resize(members);
  DimVector shared = dims;
  for (const int64_t size : p.matrix->shape().dims()) shared.push_back(size);
  Instruction* all = b.Broadcast(p.matrix, shared, {members, members + 1});
  Instruction* x = IsIdentityMapping(order) ? p.x : b.Transpose(p.x, order);
  p.attrs.lhs_batch.resize(members);
  std::iota(p.attrs.lhs_batch.begin(), p.attrs.lhs_batch.end(), 0);
  p.attrs.rhs_batch = p.attrs.lhs_batch;
  p.attrs.lhs_contracting = {members + p.matrix_k};
  p.attrs.rhs_contracting = {x_k};
  if (!in_lanes) std::swap(p.attrs.lhs_contracting, p.attrs.rhs_contracting);
  auto& precision = p.attrs.precision.operands;
  if ((p.of_x == 0) == in_lanes && precision.size() == 2) {
    std::swap(precision[0], precision[1]);
  }
  dims.push_back(in_lanes ? p.columns : lanes);
  dims.push_back(in_lanes ? lanes : p.columns);
  place[kept] = in_lanes ? members + 1 : members;
  Instruction* product =
      Add(dot, dims, in_lanes ? all : x, in_lanes ? x : all, p.attrs);
  return {product, OrderOfResult(p, place, in_lanes ? members : members + 1)};
}

}  // namespace

ProductPlanes MadeOverPlanes(Builder& b, Instruction* dot,
                             const IsMoving& moves, int generation) {
  const ProductPlanes none = {nullptr, {}};
  Parts p;
  if (dot->opcode() != Opcode::kDot || dot->shape().has_layout() ||
      HasControlEdges(*dot) || !Take(dot, moves, &p)) {
    return none;
  }
  const int64_t kept = p.Kept();
  const int64_t lanes = p.x->shape().dim(static_cast<int>(kept));
  DimVector planes;
  for (int64_t d = 0; d < p.rank(); ++d) {
    if (d != p.k && d != kept) {
      planes.push_back(p.x->shape().dim(static_cast<int>(d)));
    }
  }
  const auto bytes = [&](int64_t rows, int64_t columns) {
    DimVector dims = planes;
    dims.push_back(rows);
    dims.push_back(columns);
    return BytesOf(p.shape->type(), dims, generation);
  };
  const bool fuller =
      bytes(p.columns, lanes) <=
      chips::CompilerPolicy("turned_rows_share") *
          (p.turned ? bytes(lanes, p.columns)
                    : BytesOf(p.shape->type(), p.shape->dims(), generation));
  if (kept == p.rank() - 2) {
    // Rows in another order are turned_rows.h's.
    if (!p.turned || p.at.back() == p.rank() - 1) return none;
    return fuller ? OfPlanes(b, dot, std::move(p), true)
                  : OfRows(dot, std::move(p));
  }
  if (lanes < kFewestInLanes) return none;
  const bool in_lanes = fuller || (!p.turned && p.of_x == 1);
  // Part of the lanes would be joined with the planes. (Turned, and turned
  // again by the product of each plane, they are rather put in order.)
  const bool joined = lanes % kLanes != 0 && (in_lanes || !p.turned);
  const bool turns_lanes = p.turned && p.at.back() != p.rank() - 1;
  const bool in_tiles =
      turns_lanes || (p.k == kept - 1 && (p.turned || (p.of_x == 0 && fuller)));
  if (!joined && !(in_tiles && (in_lanes || lanes % kLanes == 0))) return none;
  return OfPlanes(b, dot, std::move(p), in_lanes);
}

}  // namespace ptxla::hlo
