// reshape(f(reshape(x), reshape(y))) back to the dimensions of x and y, f
// elementwise work that nobody else reads: the work is done on x and y, where
// transposes and products meet it.
//
//   p = f32[4096] reshape(f32[2048,2] x)
//   q = f32[4096] reshape(f32[2048,2] y)
//   f32[2048,2] reshape(subtract(p, q))  ==>  f32[2048,2] subtract(x, y)
//
// Not so between transposes: updates are done in the order of their products on
// purpose (result_products.h).
#include <vector>

#include "hlo_backend/passes/dimension_utils.h"
#include "hlo_backend/passes/simplify/simplify_rules.h"

namespace ptxla::hlo {
namespace {

constexpr int kMostOfWork = 32;  // operations of f

// The work before `last_`, a reshape.
class UndoneWork {
 public:
  explicit UndoneWork(const Instruction& last) : last_(last) {}

  // Can `value` be made as it is behind `last_`, without moving anything?
  bool Covers(const Instruction& value) {
    if (IsUndone(value)) return moves_ = true;
    if (IsSplat(value)) return true;
    if (!value.IsElementwise() || value.operand_count() == 0 ||
        value.user_count() != 1 || value.IsRoot() ||
        value.shape().has_layout() || !value.control_predecessors().empty() ||
        !value.control_successors().empty() || ++work_ > kMostOfWork) {
      return false;
    }
    for (const Instruction* o : value.operands()) {
      if (!o->shape().SameDims(value.shape()) || !Covers(*o)) return false;
    }
    return true;
  }
  // Does any array come moved?
  bool moves() const { return moves_; }

  Instruction* Make(Instruction* value, Builder& b) const {
    if (IsUndone(*value)) return value->operand(0);
    const DimVector& dims = last_.shape().dims();
    if (IsSplat(*value)) return b.BroadcastScalar(value->operand(0), dims);
    std::vector<Instruction*> operands;
    for (Instruction* o : value->operands()) operands.push_back(Make(o, b));
    return value->parent()->AddLike(
        *value, Shape::Array(value->shape().type(), dims), operands);
  }

 private:
  static bool IsSplat(const Instruction& value) {
    return value.opcode() == Opcode::kBroadcast &&
           value.operand(0)->shape().IsScalar();
  }
  bool IsUndone(const Instruction& value) const {
    return value.opcode() == Opcode::kReshape &&
           value.operand(0)->shape().SameDims(last_.shape());
  }

  const Instruction& last_;
  int work_ = 0;
  bool moves_ = false;
};

}  // namespace

Instruction* SimplifyUndone(Instruction* i, Rewriter& r) {
  UndoneWork work(*i);
  Instruction* value = i->operand(0);
  return work.Covers(*value) && work.moves() ? work.Make(value, r.builder())
                                             : nullptr;
}

}  // namespace ptxla::hlo
