// Do in-place updates and views become functional as PyTorch does it?
#include "lazy/tensor.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lazy/ops.h"
#include "lazy/sync.h"

namespace ptxla::lazy {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr PrimitiveType kF32 = PrimitiveType::kF32;

class TensorTest : public ::testing::Test {
 protected:
  Tensor Input(DimVector dims) {
    return Tensor::FromHost(&device_, {kF32, std::move(dims)},
                            HostValue::Uniform(0, 1, 1));
  }
  // A barrier without an executor's work.
  SyncGraph Barrier() {
    SyncGraph sync = CollectSync(&device_);
    FinishSync(sync, MakeOutputBuffers(&device_, sync));
    return sync;
  }
  int Count(const Graph& graph, OpKind kind) {
    int n = 0;
    for (const Node* node : graph.nodes) n += node->kind() == kind;
    return n;
  }

  Device device_;
};

TEST_F(TensorTest, ABarrierWritesTheLiveTensorsOldestFirst) {
  const Tensor x = Input({4});
  const Tensor y = ops::Tanh(x);
  ops::Tanh(y);  // dies at once
  const Tensor z = ops::Relu(x);
  const SyncGraph sync = Barrier();
  ASSERT_EQ(sync.tensors.size(), 2u);
  EXPECT_EQ(sync.tensors[0], y.lazy());
  EXPECT_EQ(sync.tensors[1], z.lazy());
  EXPECT_NE(y.lazy()->data(), nullptr);
  EXPECT_THAT(Barrier().tensors, IsEmpty());
}

TEST_F(TensorTest, AnUpdatedTensorDonatesItsOldBuffer) {
  const Tensor x = Input({4});
  const Tensor y = Input({4});
  ops::MulInPlace(x, 0.5);
  ops::AddInPlace(x, y, 1);
  const SyncGraph sync = Barrier();
  // Parameters in order of first use: last operands first, so the addend y,
  // then the factor, then x.
  ASSERT_EQ(sync.graph.parameters.size(), 3u);
  EXPECT_THAT(sync.donors, ElementsAre(2));
  ops::MulInPlace(x, 0.5);
  EXPECT_EQ(Barrier().donors.size(), 1u) << "the new buffer is donated in turn";
}

TEST_F(TensorTest, ReadingDonatesNothing) {
  const Tensor x = Input({4});
  ops::MulInPlace(x, 0.5);
  EXPECT_THAT(CollectTensors({x.lazy().get()}).donors, IsEmpty());
}

TEST_F(TensorTest, TheBaseOfALiveViewIsWrittenToo) {
  const Tensor x = Input({4, 8});
  Tensor view = ops::T(ops::Tanh(x));
  EXPECT_EQ(CollectSync(&device_).tensors.size(), 2u);
  view = Tensor();
  EXPECT_EQ(CollectSync(&device_).tensors.size(), 0u);
}

TEST_F(TensorTest, AReshapedCopyHasNoBase) {
  const Tensor x = Input({4, 8});
  const Tensor copy = ops::Reshape(ops::Tanh(x), {32});
  EXPECT_EQ(CollectSync(&device_).tensors.size(), 1u);
}

TEST_F(TensorTest, AViewFollowsItsBase) {
  const Tensor x = Input({4, 8});
  const Tensor view = ops::T(x);
  const Value before = view.ir();
  ops::MulInPlace(x, 0.5);
  const Value after = view.ir();
  EXPECT_FALSE(before == after);
  EXPECT_EQ(after.node->kind(), OpKind::kPermute);
  EXPECT_EQ(after.node->operand(0).node->kind(), OpKind::kMul);
  EXPECT_TRUE(after == view.ir()) << "made again once";
}

TEST_F(TensorTest, ViewsOfAnUpdatedTensorAreMadeAgainStepByStep) {
  // What makes the graph of a real step hold w.t() twice.
  const Tensor w = Input({4, 8});
  ops::MulInPlace(w, 0.5);
  Barrier();
  const Tensor t = ops::T(w);
  const Tensor forward = ops::Mul(t, t);
  const Tensor tt = ops::T(t);
  const Tensor backward = ops::Mul(tt, tt);
  const Graph graph = MakeGraph({forward.ir(), backward.ir()});
  EXPECT_EQ(Count(graph, OpKind::kPermute), 3);
}

TEST_F(TensorTest, ADetachedTensorSharesTheValue) {
  const Tensor x = Input({4});
  const Tensor y = ops::Tanh(x);
  const Tensor d = y.Detach();
  EXPECT_EQ(CollectSync(&device_).tensors.size(), 1u);
  ops::MulInPlace(y, 0.5);
  EXPECT_TRUE(d.ir() == y.ir());
}

TEST_F(TensorTest, LabelsGoFromTheTensorToItsBuffers) {
  const Tensor w = Tensor::FromHost(&device_, {kF32, {4}},
                                    HostValue::Constant(1), "layer.weight");
  ops::MulInPlace(w, 0.5);
  Barrier();
  EXPECT_EQ(w.lazy()->data()->label, "layer.weight");
}

TEST_F(TensorTest, LongChainsAreFreedWithoutRecursion) {
  Tensor x = Input({1});
  for (int i = 0; i < 300000; ++i) {
    x = Tensor::FromValue(&device_,
                          device_.MakeNode(OpKind::kTanh, {x.ir()}, x.shape()));
  }
  x = Tensor();
  EXPECT_EQ(device_.first_tensor(), nullptr);
}

}  // namespace
}  // namespace ptxla::lazy
