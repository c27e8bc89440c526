#include "hlo_backend/passes/products/scaled_product.h"

#include <vector>

#include "hlo_backend/analysis/tiled_layout.h"
#include "hlo_backend/ir/builder.h"
#include "hlo_backend/ir/computation.h"
#include "hlo_backend/passes/rewriter.h"

namespace ptxla::hlo {
namespace {

// `user` done on `product`, which `reshape` is of; null: it reads other arrays.
Instruction* Before(const Instruction& reshape, Instruction* product,
                    const Instruction& user) {
  const PrimitiveType type = user.shape().type();
  // What is narrower is split for more in lanes that are few.
  const bool narrows = BitWidth(type) < BitWidth(product->shape().type()) &&
                       reshape.shape().dims().back() % kLanes != 0;
  if (!user.IsElementwise() || user.opcode() == Opcode::kCopy || narrows ||
      !user.shape().SameDims(reshape.shape()) ||
      !user.control_predecessors().empty() ||
      !user.control_successors().empty()) {
    return nullptr;
  }
  const DimVector dims(product->shape().dims().begin(),
                       product->shape().dims().end());
  Builder b(product->parent());
  b.set_metadata(user.shared_metadata());
  std::vector<Instruction*> operands;
  for (Instruction* o : user.operands()) {
    Instruction* scalar = BroadcastScalarOf(*o);
    if (o != &reshape && !o->shape().IsScalar() && scalar == nullptr) {
      return nullptr;
    }
    operands.push_back(o == &reshape ? product
                       : o->shape().IsScalar()
                           ? o
                           : b.BroadcastScalar(scalar, dims));
  }
  Instruction* value =
      product->parent()->AddLike(user, Shape::Array(type, dims), operands);
  value->clear_sharding();  // of the user's dimensions
  return value;
}

}  // namespace

void ScaleBeforeSplit(Instruction* reshape) {
  Instruction* value = reshape->operand(0);
  if (value->user_count() != 1 || reshape->shape().rank() == 0 ||
      value->shape().dims().back() == reshape->shape().dims().back()) {
    return;
  }
  while (reshape->user_count() == 1 && !reshape->IsRoot()) {
    Instruction* user = reshape->users()[0];
    Instruction* scaled = Before(*reshape, value, *user);
    if (scaled == nullptr) return;
    Builder b(value->parent());
    b.set_metadata(reshape->shared_metadata());
    Instruction* split = b.Reshape(scaled, user->shape().dims());
    Computation* c = user->parent();
    c->Replace(user, split);
    c->Remove(reshape);
    value = scaled;
    reshape = split;
  }
}

}  // namespace ptxla::hlo
