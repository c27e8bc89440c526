#include <algorithm>

#include "lazy/node_checker.h"

namespace ptxla::lazy {

void NodeChecker::CheckReduction() {
  const int rank = In(0).rank();
  const DimVector& dims = Dims();
  for (size_t i = 0; i < dims.size(); ++i) {
    Expect(dims[i] >= 0 && dims[i] < rank, "dims is out of range");
    Expect(std::count(dims.begin(), dims.end(), dims[i]) == 1,
           "dims names a dimension twice");
  }
  Expect(Out().type() == In(0).type(), "the result has another type");
  if (node_.kind() != OpKind::kSum && node_.kind() != OpKind::kMean) {
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

void NodeChecker::CheckNorm() {
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
  const int64_t feature = node_.attrs<BatchNormAttrs>().feature;
  Expect(x.rank() >= 2 && feature >= 0 && feature < x.rank(),
         "the feature dimension is missing");
  ExpectOutputs(forward ? 4 : 3);
  if (!broken_.empty()) return;
  if (!forward) ExpectSame(In(0), x);
  const TensorShape per_feature(In(forward ? 1 : 2).type(),
                                {x.dim(static_cast<int>(feature))});
  for (int i = forward ? 1 : 2; i < 5; ++i) ExpectSame(In(i), per_feature);
  ExpectDims(Out(), x.dims());
  for (int i = 1; i < node_.num_outputs(); ++i) {
    ExpectDims(node_.shape(i), per_feature.dims());
  }
}

void NodeChecker::CheckProduct() {
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

void NodeChecker::CheckIndexing() {
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

void NodeChecker::CheckCollective() {
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

}  // namespace ptxla::lazy
