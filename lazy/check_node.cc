#include "lazy/check_node.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "lazy/attributes.h"

namespace ptxla::lazy {
namespace {

// Collects the first broken rule of a node.
class Checker {
 public:
  explicit Checker(const Node& node) : node_(node) {}

  std::string Run();  // "" if all is well

 private:
  const TensorShape& In(int i) const { return node_.operand(i).shape(); }
  const TensorShape& Out() const { return node_.shape(); }
  const DimVector& Dims() const { return node_.attrs<DimsAttrs>().dims; }

  void Expect(bool condition, const char* rule) {
    if (!condition && broken_.empty()) broken_ = rule;
  }
  void ExpectDims(const TensorShape& shape, const DimVector& dims) {
    Expect(shape.dims() == dims, "the result has other dimensions");
  }
  void ExpectOutputs(int n) {
    Expect(node_.num_outputs() == n, "wrong number of results");
  }
  void ExpectScalar(int i) { Expect(In(i).IsScalar(), "not a scalar"); }
  // The broadcast of two shapes; empty and an error when there is none.
  DimVector Broadcast(const TensorShape& a, const TensorShape& b);
  void ExpectSame(const TensorShape& a, const TensorShape& b) {
    Expect(a.SameDims(b), "operands have different dimensions");
    Expect(a.type() == b.type(), "operands have different types");
  }
  void ExpectBroadcast(const TensorShape& a, const TensorShape& b,
                       PrimitiveType type);

  void CheckMovement();
  void CheckSlice();
  void CheckElementwise();
  void CheckReduction();
  void CheckNorm();
  void CheckProduct();
  void CheckIndexing();
  void CheckCollective();

