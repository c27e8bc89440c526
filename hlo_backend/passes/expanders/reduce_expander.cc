#include "hlo_backend/passes/expanders/reduce_expander.h"

#include <vector>

#include "hlo_backend/analysis/monoid.h"
#include "hlo_backend/analysis/tiled_layout.h"
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
    Values x(i_->operands().begin(), i_->operands().begin() + arrays_);
    x = shape.rank() == 1 ? ReducedLine(x)
                          : Reduced(x, DimVector(i_->dimensions().begin(),
                                                 i_->dimensions().end()));
    Values start;
    for (int k = 0; k < arrays_; ++k) {
      start.push_back(
          b_.BroadcastScalar(i_->operand(arrays_ + k), x[0]->shape().dims()));
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
  // One row, of what is kept.
  Values Reduced(Values x, DimVector reduced) {
    // Planes stay planes.
    const int rank = x[0]->shape().rank();
    if (!Contains(reduced, rank - 1) && !Contains(reduced, rank - 2)) {
      for (int64_t d : reduced) x = Halved(x, d);
      return x;
    }
    // Where the lanes are reduced beside others, these come first and lie as
    // they do: rows of one element each would be a hundred times as long.
    const int lanes = x[0]->shape().rank() - 1;
    for (int64_t d : reduced) {
      if (d != lanes && Contains(reduced, lanes)) x = Halved(x, d);
    }
    // Reduced elements are rows.
    const DimVector kept = Others(lanes + 1, reduced);
    DimVector order = reduced;
    int64_t rows = 1;
    for (int64_t d : order) rows *= x[0]->shape().dim(static_cast<int>(d));
    order.insert(order.end(), kept.begin(), kept.end());
    const int64_t columns = x[0]->shape().ElementCount() / rows;
    for (Instruction*& array : x) {
      if (!IsIdentityMapping(order)) array = b_.Transpose(array, order);
      array = b_.Reshape(array, {rows, columns});
    }
    return Halved(x, 0);
  }

  // One dimension as rows of 128, and the rest.
  Values ReducedLine(const Values& x) {
    const int64_t size = x[0]->shape().dim(0);
    const int64_t whole = size - size % kLanes;
    if (whole == 0) return Reduced(x, {0});
    Values lines = whole == size ? x : Part(x, 0, 0, whole);
    for (Instruction*& line : lines) {
      line = b_.Reshape(line, {whole / kLanes, kLanes});
    }
    lines = Reduced(lines, {0, 1});
    return whole == size
               ? lines
               : Combined(lines, Reduced(Part(x, 0, whole, size), {0}));
  }

  // Until one element of the dimension is left.
  Values Halved(Values x, int64_t dim) {
    int64_t size = x[0]->shape().dim(static_cast<int>(dim));
    std::vector<Values> rest;
    while (size > 1) {
      const int64_t half = size / 2;
      if (size % 2 != 0) rest.push_back(Part(x, dim, size - 1, size));
      x = Combined(Part(x, dim, 0, half), Part(x, dim, half, 2 * half));
      size = half;
    }
    for (const Values& one : rest) x = Combined(x, one);
    return x;
  }

  Values Part(const Values& x, int64_t dim, int64_t from, int64_t to) {
    Values parts;
    for (Instruction* array : x) {
      DimVector starts(array->shape().rank(), 0);
      DimVector limits(array->shape().dims().begin(),
                       array->shape().dims().end());
      starts[dim] = from;
      limits[dim] = to;
      parts.push_back(b_.Slice(array, starts, limits));
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
