#include "runtime/trace_counter.h"

#include "gtest/gtest.h"
#include "lazy/autograd.h"
#include "lazy/ops.h"
#include "tests/runtime/counting_executor.h"
#include "tests/runtime/training_loop.h"

namespace ptxla::runtime {
namespace {

using lazy::PrimitiveType;
using lazy::Tensor;

class TraceCounterTest : public ::testing::Test {
 protected:
  TraceCounterTest() : device_(&executor_) {}
  Tensor Input() {
    return Tensor::FromHost(&device_, {PrimitiveType::kF32, {4, 4}},
                            lazy::HostValue::Uniform(0, 1, 1));
  }
  int64_t Of(const PerHostWork<int64_t>& counts, HostWork work) {
    return counts[static_cast<size_t>(work)];
  }
  testing::CountingExecutor executor_;
  lazy::Device device_;
};

TEST_F(TraceCounterTest, ForwardIsRecordedBackwardIsTheEngines) {
  Tensor w = Input();
  w.set_requires_grad(true);
  const Tensor loss = lazy::ops::Sum(lazy::ops::Mul(w, Input()), {0, 1}, false);
  PerHostWork<int64_t> counts = executor_.TakeAll();
  EXPECT_EQ(Of(counts, HostWork::kRecordedCall), 2);
  EXPECT_EQ(Of(counts, HostWork::kEngineCall), 0);
  lazy::Backward(loss);
  counts = executor_.TakeAll();
  EXPECT_EQ(Of(counts, HostWork::kRecordedCall), 0);
  EXPECT_GE(Of(counts, HostWork::kEngineCall), 2);
}

TEST_F(TraceCounterTest, WithoutGradientsACallIsNotRecorded) {
  const Tensor x = Input(), y = Input();
  const lazy::NoGrad no_grad(&device_);
  lazy::ops::Mul(x, y);
  const PerHostWork<int64_t> counts = executor_.TakeAll();
  EXPECT_EQ(Of(counts, HostWork::kCall), 1);
  EXPECT_EQ(Of(counts, HostWork::kRecordedCall), 0);
}

TEST_F(TraceCounterTest, APythonNumberIsALookUpUnlessItIsZeroOrOne) {
  const Tensor x = Input();
  const lazy::NoGrad no_grad(&device_);
  lazy::ops::AddScalar(x, 1);
  EXPECT_EQ(executor_.Take(HostWork::kScalar), 0);
  lazy::ops::AddScalar(x, 0.3);
  EXPECT_EQ(executor_.Take(HostWork::kScalar), 1);
}

TEST_F(TraceCounterTest, SomeInPlaceOperationsHaveAPythonMetaKernel) {
  const Tensor x = Input(), y = Input();
  const lazy::NoGrad no_grad(&device_);
  lazy::ops::MulInPlace(x, 0.5);
  lazy::ops::LerpInPlace(x, y, 0.5);
  const PerHostWork<int64_t> counts = executor_.TakeAll();
  EXPECT_EQ(Of(counts, HostWork::kInPlace), 2);
  EXPECT_EQ(Of(counts, HostWork::kPythonMeta), 1);
}

// The first step makes the optimizer's state, so shapes are new until the
// second one; from then on every hash has been seen.
TEST_F(TraceCounterTest, ARetracedStepInfersNoShapes) {
  testing::TrainingLoop loop(&executor_, 8);
  ASSERT_TRUE(loop.Step().ok());
  const PerHostWork<int64_t> first = executor_.TakeAll();
  EXPECT_GT(Of(first, HostWork::kInferShape), 20);
  ASSERT_TRUE(loop.Step().ok());
  executor_.TakeAll();
  ASSERT_TRUE(loop.Step().ok());
  const PerHostWork<int64_t> third = executor_.TakeAll();
  EXPECT_EQ(Of(third, HostWork::kInferShape), 0);
  // Four parameters of AdamW: mul, lerp, mul, addcmul, addcdiv in place.
  EXPECT_EQ(Of(third, HostWork::kInPlace), 4 * 5);
  EXPECT_EQ(Of(third, HostWork::kPythonMeta), 4 * 3);
}

}  // namespace
}  // namespace ptxla::runtime
