#include "hlo_backend/passes/layout/in_order.h"

#include <algorithm>
#include <numeric>

#include "hlo_backend/passes/dimension_utils.h"
#include "hlo_backend/passes/layout/dimension_order.h"
#include "hlo_backend/passes/layout/transposed.h"

namespace ptxla::hlo {
namespace {

// The source's dimensions stay in the order of the result's.
Instruction* Broadcast(Builder& b, Instruction* x, const DimVector& order) {
  const DimVector places = Inverse(order);
  DimVector to, from(x->dimensions().size());
  for (const int64_t d : x->dimensions()) to.push_back(places[d]);
  std::iota(from.begin(), from.end(), 0);
  std::sort(from.begin(), from.end(),
            [&](int64_t a, int64_t c) { return to[a] < to[c]; });
  return b.Broadcast(Transposed(&b, x->operand(0), from),
                     Permuted(x->shape().dims(), order), Permuted(to, from));
}

}  // namespace

Instruction* InOrder(Builder& b, Instruction* value, DimVector order) {
  if (value->opcode() == Opcode::kBroadcast) {
    return Broadcast(b, value, order);
  }
  if (value->opcode() == Opcode::kIota) {
    const int64_t d = value->attrs<IotaAttrs>().dimension;
    return b.Iota(Shape::Array(value->shape().type(),
                               Permuted(value->shape().dims(), order)),
                  Inverse(order)[d]);
  }
  return Transposed(&b, value, order);
}

bool IsFreeInOrder(const Instruction& value) {
  return value.opcode() == Opcode::kBroadcast ||
         value.opcode() == Opcode::kIota;
}

}  // namespace ptxla::hlo
