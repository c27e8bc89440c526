#include "lazy/node_checker.h"

#include <algorithm>

namespace ptxla::lazy {

DimVector NodeChecker::Broadcast(const TensorShape& a, const TensorShape& b) {
  const int rank = std::max(a.rank(), b.rank());
  for (int i = 1; i <= rank; ++i) {
    const int64_t x = i <= a.rank() ? a.dim(a.rank() - i) : 1;
    const int64_t y = i <= b.rank() ? b.dim(b.rank() - i) : 1;
    if (x != y && x != 1 && y != 1) {
      Expect(false, "operands do not broadcast");
      return {};
    }
  }
  return BroadcastDims(a.dims(), b.dims());
}

void NodeChecker::ExpectBroadcast(const TensorShape& a, const TensorShape& b,
                                  PrimitiveType type) {
  const DimVector dims = Broadcast(a, b);
  if (!broken_.empty()) return;
  ExpectDims(Out(), dims);
  Expect(Out().type() == type, "the result has another type");
}

void NodeChecker::CheckMovement() {
  const int rank = In(0).rank();
  if (node_.kind() == OpKind::kCast) {
    ExpectDims(Out(), In(0).dims());
    return;
  }
  Expect(Out().type() == In(0).type(), "the result has another type");
  if (node_.kind() == OpKind::kPermute) {
    DimVector sorted = Dims();
    std::sort(sorted.begin(), sorted.end());
    bool permutation = static_cast<int>(sorted.size()) == rank;
    for (int i = 0; permutation && i < rank; ++i) permutation = sorted[i] == i;
    Expect(permutation, "dims is no permutation");
    if (permutation) ExpectDims(Out(), In(0).Transposed(Dims()).dims());
  } else if (node_.kind() == OpKind::kStack) {
    const bool valid =
        Dims().size() == 1 && Dims()[0] >= 0 && Dims()[0] <= rank;
    Expect(valid, "dims is no place for a dimension");
    if (!valid) return;
    DimVector dims = In(0).dims();
    dims.insert(dims.begin() + Dims()[0], 1);
    ExpectDims(Out(), dims);
  } else if (node_.kind() == OpKind::kView) {
    ExpectDims(Out(), Dims());
    Expect(Out().ElementCount() == In(0).ElementCount(),
           "the number of elements changes");
  } else {  // expand
    ExpectDims(Out(), Dims());
    Expect(rank <= Out().rank(), "an expansion cannot drop dimensions");
    if (broken_.empty()) ExpectDims(Out(), Broadcast(In(0), Out()));
  }
}

void NodeChecker::CheckSlice() {
  const auto& slice = node_.attrs<SliceAttrs>();
  const size_t rank = In(0).rank();
  const bool update = node_.kind() == OpKind::kUpdateSlice;
  Expect(slice.starts.size() == rank, "starts does not fit the rank");
  Expect(slice.limits.size() == (update ? 0 : rank),
         "limits does not fit the rank");
  const bool two = node_.operands().size() == 2;
  if (two) Expect(In(1).rank() == In(0).rank(), "operands differ in rank");
  if (!broken_.empty()) return;
  DimVector dims = In(0).dims();
  for (size_t i = 0; i < rank; ++i) {
    const int64_t start = slice.starts[i];
    const int64_t size = update ? In(1).dim(i) : slice.limits[i] - start;
    Expect(
        start >= 0 && size > 0 && start <= dims[i] && size <= dims[i] - start,
        "the slice leaves the array");
    if (node_.kind() == OpKind::kUnselect) {
      Expect(In(1).dim(i) == size, "the update does not fit the slice");
    } else if (!update) {
      dims[i] = size;
    }
  }
  ExpectDims(Out(), dims);
  Expect(Out().type() == In(0).type(), "the result has another type");
  if (two) Expect(In(1).type() == In(0).type(), "the update's type");
}

void NodeChecker::CheckElementwise() {
  const OpKind kind = node_.kind();
  switch (kind) {
    case OpKind::kSqrt:
    case OpKind::kTanh:
    case OpKind::kRelu:
    case OpKind::kGelu:
      ExpectDims(Out(), In(0).dims());
      Expect(Out().type() == In(0).type(), "the result has another type");
      return;
    case OpKind::kThresholdBackward:
    case OpKind::kGeluBackward:
    case OpKind::kLerp:
      ExpectSame(In(0), In(1));
      if (kind == OpKind::kLerp) ExpectScalar(2);
      ExpectDims(Out(), In(0).dims());
      Expect(Out().type() == In(0).type(), "the result has another type");
      return;
    case OpKind::kRsub:
      ExpectScalar(1);
      ExpectScalar(2);
      ExpectDims(Out(), In(0).dims());
      return;
    case OpKind::kNe:
    case OpKind::kLt:
      Expect(In(0).type() == In(1).type(), "operands have different types");
      ExpectBroadcast(In(0), In(1), PrimitiveType::kPred);
      return;
    case OpKind::kWhere:
      Expect(In(0).type() == PrimitiveType::kPred, "the condition's type");
      Expect(In(0).SameDims(In(1)), "operands have different dimensions");
      ExpectSame(In(1), In(2));
      ExpectDims(Out(), In(0).dims());
      Expect(Out().type() == In(1).type(), "the result has another type");
      return;
    case OpKind::kAddcmul:
    case OpKind::kAddcdiv: {
      ExpectScalar(3);
      const DimVector inner = Broadcast(In(1), In(2));
      if (!broken_.empty()) return;
      const PrimitiveType type = PromoteTypes(In(1).type(), In(2).type());
      ExpectBroadcast(In(0), TensorShape(type, inner),
                      PromoteTypes(In(0).type(), type));
      return;
    }
    case OpKind::kBernoulli:
      ExpectScalar(1);
      Expect(hlo::IsFloat(In(0).type()), "a probability is a float");
      Expect(hlo::IsInteger(In(1).type()), "a seed is an integer");
      ExpectDims(Out(), In(0).dims());
      Expect(Out().type() == In(0).type(), "the result has another type");
      return;
    default:  // add, sub, mul, div, pow
      if (node_.operands().size() > 2) ExpectScalar(2);
      ExpectBroadcast(In(0), In(1), PromoteTypes(In(0).type(), In(1).type()));
  }
}

}  // namespace ptxla::lazy
