// Every opcode that compiled kernels use matters: with its semantics changed,
// some kernel's results are no longer the evaluator's.
#include <map>
#include <set>

#include "gtest/gtest.h"
#include "isa/semantics/mutant.h"
#include "tests/hlo_backend/lowering/bundle_harness.h"
#include "tests/support/status_matchers.h"

namespace ptxla::lowering {
namespace {

struct TestKernel {
  const char* hlo;
  double low = -2, high = 2;  // of the parameters
};

const TestKernel kKernels[] = {
    // Arithmetic, comparison, selection; ragged rows and columns.
    {R"(HloModule m
fused {
  a = f32[13,200] parameter(0)
  b = f32[13,200] parameter(1)
  s = f32[13,200] subtract(a, b)
  g = f32[13,200] sign(s)
  m = f32[13,200] multiply(g, a)
  c = pred[13,200] compare(a, b), direction=LT
  x = f32[13,200] maximum(m, b)
  n = f32[13,200] minimum(m, a)
  ROOT r = f32[13,200] select(c, x, n)
}
ENTRY e {
  a = f32[13,200] parameter(0)
  b = f32[13,200] parameter(1)
  ROOT f = f32[13,200] fusion(a, b), kind=kLoop, calls=fused
})"},
    // Transcendental functions and packed bf16.
    {R"(HloModule m
fused {
  a = bf16[24,300] parameter(0)
  f = f32[24,300] convert(a)
  t = f32[24,300] tanh(f)
  e = f32[24,300] exponential(f)
  d = f32[24,300] divide(t, e)
  ROOT r = bf16[24,300] convert(d)
}
ENTRY e {
  a = bf16[24,300] parameter(0)
  ROOT f = bf16[24,300] fusion(a), kind=kLoop, calls=fused
})"},
    {R"(HloModule m
fused {
  a = s32[9,140] parameter(0)
  b = s32[9,140] parameter(1)
  x = s32[9,140] xor(a, b)
  m = s32[9,140] multiply(x, b)
  y = s32[9,140] and(m, a)
  ROOT r = f32[9,140] convert(y)
}
ENTRY e {
  a = s32[9,140] parameter(0)
  b = s32[9,140] parameter(1)
  ROOT f = f32[9,140] fusion(a, b), kind=kLoop, calls=fused
})",
     -2e9, 2e9},
    // Roots of exact zeros, powers, and functions of large and small numbers.
    {R"(HloModule m
fused {
  a = f32[17,130] parameter(0)
  z = f32[] constant(0)
  zs = f32[17,130] broadcast(z), dimensions={}
  p = f32[17,130] maximum(a, zs)
  q = f32[17,130] sqrt(p)
  t = f32[17,130] tanh(a)
  l = f32[17,130] exponential-minus-one(a)
  g = f32[17,130] log-plus-one(p)
  x = f32[17,130] add(q, t)
  y = f32[17,130] add(l, g)
  ROOT r = f32[17,130] add(x, y)
}
ENTRY e {
  a = f32[17,130] parameter(0)
  ROOT f = f32[17,130] fusion(a), kind=kLoop, calls=fused
})"},
    {R"(HloModule m
fused {
  a = f32[17,130] parameter(0)
  b = f32[17,130] parameter(1)
  c = pred[17,130] compare(a, b), direction=NE
  d = pred[17,130] compare(a, b), direction=GT
  n = pred[17,130] not(d)
  s = f32[17,130] sine(a)
  h = pred[17,130] compare(s, b), direction=GT
  k = pred[17,130] and(c, n)
  o = pred[17,130] or(k, h)
  ROOT r = f32[17,130] select(o, s, b)
}
ENTRY e {
  a = f32[17,130] parameter(0)
  b = f32[17,130] parameter(1)
  ROOT f = f32[17,130] fusion(a, b), kind=kLoop, calls=fused
})"},
    // What is left of angles near whole quarter turns.
    {R"(HloModule m
fused {
  a = f32[17,130] parameter(0)
  h = f32[] constant(100)
  hs = f32[17,130] broadcast(h), dimensions={}
  q = f32[] constant(1.57079637)
  qs = f32[17,130] broadcast(q), dimensions={}
  m = f32[] constant(1e6)
  ms = f32[17,130] broadcast(m), dimensions={}
  k = f32[17,130] multiply(a, hs)
  n = f32[17,130] floor(k)
  x = f32[17,130] multiply(n, qs)
  s = f32[17,130] sine(x)
  ROOT r = f32[17,130] multiply(s, ms)
}
ENTRY e {
  a = f32[17,130] parameter(0)
  ROOT f = f32[17,130] fusion(a), kind=kLoop, calls=fused
})"},
    // Quotients by exact zeros: infinities of either sign.
    {R"(HloModule m
fused {
  a = f32[17,130] parameter(0)
  z = f32[] constant(0)
  zs = f32[17,130] broadcast(z), dimensions={}
  p = f32[17,130] maximum(a, zs)
  ROOT r = f32[17,130] divide(a, p)
}
ENTRY e {
  a = f32[17,130] parameter(0)
  ROOT f = f32[17,130] fusion(a), kind=kLoop, calls=fused
})"},
    // A product with a ragged K, and one whose right side is transposed.
    {R"(HloModule m
ENTRY e {
  x = bf16[100,200] parameter(0)
  w = bf16[200,300] parameter(1)
  ROOT d = bf16[100,300] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
})"},
    {R"(HloModule m
ENTRY e {
  x = f32[40,130] parameter(0)
  w = f32[150,130] parameter(1)
  ROOT d = f32[40,150] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={1}
})"},
    // Reductions over lanes and over rows.
    {R"(HloModule m
add {
  p = f32[] parameter(0)
  q = f32[] parameter(1)
  ROOT s = f32[] add(p, q)
}
ENTRY e {
  a = f32[20,300] parameter(0)
  z = f32[] constant(0)
  ROOT r = f32[20] reduce(a, z), dimensions={1}, to_apply=add
})"},
    {R"(HloModule m
max {
  p = f32[] parameter(0)
  q = f32[] parameter(1)
  ROOT s = f32[] maximum(p, q)
}
ENTRY e {
  a = f32[20,300] parameter(0)
  z = f32[] constant(-inf)
  ROOT r = f32[300] reduce(a, z), dimensions={0}, to_apply=max
})"},
};

void Collect(const isa::Code& code, std::set<isa::Opcode>* ops) {
  for (const isa::Node& node : code) {
    if (const isa::Block* block = node.block()) {
      for (const isa::Instr& instr : block->instrs) ops->insert(instr.op);
    }
    if (const isa::Loop* loop = node.loop()) Collect(loop->body, ops);
    if (const isa::When* when = node.when()) Collect(when->body, ops);
  }
}

TEST(MutationTest, EveryOpcodeInUseIsNoticed) {
  std::map<isa::Opcode, std::string> used;  // by which kernel
  std::set<isa::Opcode> noticed = {isa::Opcode::kNop};
  for (const char* chip : {"v4", "v5e", "v6e"}) {
    for (const TestKernel& kernel : kKernels) {
      HarnessOptions options;
      options.chip = chip;
      options.low = kernel.low;
      options.high = kernel.high;
      ASSERT_OK_AND_ASSIGN(const HarnessResult good,
                           CompareKernel(kernel.hlo, options));
      std::set<isa::Opcode> ops;
      Collect(good.kernel.entry, &ops);
      Collect(good.kernel.step, &ops);
      Collect(good.kernel.exit, &ops);
      for (isa::Opcode op : ops) {
        used.try_emplace(op, absl::StrCat(chip, ": ", kernel.hlo));
      }
      for (isa::Opcode op : ops) {
        if (noticed.count(op) > 0) continue;
        const isa::SemanticsTable mutant = isa::MutantTable(op);
        options.semantics = &mutant;
        if (!CompareKernel(kernel.hlo, options).ok()) noticed.insert(op);
      }
    }
  }
  EXPECT_GT(used.size(), 40u);
  for (const auto& [op, kernel] : used) {
    EXPECT_TRUE(noticed.count(op) > 0)
        << isa::Info(op).mnemonic << " may mean anything on " << kernel;
  }
}

}  // namespace
}  // namespace ptxla::lowering
