// Does autograd run in the order of PyTorch's engine, and bring gradients to
// shape and type?
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lazy/autograd.h"
#include "lazy/ops.h"

namespace ptxla::lazy {
namespace {

constexpr PrimitiveType kF32 = PrimitiveType::kF32;
constexpr PrimitiveType kBf16 = PrimitiveType::kBf16;

class AutogradOrderTest : public ::testing::Test {
 protected:
  Tensor Leaf(DimVector dims, PrimitiveType type = kF32) {
    Tensor t = Tensor::FromHost(&device_, {type, std::move(dims)},
                                HostValue::Uniform(0, 1, 1));
    t.set_requires_grad(true);
    return t;
  }

  Device device_;
};

TEST_F(AutogradOrderTest, TheLastRecordedBranchAddsFirst) {
  const Tensor x = Leaf({4});
  const Tensor h = ops::Relu(x);
  const Tensor first = ops::Tanh(h);
  const Tensor second = ops::Gelu(h);
  Backward(ops::Sum(ops::Add(first, second), {0}, false));
  // relu's gradient: of gelu (recorded last, run first) + of tanh.
  const Value sum = x.grad().ir().node->operand(0);
  ASSERT_EQ(sum.node->kind(), OpKind::kAdd);
  EXPECT_EQ(sum.node->operand(0).node->kind(), OpKind::kGeluBackward);
  EXPECT_EQ(sum.node->operand(1).node->kind(), OpKind::kMul);
}

TEST_F(AutogradOrderTest, BroadcastDimensionsAreSummed) {
  const Tensor x = Leaf({4, 8}), row = Leaf({8}), column = Leaf({4, 1});
  Tensor y = ops::Add(ops::Add(x, row), column);
  Backward(ops::Sum(y, {0, 1}, false));
  EXPECT_EQ(x.grad().dims(), x.dims());
  EXPECT_EQ(row.grad().dims(), row.dims());
  EXPECT_EQ(column.grad().dims(), column.dims());
}

TEST_F(AutogradOrderTest, GradientsHaveTheTypeOfTheirTensor) {
  const Tensor narrow = Leaf({4}, kBf16), wide = Leaf({4});
  Backward(ops::Sum(ops::Mul(narrow, wide), {0}, false));
  EXPECT_EQ(narrow.grad().type(), kBf16);
  EXPECT_EQ(wide.grad().type(), kF32);
}

TEST_F(AutogradOrderTest, GradientsAccumulateUntilTheyAreCleared) {
  const Tensor x = Leaf({4});
  Backward(ops::Sum(x, {0}, false));
  const Value once = x.grad().ir();
  Backward(ops::Sum(x, {0}, false));
  EXPECT_EQ(x.grad().ir().node->kind(), OpKind::kAdd);
  EXPECT_TRUE(x.grad().ir().node->operand(0) == once);
  x.clear_grad();
  Backward(ops::Sum(x, {0}, false));
  EXPECT_EQ(x.grad().ir().node->kind(), OpKind::kExpand);
}

TEST_F(AutogradOrderTest, NothingIsRecordedWithoutGradients) {
  const Tensor x = Leaf({4});
  const NoGrad no_grad(&device_);
  EXPECT_FALSE(ops::Tanh(x).requires_grad());
}

TEST_F(AutogradOrderTest, UnwantedGradientsAreNotComputed) {
  const Tensor x =
      Tensor::FromHost(&device_, {kF32, {4, 8}}, HostValue::Constant(1));
  const Tensor w = Leaf({16, 8});
  const Tensor y = ops::Linear(x, w, Tensor());
  const int64_t before = device_.tensors_made();
  Backward(y, y.Detach());
  // x^T, its product with the gradient, and the transpose of that.
  EXPECT_EQ(device_.tensors_made() - before, 3);
  EXPECT_FALSE(x.grad().defined());
}

TEST_F(AutogradOrderTest, BackwardOperationsBelongToTheForwardScope) {
  const Tensor x = Leaf({4});
  Tensor y;
  {
    const ScopePusher scope(&device_, "layer.1");
    y = ops::Tanh(x);
  }
  Backward(ops::Sum(y, {0}, false));
  const Origin& origin = x.grad().ir().node->origin();
  EXPECT_EQ(*origin.scope, "layer.1");
  EXPECT_TRUE(origin.backward);
}

TEST_F(AutogradOrderTest, SavedTensorsAreFreedByBackward) {
  const Tensor x = Leaf({4});
  {
    const Tensor loss =
        ops::Sum(ops::Tanh(ops::Gelu(ops::Relu(x))), {0}, false);
    Backward(loss);
  }
  x.clear_grad();
  int live = 0;
  for (LazyTensor* t = device_.first_tensor(); t; t = t->next()) ++live;
  EXPECT_EQ(live, 1);
}

}  // namespace
}  // namespace ptxla::lazy
