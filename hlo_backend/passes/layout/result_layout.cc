#include "hlo_backend/passes/layout/result_layout.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "hlo_backend/analysis/tiled_layout.h"
#include "hlo_backend/ir/computation.h"
#include "hlo_backend/passes/dimension_utils.h"
#include "hlo_backend/passes/products/swapped_dot.h"

namespace ptxla::hlo {
namespace {

// Where `reshape` only adds or drops dimensions of size 1, and those of
// `wanted` are outside: its operand's shape as it lies in `wanted`.
std::optional<Shape> InsideReshape(const Instruction& reshape,
                                   const Shape& wanted, int generation) {
  Shape inside = reshape.operand(0)->shape();
  if (DropUnitDims(inside.dims()) != DropUnitDims(wanted.dims())) return {};
  const DimVector from = NonUnitPositions(wanted.dims());
  const DimVector to = NonUnitPositions(inside.dims());
  Layout order;
  for (int k = 0; k < wanted.rank(); ++k) {
    const int64_t d = wanted.layout().minor_to_major[k];
    const auto at = std::find(from.begin(), from.end(), d);
    if (at == from.end()) continue;
    if (order.minor_to_major.size() != static_cast<size_t>(k)) return {};
    order.minor_to_major.push_back(to[at - from.begin()]);
  }
  for (int64_t d = inside.rank(); d-- > 0;) {
    if (!Contains(to, d)) order.minor_to_major.push_back(d);
  }
  const int space = inside.memory_space();
  inside.set_layout(order);
  inside = WithTpuLayout(inside, generation);
  inside.mutable_layout()->memory_space = space;
  if (inside.layout().tiles != wanted.layout().tiles) return {};
  return inside;
}

// A product of matrices that nobody else wants, transposed: the product of the
// transposed operands, the other one first.
Instruction* TransposedProduct(Instruction* dot, const Shape& wanted,
                               int generation) {
  const auto& a = dot->attrs<DotAttrs>();
  if (dot->shape().rank() != 2 || !a.lhs_batch.empty() || !a.sparsity.empty() ||
      dot->user_count() != 1 ||
      wanted.layout().minor_to_major != DimVector{0, 1}) {
    return nullptr;
  }
  Shape shape = Shape::Array(dot->shape().type(),
                             {dot->shape().dim(1), dot->shape().dim(0)});
  shape.set_layout(Layout::RowMajor(2));
  shape = WithTpuLayout(shape, generation);
  return dot->parent()->Add(Opcode::kBitcast, wanted, {SwappedDot(dot, shape)});
}

}  // namespace

bool IsTransposeBitcast(const Instruction& t, const Shape& y) {
  const Shape& x = t.operand(0)->shape();
  if (x.layout().tiles.size() != y.layout().tiles.size()) return false;
  for (int k = 0; k < x.rank(); ++k) {
    const int64_t d = y.layout().minor_to_major[k];
    if (x.layout().minor_to_major[k] != t.dimensions()[d]) return false;
  }
  return x.layout().tiles == y.layout().tiles;
}

Instruction* WithLayout(Instruction* value, const Shape& wanted,
                        int generation) {
  if (!value->shape().IsArray() || value->shape() == wanted) return value;
  Computation* c = value->parent();
  if (value->opcode() == Opcode::kTranspose &&
      IsTransposeBitcast(*value, wanted)) {
    return c->AddLike(*value, wanted, {value->operand(0)});
  }
  if (value->opcode() == Opcode::kReshape &&
      value->operand(0)->opcode() == Opcode::kTranspose) {
    Instruction* t = value->operand(0);
    const auto inside = InsideReshape(*value, wanted, generation);
    if (inside.has_value() && IsTransposeBitcast(*t, *inside)) {
      Instruction* as_it_lies = c->AddLike(*t, *inside, {t->operand(0)});
      return c->Add(Opcode::kBitcast, wanted, {as_it_lies});
    }
  }
  if (value->opcode() == Opcode::kDot) {
    Instruction* product = TransposedProduct(value, wanted, generation);
    if (product != nullptr) return product;
  }
  return c->Add(Opcode::kCopy, wanted, {value});
}

}  // namespace ptxla::hlo
