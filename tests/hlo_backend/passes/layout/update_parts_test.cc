// Do the parts of an update put what it does where it does?
#include "hlo_backend/passes/layout/update_parts.h"

#include <string>
#include <vector>

#include "absl/strings/substitute.h"
#include "hlo_backend/evaluator/evaluator.h"
#include "hlo_backend/ir/computation.h"
#include "hlo_backend/ir/parser.h"
#include "tests/hlo_backend/passes/same_after_pass.h"
#include "tests/support/status_matchers.h"

namespace ptxla::hlo {
namespace {

void ExpectSame(const std::string& text, int64_t most, int updates) {
  ASSERT_OK_AND_ASSIGN(auto module, ParseModule(text, "m"));
  Computation* entry = module->entry();
  std::vector<Literal> inputs;
  inputs.reserve(entry->parameter_count());
  for (int p = 0; p < entry->parameter_count(); ++p) {
    inputs.push_back(Numbers(entry->parameter(p)->shape(), 11 + p));
  }
  ASSERT_OK_AND_ASSIGN(const Literal expected, Evaluate(*module, inputs));
  Instruction* update = entry->root();
  Instruction* made = UpdateInParts(update, most);
  ASSERT_NE(made, nullptr) << text;
  entry->Replace(update, made);
  entry->RemoveDead();
  int count = 0;
  for (const Instruction* i : entry->PostOrder()) {
    count += i->opcode() == Opcode::kDynamicUpdateSlice ? 1 : 0;
  }
  EXPECT_EQ(count, updates) << text;
  ASSERT_OK_AND_ASSIGN(const Literal actual, Evaluate(*module, inputs));
  EXPECT_EQ(expected.bytes(), actual.bytes()) << text;
}

// Places beyond the end, too, where the update as a whole is moved inside.
TEST(UpdatePartsTest, PlanesAreMostOfTheirRowsAndTheRest) {
  for (const int start : {-3, 0, 2, 40}) {
    ExpectSame(absl::Substitute(R"(HloModule m
ENTRY e {
  x = f32[2,50,300] parameter(0)
  u = f32[2,47,290] parameter(1)
  z = s32[] constant(0)
  i = s32[] constant($0)
  j = s32[] constant(5)
  ROOT r = f32[2,50,300] dynamic-update-slice(x, u, z, i, j)
})",
                                start),
               60000, 2);
  }
}

// A place of eight bits does not hold where later parts begin.
TEST(UpdatePartsTest, NarrowPlacesAreWidened) {
  for (const char* type : {"s8", "u8"}) {
    ExpectSame(absl::Substitute(R"(HloModule m
ENTRY e {
  x = f32[20000] parameter(0)
  u = f32[15000] parameter(1)
  i = $0[] constant(100)
  ROOT r = f32[20000] dynamic-update-slice(x, u, i)
})",
                                type),
               40000, 4);
  }
}

TEST(UpdatePartsTest, LinesAreAsManyPartsAsItTakes) {
  for (const int start : {-3, 17, 9000}) {
    ExpectSame(absl::Substitute(R"(HloModule m
ENTRY e {
  x = f32[20000] parameter(0)
  u = f32[15000] parameter(1)
  i = s32[] constant($0)
  ROOT r = f32[20000] dynamic-update-slice(x, u, i)
})",
                                start),
               40000, 4);
  }
}

TEST(UpdatePartsTest, WhatFitsStays) {
  ASSERT_OK_AND_ASSIGN(auto module, ParseModule(R"(HloModule m
ENTRY e {
  x = f32[50,300] parameter(0)
  u = f32[47,290] parameter(1)
  i = s32[] parameter(2)
  ROOT r = f32[50,300] dynamic-update-slice(x, u, i, i)
})",
                                                "m"));
  EXPECT_EQ(UpdateInParts(module->entry()->root(), 1 << 20), nullptr);
}

TEST(UpdatePartsTest, ALongLineIsReversedInRows) {
  EXPECT_OK(SameAfterPass(R"(HloModule m
ENTRY e {
  x = f32[1100003] parameter(0)
  ROOT r = f32[1100003] reverse(x), dimensions={0}
})",
                          "movement-shaper"));
}

// One window that is added: where it is inside, else nothing changes.
TEST(UpdatePartsTest, OneWindowIsAddedInPlace) {
  for (const int start : {-1, 0, 1, 2, 9}) {
    EXPECT_OK(SameAfterPass(absl::Substitute(R"(HloModule m
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}
ENTRY e {
  x = f32[12,15] parameter(0)
  u = f32[10,12] parameter(1)
  i = s32[2] constant({$0, 2})
  ROOT r = f32[12,15] scatter(x, i, u), update_window_dims={0,1}, inserted_window_dims={}, scatter_dims_to_operand_dims={0,1}, index_vector_dim=0, to_apply=add
})",
                                             start),
                            "gather-canonicalizer"));
  }
}

}  // namespace
}  // namespace ptxla::hlo
