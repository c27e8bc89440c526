// f(reshape(x)) where the reshape only adds dimensions of size 1 to work on a
// product with a batch, and what else f reads is there in any shape: the 1s
// come behind, so that transposes further down meet the product.
//
//   s = f32[1,4,1024,2,1024] reshape(f32[4,1024,2,1024] dot(q, k))
//   m = f32[1,4,1024,2,1024] multiply(s, broadcast(scale))
//   ==> reshape(multiply(dot(q, k), broadcast(scale)))
#include <vector>

#include "hlo_backend/passes/dimension_utils.h"
#include "hlo_backend/passes/simplify/simplify_rules.h"

namespace ptxla::hlo {
namespace {

constexpr int kDeepest = 16;  // operations behind the product

bool IsFree(const Instruction& o) {
  return o.shape().IsScalar() || o.opcode() == Opcode::kBroadcast ||
         (o.opcode() == Opcode::kConstant && o.literal().IsSplat());
}

// A product with a batch, and transposes and elementwise work of one array
// behind it.
bool IsOfDot(const Instruction& x) {
  const Instruction* i = &x;
  for (int depth = 0; depth < kDeepest; ++depth) {
    if (i->opcode() == Opcode::kDot) {
      return !i->attrs<DotAttrs>().lhs_batch.empty();
    }
    if (i->opcode() != Opcode::kTranspose && !i->IsElementwise()) return false;
    const Instruction* array = nullptr;
    for (const Instruction* o : i->operands()) {
      if (IsFree(*o) || o == array) continue;
      if (array != nullptr) return false;
      array = o;
    }
    if (array == nullptr) return false;
    i = array;
  }
  return false;
}

}  // namespace

Instruction* SimplifyUnits(Instruction* i, Rewriter& r) {
  if (i->opcode() == Opcode::kCopy || i->shape().has_layout() ||
      !HasUnitDims(i->shape())) {
    return nullptr;
  }
  const DimVector dims = DropUnitDims(i->shape().dims());
  bool of_dot = false;
  for (const Instruction* o : i->operands()) {
    if (IsFree(*o)) continue;
    if (o->opcode() != Opcode::kReshape ||
        o->operand(0)->shape().dims() != dims) {
      return nullptr;
    }
    of_dot = of_dot || IsOfDot(*o->operand(0));
  }
  if (!of_dot) return nullptr;
  Builder& b = r.builder();
  std::vector<Instruction*> operands;
  for (Instruction* o : i->operands()) {
    operands.push_back(o->shape().IsScalar()             ? o
                       : o->opcode() == Opcode::kReshape ? o->operand(0)
                                                         : b.Reshape(o, dims));
  }
  Instruction* value =
      i->parent()->AddLike(*i, Shape::Array(i->shape().type(), dims), operands);
  return b.Reshape(value, i->shape().dims());
}

}  // namespace ptxla::hlo