  const Node& node_;
  std::string broken_;
};

DimVector Checker::Broadcast(const TensorShape& a, const TensorShape& b) {
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

void Checker::ExpectBroadcast(const TensorShape& a, const TensorShape& b,
                              PrimitiveType type) {
  const DimVector dims = Broadcast(a, b);
  if (!broken_.empty()) return;
  ExpectDims(Out(), dims);
  Expect(Out().type() == type, "the result has another type");
}

void Checker::CheckMovement() {
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

void Checker::CheckSlice() {
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

void Checker::CheckElementwise() {
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

void Checker::CheckReduction() {
  const int rank = In(0).rank();
  const DimVector& dims = Dims();
  for (size_t i = 0; i < dims.size(); ++i) {
    Expect(dims[i] >= 0 && dims[i] < rank, "dims is out of range");
    Expect(std::count(dims.begin(), dims.end(), dims[i]) == 1,
           "dims names a dimension twice");
  }
  Expect(Out().type() == In(0).type(), "the result has another type");
  if (node_.kind() != OpKind::kSum) {
    Expect(dims.size() == 1, "one dimension is normalised");
    if (node_.operands().size() == 2) ExpectSame(In(0), In(1));
    ExpectDims(Out(), In(0).dims());
    return;
  }
  DimVector kept;
  for (int i = 0; i < rank; ++i) {
    const bool summed = std::count(dims.begin(), dims.end(), i) > 0;
    if (!summed) kept.push_back(In(0).dim(i));
    if (summed && node_.attrs<DimsAttrs>().keepdim) kept.push_back(1);
  }
  ExpectDims(Out(), kept);
}

void Checker::CheckNorm() {
  const OpKind kind = node_.kind();
  if (kind == OpKind::kNllLoss || kind == OpKind::kNllLossBackward) {
    const int at = kind == OpKind::kNllLoss ? 0 : 1;
    Expect(In(at).rank() == 2, "log probabilities are a matrix");
    Expect(In(at + 1).rank() == 1 && hlo::IsInteger(In(at + 1).type()),
           "labels are a vector of integers");
    if (!broken_.empty()) return;
    Expect(In(at + 1).dim(0) == In(at).dim(0), "one label per row");
    if (at == 1) {
      ExpectScalar(0);
      Expect(In(0).type() == In(1).type(), "operands have different types");
    }
    ExpectDims(Out(), at == 0 ? DimVector() : In(1).dims());
    Expect(Out().type() == In(at).type(), "the result has another type");
    return;
  }
  const bool forward = kind == OpKind::kNativeBatchNorm;
  const TensorShape& x = In(forward ? 0 : 1);
  Expect(x.rank() >= 2, "the feature dimension is missing");
  ExpectOutputs(forward ? 4 : 3);
  if (!broken_.empty()) return;
  if (!forward) ExpectSame(In(0), x);
  const TensorShape per_feature(x.type(), {x.dim(1)});
  for (int i = forward ? 1 : 2; i < 5; ++i) ExpectSame(In(i), per_feature);
  ExpectDims(Out(), x.dims());
  for (int i = 1; i < node_.num_outputs(); ++i) {
    ExpectDims(node_.shape(i), per_feature.dims());
  }
}

void Checker::CheckProduct() {
  const int rank = node_.kind() == OpKind::kMatmul ? 3 : 2;
  Expect(In(0).rank() == rank && In(1).rank() == rank, "wrong rank");
  Expect(In(0).type() == In(1).type(), "operands have different types");
  if (!broken_.empty()) return;
  Expect(In(0).dim(rank - 1) == In(1).dim(rank - 2),
         "contracted dimensions differ");
  DimVector dims = In(0).dims();
  dims[rank - 1] = In(1).dim(rank - 1);
  if (rank == 3) Expect(In(0).dim(0) == In(1).dim(0), "batches differ");
  ExpectDims(Out(), dims);
  Expect(Out().type() == In(0).type(), "the result has another type");
  if (node_.kind() == OpKind::kAddmm) {
    Expect(In(2).type() == In(0).type(), "operands have different types");
    Expect(In(2).rank() <= 2, "the bias has too many dimensions");
    if (broken_.empty()) ExpectDims(Out(), Broadcast(In(2), Out()));
  }
}

void Checker::CheckIndexing() {
  const TensorShape& indices = In(1);
  Expect(In(0).rank() >= 1, "a scalar has no rows");
  Expect(hlo::IsInteger(indices.type()), "indices are integers");
  Expect(Out().type() == In(0).type(), "the result has another type");
  if (node_.kind() == OpKind::kIndexSelect) {
    Expect(indices.rank() == 1, "indices are a vector");
    Expect(Dims() == DimVector{0}, "rows are selected along dimension 0");
    if (!broken_.empty()) return;
    DimVector dims = In(0).dims();
    dims[0] = indices.dim(0);
    ExpectDims(Out(), dims);
    return;
  }
  Expect(indices.rank() == 2, "indices are [n, 1]");
  if (!broken_.empty()) return;
  Expect(indices.dim(1) == 1, "indices are [n, 1]");
  DimVector rows = In(0).dims();
  rows[0] = indices.dim(0);
  ExpectSame(In(2), TensorShape(In(0).type(), rows));
  ExpectDims(Out(), In(0).dims());
}

void Checker::CheckCollective() {
  const int n = static_cast<int>(node_.operands().size());
  ExpectOutputs(n);
  if (!broken_.empty()) return;
  for (int i = 0; i < n; ++i) {
    ExpectDims(node_.shape(i), In(i).dims());
    Expect(node_.shape(i).type() == In(i).type(),
           "the result has another type");
    if (i + 1 < n) Expect(In(i).type() == In(0).type(), "types differ");
  }
  ExpectScalar(n - 1);
}

std::string Checker::Run() {
  if (!FitsKind(node_.kind(), static_cast<int>(node_.operands().size()),
                node_.attributes())) {
    return "wrong number of operands or wrong attributes";
  }
  switch (node_.kind()) {
    case OpKind::kDeviceData:
      break;
    case OpKind::kConstant:
      Expect(Out().IsScalar(), "a constant is a scalar");
      break;
    case OpKind::kCast:
    case OpKind::kView:
    case OpKind::kPermute:
    case OpKind::kExpand:
    case OpKind::kStack:
      CheckMovement();
      break;
    case OpKind::kSelect:
    case OpKind::kGenericSlice:
    case OpKind::kUpdateSlice:
    case OpKind::kUnselect:
      CheckSlice();
      break;
    case OpKind::kSum:
    case OpKind::kSoftmax:
    case OpKind::kSoftmaxBackward:
    case OpKind::kLogSoftmax:
    case OpKind::kLogSoftmaxBackward:
      CheckReduction();
      break;
    case OpKind::kNllLoss:
    case OpKind::kNllLossBackward:
    case OpKind::kNativeBatchNorm:
    case OpKind::kNativeBatchNormBackward:
      CheckNorm();
      break;
    case OpKind::kMm:
    case OpKind::kMatmul:
    case OpKind::kAddmm:
      CheckProduct();
      break;
    case OpKind::kIndexSelect:
    case OpKind::kIndexPut:
      CheckIndexing();
      break;
    case OpKind::kCrossReplicaSum:
      CheckCollective();
      break;
    default:
      CheckElementwise();
  }
  const bool many = node_.kind() == OpKind::kCrossReplicaSum ||
                    node_.kind() == OpKind::kNativeBatchNorm ||
                    node_.kind() == OpKind::kNativeBatchNormBackward;
  if (!many) ExpectOutputs(1);
  return broken_;
}

}  // namespace

absl::Status CheckNode(const Node& node) {
  const std::string broken = Checker(node).Run();
  if (broken.empty()) return absl::OkStatus();
  std::string message(OpName(node.kind()));
  for (size_t i = 0; i < node.operands().size(); ++i) {
    absl::StrAppend(&message, i ? ", " : ": operands ",
                    node.operand(i).shape().ToString());
  }
  return absl::InvalidArgumentError(absl::StrCat(message, ": ", broken));
}

}  // namespace ptxla::lazy
