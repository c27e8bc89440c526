#include "hlo_backend/passes/layout/product_planes.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "chips/compiler_policy.h"
#include "hlo_backend/analysis/tiled_layout.h"
#include "hlo_backend/passes/control_edges.h"
#include "hlo_backend/passes/dimension_utils.h"
#include "hlo_backend/passes/layout/dimension_order.h"
#include "hlo_backend/passes/layout/transposed.h"
#include "hlo_backend/passes/products/swapped_dot.h"

namespace ptxla::hlo {
namespace {

// Orders of the right operand's free dimensions are tried one by one.
constexpr size_t kMostFree = 4;
// Of the work behind a product, as many instructions are asked.
constexpr size_t kLargestWork = 64;

bool DropsUnitDims(const Instruction& i) {
  return i.opcode() == Opcode::kReshape &&
         DropUnitDims(i.shape().dims()) ==
             DropUnitDims(i.operand(0)->shape().dims());
}

// All that is made of the product takes its dimensions in any order.
bool GoesOnInAnyOrder(const Instruction& dot) {
  std::vector<const Instruction*> work = {&dot};
  absl::flat_hash_set<const Instruction*> met = {&dot};
  for (size_t k = 0; k < work.size(); ++k) {
    if (k == kLargestWork) return false;
    if (work[k]->IsRoot()) return false;
    for (const Instruction* u : work[k]->users()) {
      if (u->opcode() == Opcode::kTranspose || u->opcode() == Opcode::kReduce) {
        continue;
      }
      const bool goes_on = (u->IsElementwise() && !HasControlEdges(*u)) ||
                           u->opcode() == Opcode::kSlice || DropsUnitDims(*u);
      if (!goes_on) return false;
      if (met.insert(u).second) work.push_back(u);
    }
  }
  return true;
}

DimVector Joined(DimVector a, const DimVector& b, const DimVector& c) {
  a.insert(a.end(), b.begin(), b.end());
  a.insert(a.end(), c.begin(), c.end());
  return a;
}

DimVector Range(int64_t from, int64_t size) {
  DimVector dims(size);
  std::iota(dims.begin(), dims.end(), from);
  return dims;
}

Shape ShapeInOrder(const Shape& shape, const DimVector& order) {
  return Shape::Array(shape.type(), Permuted(shape.dims(), order));
}

int64_t BytesOf(const Shape& shape, int generation) {
  return TpuBytes(Shape::Array(shape.type(), DropUnitDims(shape.dims())),
                  generation);
}

}  // namespace

ProductPlanes MadeOfPlanes(Builder& b, Instruction* dot, int generation) {
  const ProductPlanes none = {nullptr, {}};
  if (dot->opcode() != Opcode::kDot || dot->shape().has_layout() ||
      dot->shape().rank() < 3 || dot->shape().dims().back() >= kLanes ||
      dot->shape().ElementCount() == 0 || HasControlEdges(*dot)) {
    return none;
  }
  const DotAttrs& attrs = dot->attrs<DotAttrs>();
  Instruction* operand = dot->operand(1);
  const DimVector free =
      Others(operand->shape().rank(), attrs.rhs_batch, attrs.rhs_contracting);
  if (!attrs.sparsity.empty() || free.size() < 2 || free.size() > kMostFree) {
    return none;
  }
  const auto batch = static_cast<int64_t>(attrs.lhs_batch.size());
  const auto columns = static_cast<int64_t>(free.size());
  const int64_t rows = dot->shape().rank() - batch - columns;
  if (rows == 0 || !GoesOnInAnyOrder(*dot)) return none;

  // Dimensions of the product: those of the batch, of the left operand and of
  // the right one.
  const DimVector members = Range(0, batch), left = Range(batch, rows);
  const DimVector as_it_is = Range(batch + rows, columns);
  DimVector right = as_it_is, columns_then, order;
  const bool lies_turned = operand->opcode() == Opcode::kTranspose;
  // What makes the product and what reads it move it as it lies. Of as many
  // bytes planes: sums over them are those of registers.
  using Cost = std::pair<int64_t, bool>;
  Cost least = {2 * BytesOf(dot->shape(), generation) /
                    chips::WholePolicy("reshape_gain"),
                true};
  do {
    const int64_t turned = right == as_it_is || lies_turned
                               ? 0
                               : 2 * BytesOf(operand->shape(), generation);
    for (const DimVector& to :
         {Joined(members, left, right), Joined(members, right, left)}) {
      const Cost cost = {
          turned + 2 * BytesOf(ShapeInOrder(dot->shape(), to), generation),
          right.front() != as_it_is.back()};
      if (cost >= least) continue;
      least = cost;
      columns_then = right;
      order = to;
    }
  } while (std::next_permutation(right.begin(), right.end()));
  if (order.empty()) return none;

  DimVector turn = Range(0, operand->shape().rank());
  for (int64_t k = 0; k < columns; ++k) {
    turn[free[k]] = free[columns_then[k] - batch - rows];
  }
  const DimVector straight = Joined(members, left, columns_then);
  Instruction* product =
      dot->parent()->AddLike(*dot, ShapeInOrder(dot->shape(), straight),
                             {dot->operand(0), Transposed(&b, operand, turn)});
  if (order != straight) {
    product = SwappedDot(product, ShapeInOrder(dot->shape(), order));
  }
  return {product, Inverse(order)};
}

}  // namespace ptxla::hlo
