#include "hlo_backend/passes/scheduled/shared_parts.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "hlo_backend/ir/parser.h"
#include "tests/support/status_matchers.h"

namespace ptxla::hlo {
namespace {

// Whether two parts, constants of a type, are made once.
bool SharesConstants(const std::string& type, const std::string& first,
                     const std::string& second) {
  auto module = ParseModule(absl::StrCat(
      "HloModule m, is_scheduled=true\nENTRY e {\n  f.part = ", type,
      "[] constant(", first, ")\n  g.part = ", type, "[] constant(", second,
      ")\n  ROOT r = (", type, "[], ", type, "[]) tuple(f.part, g.part)\n}\n"));
  EXPECT_OK(module.status());
  return module.ok() && ShareParts((*module)->entry());
}

TEST(SharedPartsTest, EqualConstantsAreMadeOnce) {
  EXPECT_TRUE(SharesConstants("f32", "0.5", "0.5"));
  EXPECT_TRUE(SharesConstants("c64", "(0.5, 1)", "(0.5, 1)"));
}

TEST(SharedPartsTest, ConstantsThatDifferInTheirLastBitAreBothMade) {
  EXPECT_FALSE(SharesConstants("f32", "1", "1.0000001"));
  EXPECT_FALSE(SharesConstants("f32", "0", "-0"));
  EXPECT_FALSE(SharesConstants("c64", "(0.5, 1)", "(0.5, 2)"));
  EXPECT_FALSE(SharesConstants("s64", "9007199254740993", "9007199254740992"));
}

}  // namespace
}  // namespace ptxla::hlo
