#include "tests/support/evaluating_executor.h"

#include "tests/runtime/training_loop.h"
#include "tests/support/status_matchers.h"

namespace ptxla::runtime {
namespace {

using ::ptxla::testing::EvaluatingExecutor;
using testing::TrainingLoop;

double Read(TrainingLoop* loop, const lazy::Tensor& tensor) {
  auto value = loop->device()->Read(tensor.lazy().get());
  EXPECT_OK(value);
  return value.ok() ? value->GetDouble(0) : 0;
}

TEST(EvaluatingExecutorTest, TheLossFalls) {
  EvaluatingExecutor executor;
  TrainingLoop loop(&executor, 16);
  ASSERT_OK(loop.Step());
  const double first = Read(&loop, loop.loss());
  EXPECT_NEAR(first, 1.386, 0.3) << "about ln(4) before training";
  for (int i = 0; i < 100; ++i) ASSERT_OK(loop.Step());
  EXPECT_LT(Read(&loop, loop.loss()), 0.1 * first);
  EXPECT_EQ(executor.graphs_planned(), 2);
}

TEST(EvaluatingExecutorTest, ReadingAPendingValueGivesWhatTheBarrierGives) {
  EvaluatingExecutor executor;
  TrainingLoop loop(&executor, 16);
  const lazy::Tensor loss = loop.Trace();
  const double pending = Read(&loop, loss);
  ASSERT_OK(loop.device()->Sync());
  EXPECT_EQ(Read(&loop, loss), pending);
}

TEST(EvaluatingExecutorTest, DropoutDrawsOtherMasksEachStep) {
  EvaluatingExecutor executor;
  TrainingLoop loop(&executor, 16, /*dropout=*/0.5);
  loop.optimizer()->set_learning_rate(0);
  ASSERT_OK(loop.Step());
  const double first = Read(&loop, loop.loss());
  ASSERT_OK(loop.Step());
  EXPECT_NE(Read(&loop, loop.loss()), first);
}

}  // namespace
}  // namespace ptxla::runtime
