// Kernels that write a loop's state where they read it.
#include "hlo_backend/ir/loop_state.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "absl/strings/substitute.h"
#include "hlo_backend/ir/fingerprint.h"
#include "hlo_backend/ir/parser.h"
#include "tests/hlo_backend/lowering/bundle_harness.h"
#include "tests/support/status_matchers.h"

namespace ptxla::lowering {
namespace {

// x + c of $0 elements in VMEM: y is the next x, z something else.
std::string Loop(absl::string_view elements) {
  return absl::Substitute(
      R"(HloModule m
b {
  s = (s32[], bf16[$0]{0:T(1024)(128)(2,1)S(1)}, bf16[$0]{0:T(1024)(128)(2,1)S(1)}, bf16[$0]{0:T(1024)(128)(2,1)S(1)}) parameter(0)
  n = s32[] get-tuple-element(s), index=0
  x = bf16[$0]{0:T(1024)(128)(2,1)S(1)} get-tuple-element(s), index=1
  c = bf16[$0]{0:T(1024)(128)(2,1)S(1)} get-tuple-element(s), index=2
  y = bf16[$0]{0:T(1024)(128)(2,1)S(1)} add(x, c)
  z = bf16[$0]{0:T(1024)(128)(2,1)S(1)} add(x, c)
  ROOT t = (s32[], bf16[$0]{0:T(1024)(128)(2,1)S(1)}, bf16[$0]{0:T(1024)(128)(2,1)S(1)}, bf16[$0]{0:T(1024)(128)(2,1)S(1)}) tuple(n, y, c, z)
}
w {
  s = (s32[], bf16[$0]{0:T(1024)(128)(2,1)S(1)}, bf16[$0]{0:T(1024)(128)(2,1)S(1)}, bf16[$0]{0:T(1024)(128)(2,1)S(1)}) parameter(0)
  n = s32[] get-tuple-element(s), index=0
  k = s32[] constant(16)
  ROOT l = pred[] compare(n, k), direction=LT
}
ENTRY e {
  i = (s32[], bf16[$0]{0:T(1024)(128)(2,1)S(1)}, bf16[$0]{0:T(1024)(128)(2,1)S(1)}, bf16[$0]{0:T(1024)(128)(2,1)S(1)}) parameter(0)
  ROOT o = (s32[], bf16[$0]{0:T(1024)(128)(2,1)S(1)}, bf16[$0]{0:T(1024)(128)(2,1)S(1)}, bf16[$0]{0:T(1024)(128)(2,1)S(1)}) while(i), condition=w, body=b
})",
      elements);
}

// The add `name` of that loop's body, executed as an add of two parameters.
int64_t CyclesOf(absl::string_view name, absl::string_view elements) {
  auto loop = hlo::ParseModule(Loop(elements));
  EXPECT_OK(loop.status());
  if (!loop.ok()) return 0;
  const hlo::Instruction* add = nullptr;
  for (const hlo::Computation* c : (*loop)->computations()) {
    for (const hlo::Instruction* i : c->instructions()) {
      if (i->name() == name) add = i;
    }
  }
  HarnessOptions options;
  options.in_vmem = {0, 1, 2};
  options.emit = [&](const KernelContext& context, const hlo::Instruction&) {
    return EmitKernel(context, *add);
  };
  const auto result = CompareKernel(absl::Substitute(R"(HloModule m
ENTRY e {
  a = bf16[$0] parameter(0)
  b = bf16[$0] parameter(1)
  ROOT r = bf16[$0] add(a, b)
})",
                                                     elements),
                                    options);
  EXPECT_OK(result.status());
  return result.ok() ? result->cycles : 0;
}

// Loads wait for the stores before them, which may be to the same array: eight
// registers are loaded at a time, of all operands together (bundles of libtpu
// 0.0.42.1).
TEST(LoopStateTest, IsWrittenInGroupsOfEightLoads) {
  for (const auto& [elements, bundles] :
       {std::pair<const char*, double>{"32768", 49},
        {"262144", 442},
        {"1048576", 1786}}) {
    EXPECT_NEAR(static_cast<double>(CyclesOf("y", elements)) / bundles, 1, 0.12)
        << elements;
  }
}

// A result with a place of its own is as fast as the units are (229 bundles of
// libtpu 0.0.42.1, whether its operands are read again or not).
TEST(LoopStateTest, OtherResultsWaitForNothing) {
  EXPECT_NEAR(static_cast<double>(CyclesOf("z", "262144")) / 229, 1, 0.15);
}

TEST(LoopStateTest, KernelsThatWriteItAreNoOthers) {
  ASSERT_OK_AND_ASSIGN(auto module, hlo::ParseModule(Loop("1024")));
  const hlo::Instruction *y = nullptr, *z = nullptr;
  for (const hlo::Computation* c : module->computations()) {
    for (const hlo::Instruction* i : c->instructions()) {
      if (i->name() == "y") y = i;
      if (i->name() == "z") z = i;
    }
  }
  EXPECT_TRUE(hlo::UpdatesLoopState(*y));
  EXPECT_FALSE(hlo::UpdatesLoopState(*z));
  EXPECT_NE(hlo::KernelFingerprint(*y), hlo::KernelFingerprint(*z));
}

}  // namespace
}  // namespace ptxla::lowering
