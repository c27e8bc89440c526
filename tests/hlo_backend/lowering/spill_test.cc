// Fusions that need more registers than there are: spilled kernels compute the
// same, and spilling is neither free nor done without need.
#include <gtest/gtest.h>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/strings/substitute.h"
#include "base/hash.h"
#include "tests/hlo_backend/lowering/bundle_harness.h"
#include "tests/support/status_matchers.h"

namespace ptxla::lowering {
namespace {

// v1 ... vN one after the other, then a sum of v_k * v_{N+1-k}: all of them are
// alive in the middle.
std::string LongLived(int n, absl::string_view type = "f32",
                      absl::string_view dims = "48,300") {
  std::string f = absl::Substitute(R"(HloModule m
f {
  a = $0[$1] parameter(0)
  b = $0[$1] parameter(1)
  x = f32[$1] convert(a)
  v0 = f32[$1] convert(b)
)",
                                   type, dims);
  for (int k = 1; k <= n; ++k) {
    absl::StrAppend(
        &f, absl::Substitute("  w$0 = f32[$2] tanh(v$1)\n", k, k - 1, dims));
    absl::StrAppend(&f,
                    absl::Substitute("  v$0 = f32[$1] add(w$0, x)\n", k, dims));
  }
  std::string sum = "x";
  for (int k = 1; k <= n; ++k) {
    absl::StrAppend(&f, absl::Substitute("  p$0 = f32[$2] multiply(v$0, v$1)\n",
                                         k, n + 1 - k, dims));
    absl::StrAppend(&f, absl::Substitute("  s$0 = f32[$2] subtract($1, p$0)\n",
                                         k, sum, dims));
    sum = absl::StrCat("s", k);
  }
  absl::StrAppend(&f, absl::Substitute(R"(  ROOT r = $0[$1] convert($2)
}
ENTRY e {
  a = $0[$1] parameter(0)
  b = $0[$1] parameter(1)
  ROOT r = $0[$1] fusion(a, b), kind=kLoop, calls=f
})",
                                       type, dims, sum));
  return f;
}

// A formula of `n` operations on earlier values, any of them, compares and
// selects included; every value nobody read is added up at the end, and that
// sum is reduced too where `reduce`.
std::string RandomFormula(uint64_t seed, int n, bool reduce) {
  uint64_t state = seed;
  const auto draw = [&](int limit) {
    state = HashCombine(state, 7);
    return static_cast<int>(state >> 33) % limit;
  };
  std::string f = R"(HloModule m
g {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT z = f32[] add(x, y)
}
f {
  v0 = f32[40,260] parameter(0)
  h = bf16[40,260] parameter(1)
  c = f32[260] parameter(2)
  v1 = f32[40,260] convert(h)
  v2 = f32[40,260] broadcast(c), dimensions={1}
)";
  std::vector<bool> read(n, false);
  const char* const ops[] = {"add", "subtract", "maximum", "minimum"};
  for (int k = 3; k < n; ++k) {
    const int a = draw(k), b = draw(k);
    read[a] = read[b] = true;
    if (draw(4) == 0) {
      absl::StrAppend(
          &f, absl::Substitute("  q$0 = pred[40,260] compare(v$1, v$2), "
                               "direction=LT\n  v$0 = f32[40,260] "
                               "select(q$0, v$2, v0)\n",
                               k, a, b));
    } else if (draw(3) == 0) {
      absl::StrAppend(
          &f, absl::Substitute("  v$0 = f32[40,260] tanh(v$1)\n", k, a));
    } else {
      absl::StrAppend(&f, absl::Substitute("  v$0 = f32[40,260] $3(v$1, v$2)\n",
                                           k, a, b, ops[draw(4)]));
    }
  }
  std::string sum = "v0";
  for (int k = n - 1; k > 0; --k) {
    if (read[k] && k % 3 != 0) continue;
    absl::StrAppend(
        &f, absl::Substitute("  t$0 = f32[40,260] add($1, v$0)\n", k, sum));
    sum = absl::StrCat("t", k);
  }
  if (reduce) {
    absl::StrAppend(&f, R"(  i = f32[] constant(0)
  r0 = f32[40] reduce()",
                    sum, R"(, i), dimensions={1}, to_apply=g
  o = bf16[40,260] convert(v5)
  ROOT r = (f32[40], bf16[40,260]) tuple(r0, o)
}
ENTRY e {
  a = f32[40,260] parameter(0)
  h = bf16[40,260] parameter(1)
  c = f32[260] parameter(2)
  ROOT r = (f32[40], bf16[40,260]) fusion(a, h, c), kind=kInput, calls=f
})");
  } else {
    absl::StrAppend(&f, "  ROOT r = f32[40,260] copy(", sum, R"()
}
ENTRY e {
  a = f32[40,260] parameter(0)
  h = bf16[40,260] parameter(1)
  c = f32[260] parameter(2)
  ROOT r = f32[40,260] fusion(a, h, c), kind=kLoop, calls=f
})");
  }
  return f;
}

