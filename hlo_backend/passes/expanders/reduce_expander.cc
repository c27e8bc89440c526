#include "hlo_backend/passes/expanders/reduce_expander.h"

#include <vector>

#include "hlo_backend/analysis/monoid.h"
#include "hlo_backend/ir/builder.h"
#include "hlo_backend/passes/dimension_utils.h"
#include "hlo_backend/passes/expanders/expand_each.h"
#include "hlo_backend/passes/simplify/elementwise_body.h"

namespace ptxla::hlo {
namespace {

using Values = std::vector<Instruction*>;

// Floats that are none of the vector units' own.
bool IsForeignFloat(PrimitiveType type) {
  return IsFloat(type) && BitWidth(type) <= 16 && type != PrimitiveType::kBf16;
}

class ReduceExpander {
 public:
  explicit ReduceExpander(Instruction* reduce)
      : i_(reduce), arrays_(reduce->operand_count() / 2), b_(reduce->parent()) {
    b_.set_metadata(reduce->shared_metadata());
  }

  // Null: kernels have it, or it is not elementwise.
  Instruction* Expand() {
    const Shape& shape = i_->operand(0)->shape();
    if (arrays_ == 1 && MonoidOf(*i_->to_apply()).has_value()) {
      if (IsForeignFloat(shape.type())) return In(PrimitiveType::kF32);
      return IsOfMaskPlanes() ? In(PrimitiveType::kS32) : nullptr;
    }
    if (!CanApplyElementwise(*i_->to_apply()) || shape.ElementCount() == 0) {
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
      Instruction* value = b_.Reshape(x[k], result.dims());
      // What TPU compilers narrow is rounded once, behind.
      if (value->shape().type() != result.type()) {
        value = b_.Convert(value, result.type());
      }
      results.push_back(value);
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
    Values operands = x;
    operands.insert(operands.end(), y.begin(), y.end());
    return ApplyElementwise(*i_->to_apply(), operands, x[0]->shape().dims(),
                            i_->parent());
  }

  Instruction* In(PrimitiveType type) {
    Instruction* reduce = b_.Reduce(
        b_.Convert(i_->operand(0), type), b_.Convert(i_->operand(1), type),
        i_->dimensions(), b_.Scalar2(*MonoidOf(*i_->to_apply()), type));
    return b_.Convert(reduce, i_->shape().type());
  }

  // Masks that are combined plane by plane: rows and lanes stay. Kernels store
  // such results as words.
  bool IsOfMaskPlanes() const {
    const Shape& shape = i_->operand(0)->shape();
    const int rank = shape.rank();
    return shape.type() == PrimitiveType::kPred && rank > 2 &&
           !Contains(i_->dimensions(), rank - 1) &&
           !Contains(i_->dimensions(), rank - 2);
  }

  Instruction* i_;
  const int arrays_;
  Builder b_;
};

}  // namespace

absl::StatusOr<bool> ReduceExpanderPass::Run(Module* module,
                                             const PassContext&) {
  return ExpandEach(module, [](Instruction* i) {
    return i->opcode() == Opcode::kReduce ? ReduceExpander(i).Expand()
                                          : nullptr;
  });
}

}  // namespace ptxla::hlo
