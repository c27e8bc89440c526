#include "hlo_backend/analysis/fusible_reduces.h"

#include <algorithm>

#include "hlo_backend/analysis/monoid.h"
#include "hlo_backend/analysis/product_batch.h"
#include "hlo_backend/analysis/vector_loops.h"

namespace ptxla::hlo {
namespace {

// Of bf16 numbers only what needs no rounding.
bool IsOfF32OrExact(const Instruction& reduce) {
  const Opcode op = *MonoidOf(*reduce.to_apply());
  const PrimitiveType type = reduce.shape().type();
  return type == PrimitiveType::kF32 ||
         (type == PrimitiveType::kBf16 &&
          (op == Opcode::kMaximum || op == Opcode::kMinimum));
}

}  // namespace

bool IsFusibleReduce(const Instruction& reduce) {
  if (reduce.opcode() != Opcode::kReduce || reduce.operand_count() != 2 ||
      !reduce.shape().IsArray() || !HasVectorTypes(reduce)) {
    return false;
  }
  // In a body the start may be a parameter; outside it is the constant itself.
  return reduce.operand(1)->IsConstant() &&
         MonoidOf(*reduce.to_apply()).has_value();
}

const Instruction* StoredReduce(const Instruction& value) {
  if (value.opcode() == Opcode::kReduce) return &value;
  if (value.opcode() != Opcode::kConvert ||
      value.shape().type() != PrimitiveType::kBf16) {
    return nullptr;
  }
  const Instruction& reduce = *value.operand(0);
  const bool only =
      reduce.opcode() == Opcode::kReduce && reduce.shape().IsArray() &&
      reduce.shape().type() == PrimitiveType::kF32 && reduce.user_count() == 1;
  return only ? &reduce : nullptr;
}

bool IsBroadcastAgain(const Instruction& reduce) {
  if (!IsFusibleReduce(reduce) || reduce.dimensions().size() != 1) return false;
  const Shape& rows = reduce.operand(0)->shape();
  const int64_t over = reduce.dimensions()[0];
  if (reduce.user_count() == 0 || !IsOfF32OrExact(reduce)) return false;
  const auto broadcast = [&](const Instruction* user) {
    if (user->opcode() != Opcode::kBroadcast || !user->shape().SameDims(rows)) {
      return false;
    }
    const auto dims = user->dimensions();
    for (int d = 0; d < rows.rank() - 1; ++d) {
      if (dims[d] != d + (d >= over ? 1 : 0)) return false;
    }
    return true;
  };
  const auto all_broadcast = [&](const Instruction& i) {
    return !i.IsRoot() && i.user_count() > 0 &&
           std::all_of(i.users().begin(), i.users().end(), broadcast);
  };
  return !reduce.IsRoot() &&
         std::all_of(reduce.users().begin(), reduce.users().end(),
                     [&](const Instruction* user) {
                       return broadcast(user) ||
                              (user->opcode() == Opcode::kConvert &&
                               all_broadcast(*user));
                     });
}

bool IsReduceOfColumns(const Instruction& reduce) {
  if (!IsFusibleReduce(reduce) ||
      reduce.shape().type() != PrimitiveType::kF32 ||
      reduce.shape().rank() != 1) {
    return false;
  }
  const int64_t last = reduce.operand(0)->shape().rank() - 1;
  const auto dims = reduce.dimensions();
  return last > 0 && static_cast<int64_t>(dims.size()) == last &&
         std::find(dims.begin(), dims.end(), last) == dims.end();
}

bool IsOverLastDimension(const Instruction& reduce) {
  const int64_t last = reduce.operand(0)->shape().rank() - 1;
  return IsFusibleReduce(reduce) && last > 0 &&
         reduce.dimensions().size() == 1 && reduce.dimensions()[0] == last;
}

bool IsRowReduce(const Instruction& i, const Instruction& dot) {
  if (!IsFusibleReduce(i)) return false;
  const Opcode op = *MonoidOf(*i.to_apply());
  const bool logical = i.shape().type() == PrimitiveType::kPred &&
                       (op == Opcode::kAnd || op == Opcode::kOr);
  return (logical || IsOfF32OrExact(i)) &&
         i.operand(0)->shape().SameDims(dot.shape()) &&
         i.dimensions().size() == 1 &&
         i.dimensions()[0] == dot.shape().rank() - 1;
}

bool IsColumnReduce(const Instruction& i, const Instruction& product) {
  const int rank = product.shape().rank();
  if (!IsFusibleReduce(i) || rank < 2 ||
      i.shape().type() != PrimitiveType::kF32 ||
      !i.operand(0)->shape().SameDims(product.shape()) ||
      i.dimensions().size() != static_cast<size_t>(rank - 1)) {
    return false;
  }
  for (int64_t d : i.dimensions()) {
    if (d == rank - 1) return false;
  }
  if (product.opcode() == Opcode::kDot) return ProductBatch(product) == 0;
  const auto& dims = product.attrs<ConvAttrs>().dims;
  return dims.output_feature == rank - 1 && dims.output_batch == rank - 2;
}

bool IsMemberColumnReduce(const Instruction& i, const Instruction& dot) {
  const int rank = dot.shape().rank();
  return dot.opcode() == Opcode::kDot && IsFusibleReduce(i) && rank > 2 &&
         rank == ProductBatch(dot) + 2 &&
         i.shape().type() == PrimitiveType::kF32 &&
         i.operand(0)->shape().SameDims(dot.shape()) &&
         i.dimensions().size() == 1 && i.dimensions()[0] == rank - 2;
}

}  // namespace ptxla::hlo
