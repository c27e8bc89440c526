#include "hlo_backend/passes/reduce_expander.h"

#include <vector>

#include "absl/container/flat_hash_map.h"
#include "hlo_backend/analysis/fusion_rules.h"
#include "hlo_backend/ir/builder.h"
#include "hlo_backend/passes/dimension_utils.h"

namespace ptxla::hlo {
namespace {

using Values = std::vector<Instruction*>;

bool IsElementwiseBody(const Computation& body) {
  for (const Instruction* i : body.instructions()) {
    const bool leaf = i->opcode() == Opcode::kParameter ||
                      (i->IsConstant() && i->shape().IsScalar()) ||
                      (i->opcode() == Opcode::kTuple && i->IsRoot());
    if (!leaf && !i->IsElementwise()) return false;
  }
  return true;
}

class Expander {
 public:
  explicit Expander(Instruction* reduce)
      : i_(reduce), arrays_(reduce->operand_count() / 2), b_(reduce->parent()) {
    b_.set_metadata(reduce->shared_metadata());
  }

  // Null: kernels have it, or it is not elementwise.
  Instruction* Expand() {
    const Shape& shape = i_->operand(0)->shape();
    if ((arrays_ == 1 && MonoidOf(*i_->to_apply()).has_value()) ||
        !IsElementwiseBody(*i_->to_apply()) || shape.ElementCount() == 0) {
      return nullptr;
    }
    // Reduced elements are rows.
    const DimVector kept = Others(shape.rank(), i_->dimensions());
    DimVector order(i_->dimensions().begin(), i_->dimensions().end());
    int64_t rows = 1;
    for (int64_t d : order) rows *= shape.dim(static_cast<int>(d));
    order.insert(order.end(), kept.begin(), kept.end());
    const int64_t columns = shape.ElementCount() / rows;
    Values x;
    for (int k = 0; k < arrays_; ++k) {
      Instruction* array = i_->operand(k);
      if (!IsIdentityMapping(order)) array = b_.Transpose(array, order);
      x.push_back(b_.Reshape(array, {rows, columns}));
    }
    std::vector<Values> rest;
    while (rows > 1) {
      const int64_t half = rows / 2;
      if (rows % 2 != 0) rest.push_back(Rows(x, rows - 1, rows));
      x = Combined(Rows(x, 0, half), Rows(x, half, 2 * half));
      rows = half;
    }
    for (const Values& one : rest) x = Combined(x, one);
    Values start;
    for (int k = 0; k < arrays_; ++k) {
      start.push_back(
          b_.BroadcastScalar(i_->operand(arrays_ + k), {1, columns}));
    }
    x = Combined(start, x);
    Values results;
    for (int k = 0; k < arrays_; ++k) {
      const Shape& result =
          i_->shape().IsTuple() ? i_->shape().element(k) : i_->shape();
      results.push_back(b_.Reshape(x[k], result.dims()));
    }
    return i_->shape().IsTuple() ? b_.Tuple(results) : results[0];
  }

 private:
  Values Rows(const Values& x, int64_t from, int64_t to) {
    Values parts;
    for (Instruction* array : x) {
      const int64_t columns = array->shape().dim(1);
      parts.push_back(from == 0 && to == array->shape().dim(0)
                          ? array
                          : b_.Slice(array, {from, 0}, {to, columns}));
    }
    return parts;
  }

  // The body of two lists of arrays of one shape.
  Values Combined(const Values& x, const Values& y) {
    const DimVector dims = x[0]->shape().dims();
    absl::flat_hash_map<const Instruction*, Instruction*> made;
    const Computation& body = *i_->to_apply();
    for (const Instruction* f : body.PostOrder()) {
      if (f->opcode() == Opcode::kParameter) {
        const int n = static_cast<int>(f->parameter_number());
        made[f] = n < arrays_ ? x[n] : y[n - arrays_];
      } else if (f->IsConstant()) {
        made[f] = b_.BroadcastScalar(b_.Constant(f->literal()), dims);
      } else if (f->opcode() != Opcode::kTuple) {
        Values operands;
        for (const Instruction* o : f->operands()) {
          operands.push_back(made.at(o));
        }
        made[f] = i_->parent()->AddLike(
            *f, Shape::Array(f->shape().type(), dims), operands);
      }
    }
    const Instruction* root = body.root();
    if (root->opcode() != Opcode::kTuple) return {made.at(root)};
    Values results;
    for (const Instruction* o : root->operands()) results.push_back(made.at(o));
    return results;
  }

  Instruction* i_;
  const int arrays_;
  Builder b_;
};

}  // namespace

absl::StatusOr<bool> ReduceExpanderPass::Run(Module* module,
                                             const PassContext&) {
  bool changed = false;
  for (Computation* c : module->computations()) {
    for (Instruction* i : c->PostOrder()) {
      if (i->opcode() != Opcode::kReduce) continue;
      Instruction* expanded = Expander(i).Expand();
      if (expanded == nullptr) continue;
      c->Replace(i, expanded);
      changed = true;
    }
  }
  if (changed) module->RemoveUnusedComputations();
  return changed;
}

}  // namespace ptxla::hlo
