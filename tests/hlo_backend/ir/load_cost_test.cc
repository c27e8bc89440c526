// What loading costs grows with the file and no faster: the largest file that
// people have against a small one, in time and memory per byte.
#include <malloc.h>

#include <algorithm>
#include <ctime>

#include "base/files.h"
#include "gtest/gtest.h"
#include "hlo_backend/ir/parser.h"
#include "hlo_backend/ir/verifier.h"
#include "tests/support/shared_files.h"
#include "tests/support/status_matchers.h"

namespace ptxla::hlo {
namespace {

size_t HeapBytes() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

struct LoadCost {
  double seconds = 1e9;  // per byte, the best of a few
  double heap = 0;       // bytes that the module holds, per byte of text
};

LoadCost Load(const std::string& path) {
  LoadCost cost;
  auto text = ReadFile(path);
  EXPECT_OK(text.status());
  if (!text.ok()) return cost;
  const auto size = static_cast<double>(text->size());
  for (int round = 0; round < 3; ++round) {
    const size_t before = HeapBytes();
    // Of this process: other work on the machine does not count.
    const std::clock_t begin = std::clock();
    auto module = ParseModule(*text);
    EXPECT_OK(module.status());
    if (!module.ok()) return cost;
    EXPECT_OK(VerifyModule(**module));
    const double took =
        static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    cost.seconds = std::min(cost.seconds, took / size);
    cost.heap = static_cast<double>(HeapBytes() - before) / size;
  }
  return cost;
}

TEST(LoadCostTest, TheLargestFileCostsNoMorePerByteThanASmallOne) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizer's allocator does not tell what is in use";
#endif
  const auto small = ::ptxla::testing::SharedPath(
      "hlo_corpus/openxla_bench/hlo_llama31_70b_bf16_16x8.hlo");
  const auto large = ::ptxla::testing::SharedPath(
      "hlo_corpus/openxla_bench/hlo_mixtral_8x7b_bf16_1x8.hlo");
  if (!small.ok()) GTEST_SKIP() << small.status();
  if (!large.ok()) GTEST_SKIP() << large.status();
  const LoadCost of_small = Load(*small), of_large = Load(*large);
  // Caches hold the small one: three times is what memory costs. Quadratic
  // work would be twenty times.
  EXPECT_LT(of_large.seconds, 6 * of_small.seconds);
  EXPECT_LT(of_large.heap, 2 * of_small.heap);
  // 3.9 MB of text under 400 MiB, text and all.
  EXPECT_LT(of_large.heap, 100);
}

}  // namespace
}  // namespace ptxla::hlo