// The sum of `n` operands, every third of them bf16.
std::string ManyOperands(int n) {
  const auto type = [](int k) { return k % 3 == 2 ? "bf16" : "f32"; };
  std::string f = "HloModule m\nf {\n", call = "ENTRY e {\n", args;
  std::string sum;
  for (int k = 0; k < n; ++k) {
    const std::string parameter =
        absl::Substitute("  a$0 = $1[24,200] parameter($0)\n", k, type(k));
    absl::StrAppend(&f, parameter,
                    absl::Substitute("  c$0 = f32[24,200] convert(a$0)\n", k));
    absl::StrAppend(&call, parameter);
    absl::StrAppend(&args, k ? ", a" : "a", k);
    if (k > 0) {
      absl::StrAppend(
          &f, absl::Substitute("  s$0 = f32[24,200] add($1, c$0)\n", k, sum));
    }
    sum = k > 0 ? absl::StrCat("s", k) : "c0";
  }
  return absl::StrCat(f, "  ROOT r = f32[24,200] copy(", sum, ")\n}\n", call,
                      "  ROOT r = f32[24,200] fusion(", args,
                      "), kind=kLoop, calls=f\n}");
}

// `n` sums over dimension `over` of [64,520] with operands of three widths.
std::string ManySums(int n, int over) {
  const int kept = over == 0 ? 520 : 64;
  std::string f = R"(HloModule m
g {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT z = f32[] add(x, y)
}
f {
  v0 = f32[64,520] parameter(0)
  h = bf16[64,520] parameter(1)
  u = u8[64,520] parameter(2)
  b = f32[64,520] convert(h)
  w = f32[64,520] convert(u)
  i = f32[] constant(0)
)";
  std::string roots, types;
  for (int k = 1; k <= n; ++k) {
    absl::StrAppend(&f, absl::Substitute("  v$0 = f32[64,520] $1(v$2, $3)\n", k,
                                         k % 2 ? "subtract" : "maximum", k - 1,
                                         k % 2 ? "b" : "w"));
    absl::StrAppend(&f, absl::Substitute("  r$0 = f32[$1] reduce(v$0, i), "
                                         "dimensions={$2}, to_apply=g\n",
                                         k, kept, over));
    absl::StrAppend(&roots, k > 1 ? ", r" : "r", k);
    absl::StrAppend(&types, k > 1 ? ", " : "", "f32[", kept, "]");
  }
  return absl::StrCat(f, "  ROOT t = (", types, ") tuple(", roots, R"()
}
ENTRY e {
  a = f32[64,520] parameter(0)
  h = bf16[64,520] parameter(1)
  u = u8[64,520] parameter(2)
  ROOT r = ()",
                      types, ") fusion(a, h, u), kind=kInput, calls=f\n}");
}

int64_t SpillsOf(const isa::Kernel& kernel) {
  for (absl::string_view part : absl::StrSplit(kernel.note, ", ")) {
    int64_t n = 0;
    if (absl::ConsumeSuffix(&part, " spills") && absl::SimpleAtoi(part, &n)) {
      return n;
    }
  }
  return 0;
}

chips::ChipSpec WithRegisters(const char* chip, int vregs, int masks = 16) {
  const auto loaded = chips::ChipSpec::Load(chip);
  EXPECT_OK(loaded.status());
  const auto fewer = loaded->WithValue("vreg.count", vregs);
  EXPECT_OK(fewer.status());
  const auto both = fewer->WithValue("mask.count", masks);
  EXPECT_OK(both.status());
  return *both;
}

