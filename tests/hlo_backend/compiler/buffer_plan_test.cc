#include <algorithm>

#include "absl/strings/substitute.h"
#include "hlo_backend/compiler/compiler.h"
#include "hlo_backend/ir/parser.h"
#include "hlo_backend/ir/printer.h"
#include "hlo_backend/passes/memory/memory_places.h"
#include "tests/hlo_backend/passes/random_module.h"
#include "tests/support/status_matchers.h"

namespace ptxla::hlo {
namespace {

using ::ptxla::testing::StatusIs;

chips::ChipSpec V5e() { return *chips::ChipSpec::Load("v5e"); }

std::unique_ptr<Module> Parsed(const std::string& text) {
  auto module = ParseModule(text);
  EXPECT_OK(module.status());
  return *std::move(module);
}

const Instruction* Named(const Module& module, const std::string& name) {
  for (const Computation* c : module.computations()) {
    for (const Instruction* i : c->instructions()) {
      if (i->name() == name) return i;
    }
  }
  return nullptr;
}

TEST(BufferPlanTest, NeedsASchedule) {
  auto module = Parsed("HloModule m\nENTRY e { ROOT p = f32[8] parameter(0) }");
  EXPECT_THAT(
      PlanBuffers(*module, V5e()).status(),
      StatusIs(absl::StatusCode::kInvalidArgument, ::testing::HasSubstr("m")));
}

// Parts of 954 tiles: the second begins between two boundaries of banks, which
// only a kernel that reads it alone would mind.
constexpr char kParts[] = R"(HloModule m, is_scheduled=true
first {
  a = f32[15264,128]{1,0:T(8,128)} parameter(0)
  ROOT s = f32[7632,128]{1,0:T(8,128)} slice(a), slice={[0:7632], [0:128]}
}
second {
  a = f32[15264,128]{1,0:T(8,128)} parameter(0)
  ROOT s = f32[7632,128]{1,0:T(8,128)} slice(a), slice={[7632:15264], [0:128]}
}
ENTRY e {
  p = f32[15264,128]{1,0:T(8,128)} parameter(0)
  s0 = ((f32[15264,128]{1,0:T(8,128)}), f32[7632,128]{1,0:T(8,128)S(1)}, s32[]{:S(2)}) async-start(p), calls=first
  s1 = ((f32[15264,128]{1,0:T(8,128)}), f32[7632,128]{1,0:T(8,128)S(1)}, s32[]{:S(2)}) async-start(p), calls=second
  d0 = f32[7632,128]{1,0:T(8,128)S(1)} async-done(s0)
  d1 = f32[7632,128]{1,0:T(8,128)S(1)} async-done(s1)
  whole = f32[15264,128]{1,0:T(8,128)S(1)} custom-call(d0, d1), custom_call_target="ConcatBitcast"
  $0
  ROOT n = f32[15264,128]{1,0:T(8,128)} negate(whole)
}
)";

TEST(BufferPlanTest, APartThatOnlyTransfersTouchBeginsAnywhereInVmem) {
  auto module = Parsed(absl::Substitute(kParts, ""));
  ASSERT_OK_AND_ASSIGN(const PlannedMemory memory, PlanBuffers(*module, V5e()));
  EXPECT_THAT(memory.vmem_overflow, ::testing::IsEmpty());
}

TEST(BufferPlanTest, APartThatAKernelReadsBeginsWhereBanksDo) {
  auto module = Parsed(
      absl::Substitute(kParts, "x = f32[7632,128]{1,0:T(8,128)} negate(d1)"));
  ASSERT_OK_AND_ASSIGN(const PlannedMemory memory, PlanBuffers(*module, V5e()));
  EXPECT_THAT(memory.vmem_overflow,
              ::testing::Contains(::testing::Pair(Named(*module, "d1"), 0)));
}

TEST(BufferPlanTest, ADonatedParameterHoldsTheOutput) {
  auto module = Parsed(
      R"(HloModule m, is_scheduled=true, input_output_alias={ {0}: (0, {}, may-alias) }
ENTRY e {
  p = f32[8,128]{1,0:T(8,128)} parameter(0)
  y = f32[8,128]{1,0:T(8,128)} negate(p)
  z = f32[8,128]{1,0:T(8,128)} tanh(y)
  ROOT t = (f32[8,128]{1,0:T(8,128)}, f32[8,128]{1,0:T(8,128)}) tuple(y, z)
}
)");
  ASSERT_OK_AND_ASSIGN(PlannedMemory memory, PlanBuffers(*module, V5e()));
  const BufferPlan& plan = memory.plan;
  EXPECT_EQ(plan.Of(*Named(*module, "y")).buffer,
            plan.Of(*Named(*module, "p")).buffer);
  EXPECT_NE(plan.Of(*Named(*module, "z")).buffer,
            plan.Of(*Named(*module, "p")).buffer);
  EXPECT_EQ(memory.stats.argument, Bytes(4096));
  // Several outputs have a table of their addresses, 512 bytes at least.
  EXPECT_EQ(memory.stats.output, Bytes(8192 + 512));
  EXPECT_EQ(memory.stats.alias, Bytes(4096));
  EXPECT_EQ(memory.stats.peak, Bytes(8192 + 512));
}

TEST(BufferPlanTest, TemporariesOfDifferentTimesShareMemory) {
  auto module = Parsed(R"(HloModule m, is_scheduled=true
ENTRY e {
  p = f32[128,128]{1,0:T(8,128)} parameter(0)
  a = f32[128,128]{1,0:T(8,128)} dot(p, p), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  b = f32[128,128]{1,0:T(8,128)} dot(a, p), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  c = f32[128,128]{1,0:T(8,128)} dot(b, p), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT d = f32[128,128]{1,0:T(8,128)} dot(c, p), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
)");
  ASSERT_OK_AND_ASSIGN(PlannedMemory memory, PlanBuffers(*module, V5e()));
  EXPECT_EQ(memory.stats.temp, Bytes(2 * 65536));  // two alive at a time
}

// As XLA does it: each is written where the one before has just been read.
TEST(BufferPlanTest, ElementwiseWorkTakesThePlaceOfWhatItIsTheLastToRead) {
  auto module = Parsed(R"(HloModule m, is_scheduled=true
ENTRY e {
  p = f32[8,128]{1,0:T(8,128)} parameter(0)
  a = f32[8,128]{1,0:T(8,128)} negate(p)
  b = f32[8,128]{1,0:T(8,128)} tanh(a)
  c = f32[8,128]{1,0:T(8,128)} add(b, p)
  ROOT d = f32[8,128]{1,0:T(8,128)} tanh(c)
}
)");
  ASSERT_OK_AND_ASSIGN(PlannedMemory memory, PlanBuffers(*module, V5e()));
  // One array, in a slot.
  EXPECT_EQ(memory.stats.temp - memory.stats.fragmentation, Bytes(16384));
  EXPECT_EQ(memory.stats.fragmentation, Bytes(16384 - 4096));
}

// Copies under way and kernels of several results have tables of addresses.
TEST(BufferPlanTest, EachResultOfSeveralArraysHasATable) {
  auto module = Parsed(R"(HloModule m, is_scheduled=true
f {
  q = f32[8,128]{1,0:T(8,128)} parameter(0)
  n = f32[8,128]{1,0:T(8,128)} negate(q)
  s = f32[8,128]{1,0:T(8,128)} tanh(q)
  ROOT r = (f32[8,128]{1,0:T(8,128)}, f32[8,128]{1,0:T(8,128)}) tuple(n, s)
}
ENTRY e {
  p = f32[8,128]{1,0:T(8,128)} parameter(0)
  w = f32[128,128]{1,0:T(8,128)} parameter(1)
  c = (f32[128,128]{1,0:T(8,128)S(1)}, f32[128,128]{1,0:T(8,128)}, u32[]{:S(2)}) copy-start(w)
  b = (f32[8,128]{1,0:T(8,128)}, f32[8,128]{1,0:T(8,128)}) fusion(p), kind=kLoop, calls=f
  x = f32[8,128]{1,0:T(8,128)} get-tuple-element(b), index=0
  y = f32[8,128]{1,0:T(8,128)} get-tuple-element(b), index=1
  d = f32[128,128]{1,0:T(8,128)S(1)} copy-done(c)
  a = f32[8,128]{1,0:T(8,128)} dot(x, d), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT z = f32[128,128]{1,0:T(8,128)} dot(a, y), lhs_contracting_dims={0}, rhs_contracting_dims={0}
}
)");
  ASSERT_OK_AND_ASSIGN(PlannedMemory memory, PlanBuffers(*module, V5e()));
  const int64_t slots =
      (memory.stats.temp - memory.stats.fragmentation).count() / 16384;
  EXPECT_EQ(slots, 2 + 2);  // of x, y and a two, one lies in z; tables
}

TEST(BufferPlanTest, NothingSharesMemoryWithAConstantThatIsAnOutput) {
  auto module = Parsed(R"(HloModule m, is_scheduled=true
ENTRY e {
  p = f32[8,128]{1,0:T(8,128)} parameter(0)
  a = f32[8,128]{1,0:T(8,128)} negate(p)
  b = f32[8,128]{1,0:T(8,128)} tanh(a)
  k = f32[8,128]{1,0:T(8,128)} constant({...})
  ROOT t = (f32[8,128]{1,0:T(8,128)}, f32[8,128]{1,0:T(8,128)}) tuple(b, k)
}
)");
  ASSERT_OK_AND_ASSIGN(PlannedMemory memory, PlanBuffers(*module, V5e()));
  const BufferPlan& plan = memory.plan;
  const int constant = plan.Of(*Named(*module, "k")).buffer;
  for (const char* other : {"a", "b"}) {
    const int buffer = plan.Of(*Named(*module, other)).buffer;
    EXPECT_NE(plan.buffers[buffer].offset, plan.buffers[constant].offset)
        << other;
  }
}

TEST(BufferPlanTest, HalvesOfSixtyFourBitsArePlanes) {
  auto module = Parsed(R"(HloModule m, is_scheduled=true
ENTRY e {
  p = s64[8,128]{1,0:T(8,128)} parameter(0)
  lo = u32[8,128]{1,0:T(8,128)} custom-call(p), custom_call_target="X64SplitLow"
  hi = u32[8,128]{1,0:T(8,128)} custom-call(p), custom_call_target="X64SplitHigh"
  nlo = u32[8,128]{1,0:T(8,128)} not(lo)
  nhi = u32[8,128]{1,0:T(8,128)} not(hi)
  ROOT y = s64[8,128]{1,0:T(8,128)} custom-call(nlo, nhi), custom_call_target="X64Combine"
}
)");
  ASSERT_OK_AND_ASSIGN(PlannedMemory memory, PlanBuffers(*module, V5e()));
  auto of = [&](const char* name) {
    return memory.plan.Of(*Named(*module, name));
  };
  EXPECT_EQ(of("lo").buffer, of("p").buffer);
  EXPECT_EQ(of("lo").offset, 0);
  EXPECT_EQ(of("hi").offset, 4096);
  EXPECT_TRUE(of("y").Contains(of("nlo")));
  EXPECT_TRUE(of("y").Contains(of("nhi")));
  EXPECT_EQ(of("nhi").offset - of("nlo").offset, 4096);
}

TEST(BufferPlanTest, ALoopStateIsOneBuffer) {
  auto module = Parsed(R"(HloModule m, is_scheduled=true
body {
  s = (s32[], f32[8,128]{1,0:T(8,128)}) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[8,128]{1,0:T(8,128)} get-tuple-element(s), index=1
  one = s32[] constant(1)
  j = s32[] add(i, one)
  y = f32[8,128]{1,0:T(8,128)} tanh(x)
  ROOT r = (s32[], f32[8,128]{1,0:T(8,128)}) tuple(j, y)
}
condition {
  s2 = (s32[], f32[8,128]{1,0:T(8,128)}) parameter(0)
  i2 = s32[] get-tuple-element(s2), index=0
  ten = s32[] constant(10)
  ROOT lt = pred[] compare(i2, ten), direction=LT
}
ENTRY e {
  p = f32[8,128]{1,0:T(8,128)} parameter(0)
  zero = s32[] constant(0)
  i0 = s32[] copy(zero)
  x0 = f32[8,128]{1,0:T(8,128)} copy(p)
  t = (s32[], f32[8,128]{1,0:T(8,128)}) tuple(i0, x0)
  w = (s32[], f32[8,128]{1,0:T(8,128)}) while(t), condition=condition, body=body
  ROOT g = f32[8,128]{1,0:T(8,128)} get-tuple-element(w), index=1
}
)");
  ASSERT_OK_AND_ASSIGN(PlannedMemory memory, PlanBuffers(*module, V5e()));
  const int buffer = memory.plan.Of(*Named(*module, "x0")).buffer;
  EXPECT_EQ(memory.plan.Of(*Named(*module, "x")).buffer, buffer);
  EXPECT_EQ(memory.plan.Of(*Named(*module, "y")).buffer, buffer);
  EXPECT_EQ(memory.plan.Of(*Named(*module, "g")).buffer, buffer);
  EXPECT_NE(memory.plan.Of(*Named(*module, "p")).buffer, buffer);
}

// Where a value lies: its space and bytes.
struct Extent {
  int space;
  int64_t begin, end;
  bool Overlaps(const Extent& o) const {
    return space == o.space && begin < o.end && o.begin < end;
  }
};

// Runs the schedule and remembers which value was written last to each place:
// whoever reads must find its own. Counts those that do not.
int CountOverwritten(const Module& module, const BufferPlan& plan) {
  auto extent = [&](const MemoryPlace& place) {
    const ShapeIndex index =
        place.index < 0 ? ShapeIndex{} : ShapeIndex{place.index};
    const BufferRef ref = plan.Of(*place.maker, index);
    const PlannedBuffer& b = plan.buffers[ref.buffer];
    // Arguments, outputs and constants have address spaces of their own here.
    const bool temp = b.kind == PlannedKind::kTemp;
    const int64_t begin = temp ? b.offset + ref.offset : ref.offset;
    return Extent{temp ? b.memory_space : 100 + ref.buffer, begin,
                  begin + ref.bytes};
  };
  std::vector<std::pair<MemoryPlace, Extent>> written;
  auto write = [&](const MemoryPlace& place) {
    const Extent e = extent(place);
    written.erase(
        std::remove_if(written.begin(), written.end(),
                       [&](const auto& w) { return w.second.Overlaps(e); }),
        written.end());
    written.emplace_back(place, e);
  };
  auto holds = [&](const MemoryPlace& place) {
    return std::any_of(written.begin(), written.end(),
                       [&](const auto& w) { return w.first == place; });
  };
  int overwritten = 0;
  for (const Instruction* i : module.entry()->instructions()) {
    if (OnlyNamesMemory(*i)) continue;
    if (i->opcode() == Opcode::kCopyStart) {
      // Its other results are its source and a flag.
      if (!holds(PlaceOf(i->operand(0)))) ++overwritten;
      write({i, 0});
      continue;
    }
    if (i->opcode() == Opcode::kCopyDone) {
      if (!holds({i->operand(0), 0})) ++overwritten;
      write({i, -1});
      continue;
    }
    for (const Instruction* o : i->operands()) {
      if (!holds(PlaceOf(o))) ++overwritten;
    }
    if (i->opcode() == Opcode::kTuple) continue;
    if (i->shape().IsArray()) write({i, -1});
    for (int k = 0; k < i->shape().element_count_of_tuple(); ++k) write({i, k});
  }
  return overwritten;
}

int OverwrittenIn(int seed, const std::vector<std::string>& disabled) {
  auto module = RandomModule(seed);
  // Some parameters are given away.
  for (int64_t p : {0, 1, 4}) {
    module->mutable_config()->buffer_donors.push_back({p, {}});
  }
  CompileOptions options;
  options.pipeline.disabled = disabled;
  EXPECT_OK(RunPasses(module.get(), V5e(), options).status());
  auto memory = PlanBuffers(*module, V5e());
  EXPECT_OK(memory.status());
  return CountOverwritten(*module, memory->plan);
}

TEST(RandomPlanTest, NoValueIsOverwrittenBeforeItsLastUse) {
  for (int seed = 0; seed < 60; ++seed) {
    EXPECT_EQ(OverwrittenIn(seed, {}), 0) << "seed " << seed;
  }
}

// A copy in VMEM would save an operand of a product: prefetches are left out.
TEST(RandomPlanTest, WithoutCopiesSomeValuesAre) {
  int overwritten = 0;
  for (int seed = 0; seed < 60; ++seed) {
    overwritten += OverwrittenIn(seed, {"copy-insertion", "vmem-prefetch"});
  }
  EXPECT_GT(overwritten, 0);
}

}  // namespace
}  // namespace ptxla::hlo
