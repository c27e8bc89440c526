// Does a walk over a kernel end, and find its copies where they are?
#include "hlo_backend/lowering/custom_calls/step_walker.h"

#include <vector>

#include "chips/chip_spec.h"
#include "gtest/gtest.h"
#include "isa/from_chip_spec.h"
#include "tests/hlo_backend/mosaic/kernel_builder.h"
#include "tests/support/status_matchers.h"

namespace ptxla::lowering {
namespace {

using ::ptxla::testing::KernelBuilder;
using ::ptxla::testing::StatusIs;
using ::testing::HasSubstr;

class StepWalkerTest : public ::testing::Test {
 protected:
  StepWalkerTest()
      : chip_(*chips::ChipSpec::Load("v5e")),
        model_(isa::FromChipSpec(chip_)),
        hbm_(chip_),
        copies_(hbm_, chip_.ici(), chip_.core().clock, /*sharers=*/1) {}

  absl::StatusOr<StepTime> Walk() {
    StepWalker walker(b_.Kernel(), model_, nullptr, &copies_);
    return walker.At({});
  }

  int Semaphores(const std::vector<int64_t>& dims) {
    mosaic::Type semaphore;
    semaphore.name = "!tpu.dma_semaphore";
    semaphore_ = b_.Keep(semaphore);
    return b_.Value(b_.MemRef(dims, semaphore_, "semaphore_mem"));
  }
  // The semaphore at these indices, cut out at once.
  int Cut(int array, const std::vector<int64_t>& index) {
    std::vector<int> operands = {array};
    for (const int64_t i : index) operands.push_back(b_.Constant(i));
    const int cut = b_.Op(
        "tpu.memref_slice", operands,
        b_.MemRef(std::vector<int64_t>(index.size(), 1), semaphore_, "s"));
    return b_.Op("tpu.memref_squeeze", {cut}, b_.MemRef({}, semaphore_, "s"));
  }
  int Array(int64_t rows, const char* space) {
    return b_.Value(b_.MemRef({rows, 1024}, b_.Scalar("f32", 32), space));
  }
  void Start(int64_t rows, int semaphore, std::vector<int> device = {}) {
    std::vector<int> operands = {Array(rows, device.empty() ? "any" : "vmem"),
                                 Array(rows, "vmem"), semaphore};
    operands.insert(operands.end(), device.begin(), device.end());
    b_.Op("tpu.enqueue_dma", operands, nullptr,
          b_.With("operandSegmentSizes",
                  b_.Integers({1, 0, 1, 1, device.empty() ? 0 : 1})));
  }
  void Wait(int64_t rows, int semaphore) {
    b_.Op("tpu.wait_dma2", {semaphore, Array(rows, "any"), Array(rows, "vmem")},
          nullptr, b_.With("operandSegmentSizes", b_.Integers({1, 1, 1, 0})));
  }
  int64_t CyclesOf(Picoseconds time) const {
    return chip_.core().clock.CyclesCeil(time).count();
  }

  const chips::ChipSpec chip_;
  const isa::MachineModel model_;
  const memory::HbmModel hbm_;
  OwnCopies copies_;
  const mosaic::Type* semaphore_ = nullptr;
  KernelBuilder b_;
};

// Each is short; together they go round 10^10 times.
TEST_F(StepWalkerTest, LoopsWithinLoopsAreCountedTogether) {
  b_.Loop(0, 100000, [this] { b_.Loop(0, 100000, [] {}); });
  EXPECT_THAT(Walk().status(), StatusIs(absl::StatusCode::kUnimplemented,
                                        HasSubstr("loops run more than")));
}

// The small copy in front of a large one has another semaphore of the array:
// its bytes end no wait for the large one's.
TEST_F(StepWalkerTest, SemaphoresDifferInAnyOfTheirIndices) {
  const int semaphores = Semaphores({2, 2});
  Start(8, Cut(semaphores, {1, 0}));
  Start(8192, Cut(semaphores, {1, 1}));
  Wait(8, Cut(semaphores, {1, 1}));
  ASSERT_OK_AND_ASSIGN(const StepTime step, Walk());
  EXPECT_GT(step.waits, CyclesOf(hbm_.Busy({Bytes(8192 * 4096)})));
}

TEST_F(StepWalkerTest, TheSecondSemaphoreOfASliceIsTheArraysNext) {
  const int semaphores = Semaphores({4});
  const int upper = b_.Op("tpu.memref_slice", {semaphores, b_.Constant(2)},
                          b_.MemRef({2}, semaphore_, "s"));
  Start(8192, Cut(upper, {1}));
  Wait(8192, Cut(semaphores, {3}));
  ASSERT_OK_AND_ASSIGN(const StepTime step, Walk());
  EXPECT_GT(step.waits, CyclesOf(hbm_.Busy({Bytes(1 << 20)})));
}

// Value ids of neighbours that are a multiple of the links apart.
TEST_F(StepWalkerTest, TwoNeighboursHaveALinkEach) {
  const int semaphores = Semaphores({2});
  const int left = b_.Value(b_.i32());
  for (int k = 1; k < chip_.ici().links; ++k) b_.Value(b_.i32());
  const int right = b_.Value(b_.i32());
  for (const int device : {left, right}) {
    Start(8192, Cut(semaphores, {device == right}), {device});
  }
  for (const int k : {0, 1}) Wait(8192, Cut(semaphores, {k}));
  ASSERT_OK_AND_ASSIGN(const StepTime step, Walk());
  const Picoseconds link = Bytes(8192 * 4096) / chip_.ici().effective_link();
  EXPECT_LT(step.waits, CyclesOf(link) * 3 / 2);
}

}  // namespace
}  // namespace ptxla::lowering
