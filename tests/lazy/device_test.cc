// Does the device hand out scalars, seeds and scopes as PyTorch/XLA does?
#include "lazy/device.h"

#include "gtest/gtest.h"
#include "lazy/lowering.h"
#include "lazy/ops.h"
#include "tests/support/status_matchers.h"

namespace ptxla::lazy {
namespace {

constexpr PrimitiveType kF32 = PrimitiveType::kF32;

TEST(DeviceTest, OnlyZeroAndOneAreConstants) {
  Device device;
  EXPECT_EQ(device.Scalar(0, kF32).node->kind(), OpKind::kConstant);
  EXPECT_EQ(device.Scalar(1, kF32).node->kind(), OpKind::kConstant);
  EXPECT_EQ(device.Scalar(0.1, kF32).node->kind(), OpKind::kDeviceData);
}

TEST(DeviceTest, EqualScalarsShareABuffer) {
  Device device;
  const auto data = [](const Value& v) {
    return v.node->attrs<DataAttrs>().data;
  };
  EXPECT_EQ(data(device.Scalar(0.1, kF32)), data(device.Scalar(0.1, kF32)));
  EXPECT_NE(data(device.Scalar(0.1, kF32)), data(device.Scalar(0.2, kF32)));
  EXPECT_NE(data(device.Scalar(0.1, kF32)),
            data(device.Scalar(0.1, PrimitiveType::kBf16)));
}

TEST(DeviceTest, TheScalarInUseOutlivesManyOthers) {
  Device device;
  const DeviceDataPtr kept =
      device.Scalar(0.1, kF32).node->attrs<DataAttrs>().data;
  for (int i = 2; i < 1000; ++i) {
    device.Scalar(i, kF32);
    EXPECT_EQ(device.Scalar(0.1, kF32).node->attrs<DataAttrs>().data, kept);
  }
}

TEST(DeviceTest, EveryRandomOperationStepsTheSeedInTheGraph) {
  Device device;
  const Value first = device.NextSeed();
  const Value second = device.NextSeed();
  EXPECT_EQ(first.node->kind(), OpKind::kAdd);
  EXPECT_EQ(first.node->operand(0).node->attrs<ConstantAttrs>().value, 2531011);
  const Value& product = first.node->operand(1);
  EXPECT_EQ(product.node->operand(0).node->attrs<ConstantAttrs>().value,
            214013);
  EXPECT_EQ(product.node->operand(1).node->kind(), OpKind::kDeviceData);
  EXPECT_TRUE(second.node->operand(1).node->operand(1) == first);
}

TEST(DeviceTest, AScopeNamesTheHloOfItsNodes) {
  Device device;
  const Tensor x =
      Tensor::FromHost(&device, {kF32, {4}}, HostValue::Constant(1), "x");
  Tensor y;
  {
    const ScopePusher outer(&device, "encoder.3");
    const ScopePusher inner(&device, "ffn");
    y = ops::Tanh(x);
  }
  ASSERT_OK_AND_ASSIGN(const auto module, LowerToHlo(MakeGraph({y.ir()}), {}));
  const hlo::Instruction* tanh = module->entry()->root()->operand(0);
  EXPECT_EQ(tanh->metadata().op_name, "encoder.3.ffn/aten__tanh");
  EXPECT_EQ(tanh->metadata().op_type, "aten__tanh");
  EXPECT_EQ(tanh->metadata().source_file, "tests/lazy/device_test.cc");
  EXPECT_GT(tanh->metadata().source_line, 0);
}

TEST(DeviceTest, WithoutAnExecutorABarrierFails) {
  Device device;
  EXPECT_THAT(device.Sync(),
              testing::StatusIs(absl::StatusCode::kFailedPrecondition,
                                ::testing::HasSubstr("no executor")));
}

}  // namespace
}  // namespace ptxla::lazy
