// Two cores that send one another data: each gets what the other one sent.
#include "isa/peer_link.h"

#include <cstring>
#include <vector>

#include "core_fixture.h"
#include "isa/verifier.h"
#include "isa/verify_structure.h"

namespace ptxla::isa {
namespace {

using ::ptxla::testing::StatusIs;
using ::testing::HasSubstr;

constexpr int64_t kBytes = 512;  // of a row

// Each core adds up 512 bytes of its own rows of `in`, sends the sum to the
// other core in its last step, and adds what comes from there.
Kernel SumOfRows(int64_t rows) {
  Kernel k;
  k.name = "sum";
  k.args = {{"in", Space::kHbm, Direction::kIn, rows * 512},
            {"out", Space::kHbm, Direction::kOut, 512}};
  k.grid = {rows};
  k.megacore_dim = 0;
  Window in;
  in.dims = {{1, rows, 512, 512, 0}};
  in.inner_bytes = 512;
  in.slot_bytes = 4096;
  Window out;
  out.arg = 1;
  out.direction = Direction::kOut;
  out.inner_bytes = 512;
  out.slot_bytes = 4096;
  out.slots = 1;
  k.windows = {in, out};
  DmaDescriptor send;
  send.inner_bytes = 4096;
  send.to_peer = true;
  k.descriptors = {send};
  k.num_semaphores = 1;
  k.scratch_bytes = 8192;
  LayoutVmem(&k);
  k.entry = *ParseCode("block \"e\" { { dma.start w0 } }");
  k.step = *ParseCode(
      "when first share { block \"f\" { "
      "{ s1 = sscratch 0 ; v1 = vimm.u32 0x0 } "
      "{ vst [s1], v1 } } } "
      "block \"s\" { { dma.start w0 ; s2 = swin w0 } "
      "{ dma.wait w0 ; s1 = sscratch 0 } { v1 = vld [s2] ; v2 = vld [s1] } "
      "{ v2 = vadd.s32 v1, v2 } { vst [s1], v2 } } "
      "when last share { block \"l\" { "
      "{ s1 = sscratch 0 ; s2 = sscratch 4096 } "
      "{ dma.start.desc d0, s1, s2 } { dma.done.wait sem0, 8192 } "
      "{ v1 = vld [s1] ; v2 = vld [s2] ; s3 = swin w1 } "
      "{ v2 = vadd.s32 v1, v2 } { vst [s3], v2 } } } "
      "block \"o\" { { dma.start w1 } }");
  k.exit = *ParseCode("block \"x\" { { dma.wait w1 } }");
  return k;
}

// `out` has a place for each core.
absl::Status RunBoth(const Kernel& k, std::vector<uint8_t>* in,
                     std::vector<uint8_t>* out) {
  Core first(testing::Wide()), second(testing::Wide());
  return RunCores(k, 2, [&](int c, PeerPort* peer) {
    Core& core = c == 0 ? first : second;
    return core
        .Run(k,
             {{absl::MakeSpan(*in)},
              {absl::MakeSpan(*out).subspan(c * kBytes, kBytes)}},
             c, 2, nullptr, peer)
        .status();
  });
}

TEST(PeerLinkTest, BothCoresHaveTheSumOfBothParts) {
  for (const int64_t rows : {2, 3, 9}) {
    const Kernel k = SumOfRows(rows);
    ASSERT_OK(VerifyStructure(k, testing::Wide()));
    std::vector<uint8_t> in(rows * kBytes), out(2 * kBytes);
    for (int64_t i = 0; i < rows * 128; ++i) {
      const auto x = static_cast<uint32_t>(i / 128 + 1);
      std::memcpy(&in[i * 4], &x, 4);
    }
    ASSERT_OK(RunBoth(k, &in, &out)) << rows;
    for (int core = 0; core < 2; ++core) {
      uint32_t sum;
      std::memcpy(&sum, out.data() + core * kBytes, 4);
      EXPECT_EQ(sum, rows * (rows + 1) / 2) << "core " << core;
    }
  }
}

TEST(PeerLinkTest, AWaitForMoreThanComesIsADeadlock) {
  Kernel k = SumOfRows(4);
  k.step.push_back(*ParseCode("when last share { block \"m\" { "
                              "{ dma.done.wait sem0, 4096 } } }")
                        ->begin());
  std::vector<uint8_t> in(4 * kBytes), out(2 * kBytes);
  EXPECT_THAT(RunBoth(k, &in, &out),
              StatusIs(absl::StatusCode::kInternal,
                       HasSubstr("the other core, which sends nothing more")));
}

TEST(PeerLinkTest, BytesThatNobodyWaitsForAreFound) {
  Kernel k = SumOfRows(4);
  k.step.push_back(*ParseCode("when last share { block \"m\" { "
                              "{ s1 = sscratch 0 ; s2 = sscratch 4096 } "
                              "{ dma.start.desc d0, s1, s2 } "
                              "{ dma.done.wait sem0, 4096 } } }")
                        ->begin());
  std::vector<uint8_t> in(4 * kBytes), out(2 * kBytes);
  EXPECT_THAT(RunBoth(k, &in, &out),
              StatusIs(absl::StatusCode::kInternal,
                       HasSubstr("did not wait for 4096 bytes")));
}

// The other core's deadlock follows from it.
TEST(PeerLinkTest, TheErrorThatComesFirstIsTheOneThatIsTold) {
  const Kernel k = SumOfRows(4);
  std::vector<uint8_t> in(4 * kBytes), out(2 * kBytes);
  Core first(testing::Wide());
  const absl::Status status =
      RunCores(k, 2, [&](int c, PeerPort* peer) -> absl::Status {
        if (c == 1) return absl::InternalError("a broken core");
        return first
            .Run(k,
                 {{absl::MakeSpan(in)},
                  {absl::MakeSpan(out).subspan(0, kBytes)}},
                 c, 2, nullptr, peer)
            .status();
      });
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kInternal,
                               HasSubstr("a broken core")));
}

