// Text that has to be refused, and where.
#ifndef PTXLA_TESTS_HLO_BACKEND_IR_MALFORMED_H_
#define PTXLA_TESTS_HLO_BACKEND_IR_MALFORMED_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "hlo_backend/ir/parser.h"
#include "hlo_backend/ir/verifier.h"
#include "tests/support/status_matchers.h"

namespace ptxla::hlo {

inline constexpr char kBeforeMalformed[] = R"(
add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] add(a, b) }
one { a = f32[] parameter(0) ROOT r = f32[] negate(a) }
ENTRY main { p = f32[4,6] parameter(0) q = f32[4,5] parameter(1) z = f32[] parameter(2) i = s32[] parameter(3) v = f32[4] parameter(4) t = (f32[4], s32[]) parameter(5) c = c64[4] parameter(6) k = token[] parameter(7) u = u64[2] parameter(8) img = f32[1,8,8,4] parameter(9) w = f32[3,3,4,8] parameter(10) g = s32[2] parameter(11) sq = f32[6,6] parameter(12) f6 = f32[6] parameter(13) x = f32[4] parameter(14)
)";

struct Malformed {
  const char* header;       // attributes of the module
  const char* instruction;  // on line 5; empty: a good one
  const char* message;      // "line:column: ..."
};

// What the reader, or the verifier behind it, says.
inline absl::Status RefusalOf(const Malformed& c) {
  const std::string text = absl::StrCat(
      "HloModule t", c.header[0] != '\0' ? ", " : "", c.header,
      kBeforeMalformed,
      c.instruction[0] != '\0' ? c.instruction : "ROOT r = f32[4] negate(v)",
      "\n}\n");
  auto module = ParseModule(text, "m.hlo");
  return module.ok() ? VerifyModule(**module) : module.status();
}

inline auto IsRefusalOf(const Malformed& c) {
  return ::ptxla::testing::StatusIs(
      absl::StatusCode::kInvalidArgument,
      ::testing::HasSubstr(absl::StrCat("m.hlo:", c.message)));
}

}  // namespace ptxla::hlo

#endif  // PTXLA_TESTS_HLO_BACKEND_IR_MALFORMED_H_