TEST(SpillTest, AFormulaWithMoreValuesThanRegistersComputesTheSame) {
  for (const char* chip : {"v2", "v4", "v5e", "v6e"}) {
    HarnessOptions options;
    options.chip = chip;
    for (const int n : {40, 100}) {
      const auto result = CompareKernel(LongLived(n), options);
      ASSERT_OK(result.status()) << chip << " " << n;
      const int registers = chip[1] <= '4' ? 32 : 64;
      EXPECT_EQ(SpillsOf(result->kernel) > 0, n > registers)
          << chip << " " << n;
    }
  }
}

TEST(SpillTest, NothingIsSpilledThatFits) {
  for (const char* chip : {"v4", "v6e"}) {
    HarnessOptions options;
    options.chip = chip;
    ASSERT_OK_AND_ASSIGN(const isa::Kernel narrow,
                         KernelOf(LongLived(6), options));
    EXPECT_EQ(SpillsOf(narrow), 0) << narrow.note;
  }
  // 40 values fit 64 registers.
  HarnessOptions options;
  ASSERT_OK_AND_ASSIGN(const isa::Kernel kernel,
                       KernelOf(LongLived(40), options));
  EXPECT_EQ(SpillsOf(kernel), 0) << kernel.note;
}

TEST(SpillTest, RandomFormulasOnFewRegistersComputeTheSame) {
  int spilled = 0;
  for (const char* chip : {"v4", "v6e", "v3", "v2"}) {
    for (uint64_t seed = 1; seed <= 4; ++seed) {
      // Sometimes masks are short, sometimes vectors.
      const chips::ChipSpec spec =
          WithRegisters(chip, 12 + 2 * static_cast<int>(seed), 3);
      HarnessOptions options;
      options.chip = chip;
      options.spec = &spec;
      options.seed = seed;
      options.absolute = 0.02;
      const std::string text = RandomFormula(seed, 60, seed % 2 == 0);
      const auto result = CompareKernel(text, options);
      ASSERT_OK(result.status()) << chip << " " << seed << text;
      spilled += SpillsOf(result->kernel) > 0;
    }
  }
  EXPECT_GE(spilled, 6);
}

TEST(SpillTest, MoreOperandsThanAddressRegisters) {
  for (const char* chip : {"v2", "v4", "v6e"}) {
    HarnessOptions options;
    options.chip = chip;
    EXPECT_OK(CompareKernel(ManyOperands(45), options).status()) << chip;
  }
}

TEST(SpillTest, MoreAccumulatorsThanRegisters) {
  for (const char* chip : {"v3", "v4", "v6e"}) {
    HarnessOptions options;
    options.chip = chip;
    options.absolute = 0.01;
    for (const int over : {0, 1}) {
      const auto result = CompareKernel(ManySums(40, over), options);
      EXPECT_OK(result.status()) << chip << " over " << over;
      if (!result.ok() || chip[1] == '6') continue;
      EXPECT_GT(SpillsOf(result->kernel), 0) << result->kernel.note;
    }
  }
}

TEST(SpillTest, FewerRegistersAreNeverFaster) {
  int64_t last = 0;
  for (const int vregs : {64, 32, 16, 12}) {
    const chips::ChipSpec spec = WithRegisters("v6e", vregs);
    HarnessOptions options;
    options.spec = &spec;
    const auto result = CompareKernel(LongLived(40), options);
    ASSERT_OK(result.status()) << vregs;
    EXPECT_GE(result->cycles, last) << vregs;
    last = result->cycles;
  }
}

TEST(SpillTest, TheAreaIsPartOfTheKernelsVmem) {
  HarnessOptions options;
  options.chip = "v4";
  ASSERT_OK_AND_ASSIGN(const isa::Kernel kernel,
                       KernelOf(LongLived(100), options));
  ASSERT_GT(SpillsOf(kernel), 0);
  // At least 100 values of 4096 bytes less those in registers.
  EXPECT_GE(kernel.scratch_bytes, (100 - 32) * 4096);
  EXPECT_GE(kernel.vmem_bytes, kernel.scratch_offset + kernel.scratch_bytes);
}

}  // namespace
}  // namespace ptxla::lowering