TEST(PeerLinkTest, CodeForTwoCoresIsRefusedOnOne) {
  const Kernel k = SumOfRows(4);
  EXPECT_THAT(RunCores(k, 1, [](int, PeerPort*) { return absl::OkStatus(); }),
              StatusIs(absl::StatusCode::kInternal,
                       HasSubstr("is of two cores, and runs on 1")));
}

// Nine rows: core 0 has four steps, core 1 five.
TEST(PeerLinkTest, EveryStepMaySendWithinItsCoreButNotToTheOther) {
  MachineModel two = testing::Wide();
  two.cores = 2;
  Kernel within = SumOfRows(9);
  DmaDescriptor local;
  local.inner_bytes = 4096;
  local.semaphore = 1;
  within.descriptors.push_back(local);
  within.num_semaphores = 2;
  within.step.push_back(*ParseCode("block \"c\" { "
                                   "{ s1 = sscratch 0 ; s2 = sscratch 4096 } "
                                   "{ dma.start.desc d1, s1, s2 } "
                                   "{ dma.done.wait sem1, 4096 } }")
                             ->begin());
  EXPECT_OK(VerifyKernel(within, two));
  Kernel across = SumOfRows(9);
  across.step.push_back(*ParseCode("block \"c\" { "
                                   "{ s1 = sscratch 0 ; s2 = sscratch 4096 } "
                                   "{ dma.start.desc d0, s1, s2 } "
                                   "{ dma.done.wait sem0, 8192 } }")
                             ->begin());
  EXPECT_THAT(VerifyKernel(across, two), StatusIs(absl::StatusCode::kInternal,
                                                  HasSubstr("on core 0 and")));
}

TEST(PeerLinkTest, OnlyAKernelOfTwoCoresHasAPeer) {
  Kernel k = SumOfRows(4);
  k.megacore_dim = -1;
  EXPECT_THAT(VerifyStructure(k, testing::Wide()),
              StatusIs(absl::StatusCode::kInternal,
                       HasSubstr("no other core to send to")));
}

}  // namespace
}  // namespace ptxla::isa
