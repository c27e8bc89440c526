#include "memory_model/buffer_assignment.h"

#include <random>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace ptxla::memory {
namespace {

using ::testing::HasSubstr;

BufferRequest Request(int64_t id, int64_t bytes, BufferKind kind,
                      Life life = {0, 0}, int64_t alias_of = -1) {
  BufferRequest r;
  r.id = id;
  r.bytes = Bytes(bytes);
  r.kind = kind;
  r.life = life;
  r.alias_of = alias_of;
  return r;
}

TEST(BufferAssignment, CountsTheFiveNumbers) {
  const std::vector<BufferRequest> requests = {
      Request(1, 1024, BufferKind::kArgument),
      Request(2, 2048, BufferKind::kArgument),
      Request(3, 1024, BufferKind::kOutput, {0, 0}, 1),  // donated
      Request(4, 512, BufferKind::kOutput),
      Request(5, 4096, BufferKind::kTemp, {0, 3}),
      Request(6, 4096, BufferKind::kTemp, {4, 6}),
      Request(7, 1024, BufferKind::kTemp, {2, 5}),
      Request(8, 256, BufferKind::kConstant)};
  const Assignment a = *AssignBuffers(requests, Bytes(1000));
  EXPECT_EQ(a.stats.argument, Bytes(3072));
  EXPECT_EQ(a.stats.output, Bytes(1536));
  EXPECT_EQ(a.stats.alias, Bytes(1024));
  EXPECT_EQ(a.stats.temp, Bytes(5120));
  EXPECT_EQ(a.stats.code, Bytes(1256));
  EXPECT_EQ(a.stats.peak, Bytes(3072 + 1536 - 1024 + 5120 + 1256));
  EXPECT_EQ(a.temp_lower_bound, Bytes(5120));
  EXPECT_EQ(a.peak_position, 2);
  EXPECT_EQ(a.offsets[2], a.offsets[0]);  // the output is its argument
  EXPECT_EQ(a.offsets[4], a.offsets[5]);  // lives that do not meet
}

// As XLA reports it for TPUs: a table takes a slot, what slots waste counts
// twice in the temporary bytes and once in the peak.
TEST(BufferAssignment, TablesAndSlotsOfTemporariesCount) {
  const std::vector<BufferRequest> requests = {
      Request(1, 20480, BufferKind::kTemp, {0, 3}),
      Request(2, 4096, BufferKind::kTemp, {4, 6})};
  constexpr int64_t kSlot = 16384;
  const TempRules rules = {Bytes(kSlot), Bytes(3 * kSlot), Bytes(3 * 512)};
  const MemoryStats stats = AssignBuffers(requests, Bytes(0), {}, rules)->stats;
  const int64_t taken = (2 + 3) * kSlot, alive = 20480 + 3 * 512;
  EXPECT_EQ(stats.fragmentation, Bytes(taken - alive));
  EXPECT_EQ(stats.temp, Bytes(taken + taken - alive));
  EXPECT_EQ(stats.peak, Bytes(taken));
}

TEST(BufferAssignment, TablesAndSingleNumbersAloneTakeNoMemory) {
  std::vector<BufferRequest> requests = {
      Request(1, 512, BufferKind::kTemp, {0, 3})};
  requests[0].scalar = true;
  const TempRules rules = {Bytes(16384), Bytes(16384), Bytes(512)};
  const MemoryStats stats = AssignBuffers(requests, Bytes(0), {}, rules)->stats;
  EXPECT_EQ(stats.temp, Bytes(0));
  EXPECT_EQ(stats.peak, Bytes(0));
}

TEST(BufferAssignment, TemporariesLieAboveWhatIsReservedInTheirLives) {
  std::vector<BufferRequest> requests = {
      Request(1, 1024, BufferKind::kTemp, {0, 4}),
      Request(2, 1024, BufferKind::kTemp, {6, 8})};
  for (BufferRequest& r : requests) r.colour = 1;
  const std::vector<ReservedStart> reserved = {{Bytes(4096), {4, 5}, 1}};
  const Assignment a = *AssignBuffers(requests, Bytes(0), reserved);
  EXPECT_EQ(a.offsets[0], 4096);
  EXPECT_EQ(a.offsets[1], 0);
}

TEST(BufferAssignment, AnAliasKeepsItsBufferAlive) {
  const std::vector<BufferRequest> requests = {
      Request(1, 1024, BufferKind::kTemp, {0, 1}),
      Request(2, 1024, BufferKind::kTemp, {5, 8}, 1),
      Request(3, 1024, BufferKind::kTemp, {3, 4})};
  const Assignment a = *AssignBuffers(requests);
  EXPECT_EQ(a.offsets[0], a.offsets[1]);
  EXPECT_NE(a.offsets[2], a.offsets[0]);
  EXPECT_EQ(a.stats.temp, Bytes(2048));
}

TEST(BufferAssignment, TemporariesLieInOutputsThatAreNotWrittenYet) {
  const std::vector<BufferRequest> requests = {
      Request(1, 2048, BufferKind::kOutput, {5, 5}),
      Request(2, 4096, BufferKind::kOutput, {9, 9}),
      Request(3, 1024, BufferKind::kTemp, {1, 4}),  // in the smaller one
      Request(4, 1024, BufferKind::kTemp, {2, 5}),  // that is written at 5
      Request(5, 1024, BufferKind::kTemp, {3, 8}),  // both are taken
      Request(6, 8192, BufferKind::kTemp, {1, 2}),  // too large
      Request(7, 512, BufferKind::kTemp, {6, 9})};  // read while written
  const Assignment a = *AssignBuffers(requests);
  EXPECT_EQ(a.inside, (std::vector<int>{-1, -1, 0, 1, -1, -1, -1}));
  EXPECT_EQ(a.offsets[2], a.offsets[0]);
  EXPECT_EQ(a.offsets[3], a.offsets[1]);
  EXPECT_GE(a.offsets[4], 2048 + 4096);
  EXPECT_EQ(a.stats.temp, Bytes(8192));
  EXPECT_EQ(a.stats.output, Bytes(6144));
  for (const LiveBuffer& b : LargestAtPeak(requests, a, 9)) {
    EXPECT_NE(b.request, 2);
  }
}

TEST(BufferAssignment, OtherSpacesDoNotCount) {
  std::vector<BufferRequest> requests = {
      Request(1, 1024, BufferKind::kTemp, {0, 1}),
      Request(2, 4096, BufferKind::kTemp, {0, 1})};
  requests[1].colour = 1;
  const Assignment a = *AssignBuffers(requests);
  EXPECT_EQ(a.stats.temp, Bytes(1024));
  EXPECT_EQ(a.offsets[1], 0);
}

TEST(BufferAssignment, NeverBelowTheLowerBoundAndCloseToIt) {
  std::mt19937 random(9);
  std::vector<BufferRequest> requests;
  for (int i = 0; i < 3000; ++i) {
    const int32_t first = random() % 3000;
    const bool forward = random() % 4 == 0;  // an activation kept for backward
    const int32_t last =
        forward ? std::max<int32_t>(first, 6000 - first) : first + random() % 5;
    requests.push_back(Request(i, (random() % 64 + 1) * 4096, BufferKind::kTemp,
                               {first, last}));
  }
  const Assignment a = *AssignBuffers(requests);
  EXPECT_GE(a.stats.temp, a.temp_lower_bound);
  EXPECT_LE(a.stats.temp.count(), 1.10 * a.temp_lower_bound.count());
}

TEST(BufferAssignment, WrongAliasesAreRefused) {
  EXPECT_THAT(AssignBuffers({Request(1, 4, BufferKind::kTemp, {0, 0}, 7)})
                  .status()
                  .message(),
              HasSubstr("alias of 7"));
  EXPECT_THAT(AssignBuffers({Request(1, 4, BufferKind::kTemp),
                             Request(1, 4, BufferKind::kTemp)})
                  .status()
                  .message(),
              HasSubstr("given twice"));
  EXPECT_THAT(AssignBuffers({Request(1, 4, BufferKind::kTemp),
                             Request(2, 8, BufferKind::kTemp, {0, 0}, 1)})
                  .status()
                  .message(),
              HasSubstr("smaller"));
}

TEST(BufferAssignment, TheVerdictIsAgainstUsableMemory) {
  const chips::ChipSpec v5e = *chips::ChipSpec::Load("v5e");
  const double usable = v5e.hbm().usable.count();
  const auto verdict = [&](double fraction) {
    MemoryStats stats;
    stats.peak = Bytes(usable * fraction);
    return CheckFit(stats, v5e);
  };
  EXPECT_EQ(verdict(0.5).verdict, Verdict::kFits);
  EXPECT_EQ(verdict(0.99).verdict, Verdict::kMarginal);
  EXPECT_EQ(verdict(1.01).verdict, Verdict::kMarginal);
  EXPECT_EQ(verdict(1.05).verdict, Verdict::kOutOfMemory);
  EXPECT_GT(verdict(1.05).over, Bytes(0));
  EXPECT_EQ(verdict(0.5).over, Bytes(0));
  EXPECT_EQ(verdict(0.5).usable, v5e.hbm().usable);
}

TEST(BufferAssignment, LargestAtPeakListsWhatIsAlive) {
  const std::vector<BufferRequest> requests = {
      Request(1, 100, BufferKind::kArgument),
      Request(2, 900, BufferKind::kTemp, {0, 1}),
      Request(3, 500, BufferKind::kTemp, {2, 3}),
      Request(4, 800, BufferKind::kTemp, {2, 3}),
      Request(5, 100, BufferKind::kOutput, {0, 0}, 1)};
  const Assignment a = *AssignBuffers(requests);
  const std::vector<LiveBuffer> top = LargestAtPeak(requests, a, 3);
  ASSERT_EQ(top.size(), 3u);
  EXPECT_EQ(top[0].request, 3);
  EXPECT_EQ(top[1].request, 2);
  EXPECT_EQ(top[2].request, 0);
}

}  // namespace
}  // namespace ptxla::memory
