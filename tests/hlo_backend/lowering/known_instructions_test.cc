// Fingerprints of kernels are kept while their arrays stay where they are,
// costs wherever those are.
#include "hlo_backend/lowering/known_instructions.h"

#include "gtest/gtest.h"
#include "hlo_backend/ir/computation.h"
#include "hlo_backend/ir/fingerprint.h"
#include "hlo_backend/ir/parser.h"
#include "hlo_backend/passes/memory/memory_space.h"
#include "tests/support/status_matchers.h"

namespace ptxla::lowering {
namespace {

TEST(KnownInstructionsTest, FingerprintsFollowArraysToAnotherMemory) {
  ASSERT_OK_AND_ASSIGN(const auto module, hlo::ParseModule(R"(HloModule m
body {
  a = f32[8,128]{1,0:T(8,128)} parameter(0)
  b = f32[8,128]{1,0:T(8,128)} exponential(a)
  c = f32[8,128]{1,0:T(8,128)} negate(a)
  ROOT t = (f32[8,128]{1,0:T(8,128)}, f32[8,128]{1,0:T(8,128)}) tuple(b, c)
}
ENTRY e {
  p = f32[8,128]{1,0:T(8,128)} parameter(0)
  made = f32[8,128]{1,0:T(8,128)} negate(p)
  f = (f32[8,128]{1,0:T(8,128)}, f32[8,128]{1,0:T(8,128)}) fusion(made), kind=kLoop, calls=body
  x = f32[8,128]{1,0:T(8,128)} get-tuple-element(f), index=0
  y = f32[8,128]{1,0:T(8,128)} get-tuple-element(f), index=1
  ROOT r = f32[8,128]{1,0:T(8,128)} add(x, y)
})"));
  hlo::Instruction* made = module->entry()->parameter(0)->users()[0];
  hlo::Instruction* fusion = made->users()[0];
  KnownInstructions known;
  hlo::CostAnalysis costs;
  const auto check_all = [&] {
    for (const hlo::Instruction* i : module->entry()->instructions()) {
      EXPECT_EQ(known.FingerprintOf(*i), hlo::KernelFingerprint(*i))
          << i->name();
      EXPECT_EQ(known.CostOf(*i, &costs).bytes_accessed,
                costs.Of(*i).bytes_accessed)
          << i->name();
    }
  };
  check_all();
  const uint64_t in_hbm = known.FingerprintOf(*fusion);
  hlo::SetMemorySpace(made, -1, hlo::kMemoryVmem);
  check_all();
  hlo::SetMemorySpace(fusion, 1, hlo::kMemoryVmem);
  check_all();
  EXPECT_NE(known.FingerprintOf(*fusion), in_hbm);
  hlo::SetMemorySpace(made, -1, hlo::kMemoryHbm);
  hlo::SetMemorySpace(fusion, 1, hlo::kMemoryHbm);
  check_all();
  EXPECT_EQ(known.FingerprintOf(*fusion), in_hbm);
}

TEST(KnownInstructionsTest, NothingIsKnownOfAModuleThatHasChanged) {
  ASSERT_OK_AND_ASSIGN(const auto module, hlo::ParseModule(R"(HloModule m
ENTRY e {
  p = f32[8,128] parameter(0)
  q = f32[8,128] parameter(1)
  ROOT r = f32[8,128] add(p, q)
})"));
  hlo::Instruction* add = module->entry()->root();
  KnownInstructions known;
  const uint64_t two_arrays = known.FingerprintOf(*add);
  add->ReplaceOperand(1, add->operand(0));
  known.Clear();
  EXPECT_NE(known.FingerprintOf(*add), two_arrays);
}

}  // namespace
}  // namespace ptxla::lowering
