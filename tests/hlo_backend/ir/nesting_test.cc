// Text that nests deeper than any program is refused with its place, however
// deep: what reads it calls itself.
#include <string>

#include "absl/strings/str_cat.h"
#include "hlo_backend/ir/parser.h"
#include "tests/support/status_matchers.h"

namespace ptxla::hlo {
namespace {

using ::ptxla::testing::StatusIs;
using ::testing::HasSubstr;

std::string Nested(int levels, const std::string& open,
                   const std::string& inner, const std::string& close) {
  std::string text;
  for (int k = 0; k < levels; ++k) text += open;
  text += inner;
  for (int k = 0; k < levels; ++k) text += close;
  return text;
}

struct Nesting {
  const char *before, *open, *inner, *close, *after;
};

constexpr Nesting kNestings[] = {
    {"HloModule m\nENTRY e { ROOT p = ", "(", "f32[4]", ")",
     " parameter(0) }\n"},
    {"HloModule m, entry_computation_layout={(", "(", "f32[4]", ")",
     ")->f32[4]}\nENTRY e { ROOT p = f32[4] parameter(0) }\n"},
    {"HloModule m\nENTRY e { ROOT p = f32[4] parameter(0), sharding=", "{",
     "replicated", "}", " }\n"},
    {"HloModule m\nENTRY e { ROOT p = ", "b(", "f32[4]", ")",
     " parameter(0) }\n"},
};

TEST(NestingTest, TooDeepIsRefusedWithItsPlace) {
  for (const Nesting& n : kNestings) {
    for (const int levels : {600, 100000}) {
      const std::string text = absl::StrCat(
          n.before, Nested(levels, n.open, n.inner, n.close), n.after);
      EXPECT_THAT(ParseModule(text, "m.hlo").status(),
                  StatusIs(absl::StatusCode::kInvalidArgument,
                           HasSubstr("nest too deep")))
          << n.before;
    }
  }
}

// What is read counts anew with every value.
TEST(NestingTest, ManyValuesSideBySideAreNotDeep) {
  std::string text = "HloModule m\nENTRY e {\n";
  for (int k = 0; k < 2000; ++k) {
    absl::StrAppend(&text, "p", k, " = ((f32[4])) parameter(", k,
                    "), sharding={{replicated}}\n");
  }
  absl::StrAppend(&text, "ROOT r = f32[] constant(0)\n}\n");
  EXPECT_OK(ParseModule(text, "m.hlo").status());
}

}  // namespace
}  // namespace ptxla::hlo
