#include "hlo_backend/passes/memory/prefetch_source.h"

#include <string>

#include "absl/strings/substitute.h"
#include "hlo_backend/ir/computation.h"
#include "hlo_backend/ir/parser.h"
#include "tests/support/status_matchers.h"

namespace ptxla::hlo {
namespace {

// $0: of the module; $1, $2: rows and end of the second part; $3: who else
// reads y.
constexpr char kModule[] = R"(HloModule m, is_scheduled=true$0
first {
  a = f32[64,256]{1,0:T(8,128)} parameter(0)
  ROOT s = f32[32,256]{1,0:T(8,128)} slice(a), slice={[0:32], [0:256]}
}
second {
  a = f32[64,256]{1,0:T(8,128)} parameter(0)
  ROOT s = f32[$1,256]{1,0:T(8,128)} slice(a), slice={[32:$2], [0:256]}
}
ENTRY e {
  p = f32[64,256]{1,0:T(8,128)} parameter(0)
  u = f32[8,256]{1,0:T(8,128)} parameter(1)
  i = s32[] parameter(2)
  y = f32[64,256]{1,0:T(8,128)} negate(p)
  c = (f32[64,256]{1,0:T(8,128)S(1)}, f32[64,256]{1,0:T(8,128)}, u32[]{:S(2)}) copy-start(p)
  whole = f32[64,256]{1,0:T(8,128)S(1)} copy-done(c)
  s0 = ((f32[64,256]{1,0:T(8,128)}), f32[32,256]{1,0:T(8,128)S(1)}, s32[]{:S(2)}) async-start(y), calls=first
  s1 = ((f32[64,256]{1,0:T(8,128)}), f32[$1,256]{1,0:T(8,128)S(1)}, s32[]{:S(2)}) async-start(y), calls=second
  d0 = f32[32,256]{1,0:T(8,128)S(1)} async-done(s0)
  d1 = f32[$1,256]{1,0:T(8,128)S(1)} async-done(s1)
  parts = f32[64,256]{1,0:T(8,128)S(1)} custom-call(d0, d1), custom_call_target="ConcatBitcast"
  view = f32[16384]{0:T(1024)S(1)} bitcast(parts)
  ROOT t = (f32[64,256]{1,0:T(8,128)S(1)}, f32[16384]{0:T(1024)S(1)}) tuple(whole, view)
  $3
}
)";

std::unique_ptr<Module> Parsed(const std::string& header,
                               const std::string& rows, const std::string& end,
                               const std::string& reader) {
  auto module =
      ParseModule(absl::Substitute(kModule, header, rows, end, reader));
  EXPECT_OK(module.status());
  return *std::move(module);
}

Instruction* Named(const Module& module, const std::string& name) {
  for (Instruction* i : module.entry()->instructions()) {
    if (i->name() == name) return i;
  }
  return nullptr;
}

TEST(PrefetchSourceTest, ACopysOperand) {
  const auto m = Parsed("", "32", "64", "");
  EXPECT_EQ(PrefetchSource(*Named(*m, "whole")), Named(*m, "p"));
}

TEST(PrefetchSourceTest, WhatThePartsAreSlicesOf) {
  const auto m = Parsed("", "32", "64", "");
  EXPECT_EQ(PrefetchSource(*Named(*m, "parts")), Named(*m, "y"));
}

TEST(PrefetchSourceTest, PartsThatDoNotReachTheEndAreNoCopy) {
  const auto m = Parsed("", "24", "56", "");
  EXPECT_EQ(PrefetchSource(*Named(*m, "parts")), nullptr);
}

// Whose bytes are brought in pieces: 4 rows of tiles, and 4 more.
TEST(PrefetchSourceTest, WhatThePartsAreBytesOf) {
  ASSERT_OK_AND_ASSIGN(const auto m, ParseModule(R"(
HloModule m, is_scheduled=true
first {
  a = s8[65536]{0:T(1024)} parameter(0)
  ROOT s = s8[32768]{0:T(1024)} slice(a), slice={[0:32768]}
}
second {
  a = s8[65536]{0:T(1024)} parameter(0)
  ROOT s = s8[32768]{0:T(1024)} slice(a), slice={[32768:65536]}
}
ENTRY e {
  y = f32[64,256]{1,0:T(8,128)} parameter(0)
  bytes = s8[65536]{0:T(1024)} bitcast(y)
  s0 = ((s8[65536]{0:T(1024)}), s8[32768]{0:T(1024)S(1)}, s32[]{:S(2)}) async-start(bytes), calls=first
  s1 = ((s8[65536]{0:T(1024)}), s8[32768]{0:T(1024)S(1)}, s32[]{:S(2)}) async-start(bytes), calls=second
  d0 = s8[32768]{0:T(1024)S(1)} async-done(s0)
  d1 = s8[32768]{0:T(1024)S(1)} async-done(s1)
  ROOT parts = f32[64,256]{1,0:T(8,128)S(1)} custom-call(d0, d1), custom_call_target="ConcatBitcast"
})"));
  EXPECT_EQ(PrefetchSource(*Named(*m, "parts")), Named(*m, "y"));
}

// The caller's memory becomes an output's.
TEST(PrefetchSourceTest, AParameterThatIsGivenAwayIsNone) {
  const auto m = Parsed(", input_output_alias={ {0}: (0, {}, may-alias) }",
                        "32", "64", "");
  EXPECT_EQ(PrefetchSource(*Named(*m, "whole")), nullptr);
}

TEST(PrefetchSourceTest, WhatIsUpdatedInPlaceIsNone) {
  const auto m = Parsed("", "32", "64",
                        "w = f32[64,256]{1,0:T(8,128)} "
                        "dynamic-update-slice(y, u, i, i)");
  EXPECT_EQ(PrefetchSource(*Named(*m, "parts")), nullptr);
}

TEST(PrefetchSourceTest, AViewOfTheCopyIsAViewOfTheSource) {
  const auto m = Parsed("", "32", "64", "");
  const Instruction* view = ReadFromSource(Named(*m, "view"));
  ASSERT_NE(view, nullptr);
  EXPECT_EQ(view->operand(0), Named(*m, "y"));
  EXPECT_EQ(view->shape().memory_space(), kMemoryHbm);
}

}  // namespace
}  // namespace ptxla::hlo
