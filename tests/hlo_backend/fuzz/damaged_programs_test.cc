// Damaged programs: every reader either reads them or says what is wrong; none
// crashes, and what is read keeps its promises (readers.h). Seeded, the same
// on every run; `run_fuzzers` runs the same readers under libFuzzer.
#include <random>

#include "gtest/gtest.h"
#include "hlo_backend/input/module_file.h"
#include "hlo_backend/ir/parser.h"
#include "tests/hlo_backend/fuzz/damage.h"
#include "tests/hlo_backend/fuzz/readers.h"
#include "tests/support/status_matchers.h"

namespace ptxla::hlo {
namespace {

using Reader = Reading (*)(absl::string_view);

void ReadDamaged(Reader read, const std::string& seed, int count) {
  const Reading whole = read(seed);
  ASSERT_TRUE(whole.valid);
  ASSERT_EQ(whole.broken, "");
  std::mt19937 random(20260822);
  int changed = 0, valid = 0, refused = 0;
  for (int i = 0; i < count; ++i) {
    const std::string bytes = Damage(seed, &random);
    const Reading r = read(bytes);
    EXPECT_EQ(r.broken, "") << bytes;
    changed += bytes != seed;
    (r.valid ? valid : refused) += bytes != seed;
  }
  EXPECT_GT(changed, count * 9 / 10) << "little is damaged";
  EXPECT_GT(valid, count / 100) << "no damage is small enough to be read";
  EXPECT_GT(refused, count / 4) << "no damage is large enough to be refused";
}

std::string HloAs(FileFormat format) {
  auto module = ParseModule(kHlo);
  EXPECT_OK(module.status());
  auto bytes = WriteModule(**module, format);
  EXPECT_OK(bytes.status());
  return *bytes;
}

TEST(DamagedProgramsTest, HloText) { ReadDamaged(ReadHloText, kHlo, 3000); }

TEST(DamagedProgramsTest, StableHloText) {
  ReadDamaged(ReadStableHlo, kStableHlo, 3000);
}

TEST(DamagedProgramsTest, BinaryProto) {
  ReadDamaged(ReadProto, HloAs(FileFormat::kModuleProto), 2000);
}

TEST(DamagedProgramsTest, HloProtoByItsContent) {
  ReadDamaged(ReadAnyFile, HloAs(FileFormat::kHloProto), 1000);
}

TEST(DamagedProgramsTest, TextProto) {
  ReadDamaged(ReadAnyFile, HloAs(FileFormat::kModuleTextProto), 500);
}

}  // namespace
}  // namespace ptxla::hlo
