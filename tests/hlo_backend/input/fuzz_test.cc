// Damaged programs: every reader either reads them or says what is wrong; none
// crashes, hangs or grows without bound. Seeded, the same on every run.
#include <random>

#include "gtest/gtest.h"
#include "hlo_backend/input/module_file.h"
#include "hlo_backend/ir/parser.h"
#include "hlo_backend/ir/printer.h"
#include "hlo_backend/ir/verifier.h"
#include "tests/hlo_backend/input/damage.h"
#include "tests/support/status_matchers.h"

namespace ptxla::hlo {
namespace {

void ReadDamaged(const std::string& seed, int count) {
  ASSERT_OK(ReadModule(seed, "seed").status());
  std::mt19937 random(20260822);
  int read = 0;
  for (int i = 0; i < count; ++i) {
    const std::string bytes = Damage(seed, &random);
    const auto file = ReadModule(bytes, "damaged");
    if (!file.ok()) {
      EXPECT_FALSE(file.status().message().empty());
      EXPECT_NE(file.status().code(), absl::StatusCode::kInternal) << bytes;
      continue;
    }
    if (!VerifyModule(*file->module).ok()) continue;
    ++read;
    // What is valid prints, and reads again.
    const std::string once = Print(*file->module);
    EXPECT_OK(ParseModule(once).status()) << once;
    // As StableHLO too, unless it has no form there.
    const auto written = WriteModule(*file->module, FileFormat::kStableHloText);
    if (written.ok()) {
      const auto again = ReadModule(*written, "written");
      EXPECT_OK(again.status()) << once << *written;
    } else {
      EXPECT_EQ(written.status().code(), absl::StatusCode::kUnimplemented);
    }
  }
  EXPECT_GT(read, 0) << "no damage was small enough: the test tests little";
}

TEST(FuzzTest, HloText) { ReadDamaged(kHlo, 3000); }

TEST(FuzzTest, StableHloText) { ReadDamaged(kStableHlo, 3000); }

TEST(FuzzTest, BinaryProto) {
  auto module = ParseModule(kHlo);
  ASSERT_OK(module.status());
  auto bytes = WriteModule(**module, FileFormat::kHloProto);
  ASSERT_OK(bytes.status());
  ReadDamaged(*bytes, 2000);
}

TEST(FuzzTest, TextProto) {
  auto module = ParseModule(kHlo);
  ASSERT_OK(module.status());
  auto bytes = WriteModule(**module, FileFormat::kModuleTextProto);
  ASSERT_OK(bytes.status());
  ReadDamaged(*bytes, 500);
}

}  // namespace
}  // namespace ptxla::hlo
