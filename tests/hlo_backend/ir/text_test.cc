// The text format: constructs that must survive, and what errors say.
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "hlo_backend/ir/parser.h"
#include "hlo_backend/ir/printer.h"
#include "hlo_backend/ir/verifier.h"
#include "tests/support/status_matchers.h"

namespace ptxla::hlo {
namespace {

using ::ptxla::testing::StatusIs;
using ::testing::HasSubstr;

// In the form that both XLA and we print; computations callees first. (XLA
// prints async-start of one operation in a short form, which we read.)
constexpr char kCanonical[] =
    R"(HloModule t, is_scheduled=true, input_output_alias={ {0}: (0, {}, may-alias), {1}: (1, {0}, must-alias) }, buffer_donor={ (2, {}) }, entry_computation_layout={(f32[8]{0:T(128)S(1)}, (f32[4,4]{1,0}), f32[<=8,4]{1,0})->(f32[8]{0}, f32[4,4]{1,0})}, replica_count=2, num_partitions=4, frontend_attributes={a="b",xla.sdy.meshes={mesh = #sdy.mesh<["x"=2]>}}

FileNames
1 "a.py"
2 "b \"q\".py"

FunctionNames
1 "f"

FileLocations
1 {file_name_id=1 function_name_id=1 line=10 end_line=11 column=3 end_column=9}

StackFrames
1 {file_location_id=1 parent_frame_id=1}
2 {file_location_id=1 parent_frame_id=2}


%add (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %r = f32[] add(%a, %b)
}

%ge (a: f32[], b: f32[]) -> pred[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %r = pred[] compare(%a, %b), direction=GE
}

%body (s: (s32[], f32[4])) -> (s32[], f32[4]) {
  %s = (s32[], f32[4]{0}) parameter(0)
  ROOT %c = (s32[], f32[4]{0}) copy(%s)
}

%cond (s: (s32[], f32[4])) -> pred[] {
  %s = (s32[], f32[4]{0}) parameter(0)
  ROOT %c = pred[] constant(false)
}

%slice_it (q: f32[8]) -> f32[4] {
  %q = f32[8]{0} parameter(0)
  ROOT %s = f32[4]{0} slice(%q), slice={[0:8:2]}
}

%offloaded (p: f32[8]) -> f32[4] {
  %p = f32[8]{0} parameter(0)
  ROOT %cc = f32[4]{0} custom-call(%p), custom_call_target="bar"
}, execution_thread="sparsecore"

ENTRY %main (p0: f32[8], p1: (f32[4,4]), p2: f32[<=8,4]) -> (f32[8], f32[4,4]) {
  %p0 = f32[8]{0:T(128)S(1)} parameter(0), parameter_replication={true}, sharding={devices=[2,1,2]<=[2,2]T(1,0) last_tile_dim_replicate metadata={op_name="q"}}, origin={{"x"}}
  %p1 = (f32[4,4]{1,0}) parameter(1), sharding={{maximal device=1}}
  %p2 = f32[<=8,4]{1,0} parameter(2), frontend_attributes={a="1"}
  %m = f32[4,4]{1,0} get-tuple-element(%p1), index=0, metadata={op_type="x" op_name="y/z" source_file="a.py" source_line=3 source_end_line=4 source_column=5 source_end_column=7 profile_type={1} deduplicated_name="d" scheduling_name="s" stack_frame_id=1}
  %i = s32[] constant(0)
  %v = f32[4]{0} constant({1, 2, 3, 4})
  %big = f32[1000]{0} constant({...})
  %st = (s32[], f32[4]{0}) tuple(%i, %v)
  %w = (s32[], f32[4]{0}) while(%st), condition=%cond, body=%body, backend_config={"known_trip_count":{"n":"5"}}
  %pr = pred[] constant(true)
  %c1 = (s32[], f32[4]{0}) conditional(%pr, %st, %st), true_computation=%body, false_computation=%body
  %c2 = (s32[], f32[4]{0}) conditional(%i, %st, %st), branch_computations={%body, %body}
  %z = f32[] constant(0)
  %img = f32[1,4,4,2]{3,2,1,0} broadcast(%z), dimensions={}
  %ker = f32[2,2,2,3]{3,2,1,0} broadcast(%z), dimensions={}
  %cv = f32[1,4,2,3]{3,2,1,0} convolution(%img, %ker), window={size=2x2 stride=1x2 pad=1_0x0_1}, dim_labels=b01f_01io->b01f, operand_precision={highest,high}
  %rw = f32[1,3,3,2]{3,2,1,0} reduce-window(%img, %z), window={size=1x2x2x1}, to_apply=%add
  %ss = f32[1,4,4,2]{3,2,1,0} select-and-scatter(%img, %rw, %z), window={size=1x2x2x1}, select=%ge, scatter=%add
  %as = ((f32[8]{0}), f32[4]{0}, s32[]) async-start(%p0), async_execution_thread="sparsecore", calls=%offloaded
  %ad = f32[4]{0} async-done(%as)
  %cp = (f32[8]{0}, f32[8]{0:S(1)}, u32[]) copy-start(%p0), cross_program_prefetch_index=0
  %cpd = f32[8]{0} copy-done(%cp)
  %idx = s32[2,1]{1,0} constant({ {1}, {2} })
  %ga = f32[2,4]{1,0} gather(%m, %idx), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,4}, indices_are_sorted=true
  %sc = f32[4,4]{1,0} scatter(%m, %idx, %ga), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, unique_indices=true, to_apply=%add
  %cz = c64[] constant((1, 0))
  %ca = c64[4]{0} broadcast(%cz), dimensions={}
  %fft = c64[4]{0} fft(%ca), fft_type=IFFT, fft_length={4}
  %ts = f32[4,4]{1,0} triangular-solve(%m, %m), left_side=true, lower=true, transpose_a=NO_TRANSPOSE
  %ch = f32[4,4]{1,0} cholesky(%m), lower=true
  %rp = f32[4,4]{1,0} reduce-precision(%m), exponent_bits=5, mantissa_bits=10
  %rng = f32[4]{0} rng(%z, %z), distribution=rng_uniform
  %rgs = u64[2]{0} rng-get-and-update-state(), delta=4
  %rgb = (u64[2]{0}, u32[2,3]{1,0}) rng-bit-generator(%rgs), algorithm=rng_three_fry
  %tok = token[] after-all()
  %in = ((f32[4]{0}, pred[]), token[]) infeed(%tok), infeed_config="x"
  %out = token[] outfeed(%m, %tok), outfeed_shape=f32[4,4]{1,0}, outfeed_config="y"
  %snd = (f32[4,4]{1,0}, u32[], token[]) send(%m, %tok), channel_id=2, is_host_transfer=true
  %sd = token[] send-done(%snd), channel_id=2, is_host_transfer=true
  %per = f32[4,4]{1,0} collective-permute(%m), channel_id=5, source_target_pairs={{0,1},{1,0}}
  %a2a = f32[4,4]{1,0} all-to-all(%m), channel_id=7, replica_groups={{0,1},{2,3}}, dimensions={0}
  %rsc = f32[2,4]{1,0} reduce-scatter(%m), channel_id=6, replica_groups={{0,1}}, use_global_device_ids=true, dimensions={0}, to_apply=%add
  %ar = f32[4,4]{1,0} all-reduce(%m), channel_id=1, replica_groups=[2,4]<=[8], constrain_layout=true, use_global_device_ids=true, to_apply=%add
  %ag = f32[8,4]{1,0} all-gather(%m), channel_id=3, replica_groups=mesh['a'=2,'b'=4] {'a'}, dimensions={0}, use_global_device_ids=true
  %dom = f32[4,4]{1,0} domain(%m), domain={kind="sharding", entry={maximal device=0}, exit={replicated}}
  %cc = f32[4]{0} custom-call(%p0), custom_call_target="z", operand_layout_constraints={f32[8]{0}}, custom_call_has_side_effect=true, literal=s32[2]{0} {1, 2}, output_to_operand_aliasing={{}: (0, {})}, schedule=SCHEDULE_EARLIEST, api_version=API_VERSION_TYPED_FFI, called_computations={%slice_it}, backend_config="x\"y"
  %e = f32[4,4]{1,0} exponential(%m), result_accuracy={tolerance={atol=1e-05,rtol=0.1,ulps=3}}
  %e2 = f32[4,4]{1,0} exponential(%m), sharding={replicated}, frontend_attributes={k="x"}, statistics={visualizing_index=1,stat-1=33}, result_accuracy={mode=highest}, metadata={op_name="x"}
  %s = f32[4,4]{1,0} slice(%m), slice={[0:4], [0:4]}
  %pd = f32[6,9]{1,0} pad(%m, %z), padding=1_1_0x-1_0_2
  %tk = (f32[4,2]{1,0}, s32[4,2]{1,0}) topk(%m), k=2, largest=true
  %fu = f32[4]{0} fusion(%p0), kind=kLoop, output_to_operand_aliasing={{}: (0, {})}, calls=%slice_it
  %cl = f32[4]{0} call(%p0), to_apply=%slice_it, is_composite=true, frontend_attributes={k={
"nested":"{raw}"
}}
  %ng = f32[8]{0} negate(%p0), sharding={mesh['x'=2,'y'=2], [{'x'}, {?}], unreduced=max{'y'}}
  ROOT %root = (f32[8]{0}, f32[4,4]{1,0}) tuple(%ng, %ar), control-predecessors={%ag, %a2a}, statistics={visualizing_index=0,a=1.5}
}
)";

TEST(TextTest, CanonicalTextPrintsAsItIs) {
  ASSERT_OK_AND_ASSIGN(auto module, ParseModule(kCanonical));
  EXPECT_OK(VerifyModule(*module));
  EXPECT_EQ(Print(*module), kCanonical);
}

TEST(TextTest, AttributesOfAScanStandInXlasOrder) {
  auto module = ParseModule(R"(HloModule m
step {
  x = f32[3] parameter(0)
  c = f32[3] parameter(1)
  s = f32[3] add(x, c)
  ROOT t = (f32[3], f32[3]) tuple(s, s)
}
ENTRY e {
  x = f32[5,3] parameter(0)
  c = f32[3] parameter(1)
  ROOT r = (f32[5,3], f32[3]) scan(x, c), dimensions={0}, is_reverse=true, is_associative=false, num_carries=1, to_apply=step
})");
  ASSERT_OK(module.status());
  EXPECT_THAT(
      Print(**module),
      ::testing::HasSubstr("dimensions={0}, num_carries=1, is_reverse=true, "
                           "is_associative=false, to_apply=%step"));
}

TEST(TextTest, ASingleHighByteIsNoPartOfAModulesName) {
  EXPECT_FALSE(
      ParseModule("HloModule j\xdat\nENTRY e { ROOT p = f32[] parameter(0) }")
          .ok());
}

TEST(TextTest, ANameBeginsWithNoPointOrDash) {
  for (const char* name : {"...imum", ".x", "-x"}) {
    EXPECT_THAT(ParseModule(absl::StrCat("HloModule m\nENTRY e {\n  ROOT %",
                                         name, " = f32[] constant(1)\n}\n")),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("")))
        << name;
  }
}

TEST(TextTest, ANameWithoutPercentBeginsWithNoSign) {
  for (const char* name : {"-c", "+c", "-info"}) {
    EXPECT_THAT(ParseModule(absl::StrCat("HloModule m\nENTRY e {\n  ROOT ",
                                         name, " = f32[] constant(1)\n}\n")),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("3:")))
        << name;
  }
}

TEST(TextTest, CloneIsTheSameText) {
  ASSERT_OK_AND_ASSIGN(auto module, ParseModule(kCanonical));
  const auto copy = module->Clone();
  module.reset();
  EXPECT_OK(VerifyModule(*copy));
  EXPECT_EQ(Print(*copy), kCanonical);
}

std::string EntryOf(absl::string_view text) {
  auto module = ParseModule(text);
  if (!module.ok()) return module.status().ToString();
  return Print(*(*module)->entry());
}

TEST(TextTest, OldAndSugaredFormsMeanTheSame) {
  // Operand shapes, names without '%', comments, a name like a type, an
  // element of a tuple in short, nested operands, results without a shape.
  EXPECT_EQ(EntryOf(R"(HloModule t
    // comment
    ENTRY main {
      s32 = f32[2]{0} parameter(0)
      t = (f32[2]{0}, f32[2]{0}) tuple(f32[2]{0} %s32, /*index=1*/f32[2] s32)
      n = negate(t#1)
      ROOT r = f32[2] add(f32[2] parameter(1), multiply(n, (f32[2], f32[2]) t#0))
    } // main)"),
            R"(ENTRY %main (s32: f32[2], parameter.anon: f32[2]) -> f32[2] {
  %s32 = f32[2]{0} parameter(0)
  %t = (f32[2]{0}, f32[2]{0}) tuple(%s32, %s32)
  %get-tuple-element.anon = f32[2]{0} get-tuple-element(%t), index=1
  %n = f32[2] negate(%get-tuple-element.anon)
  %parameter.anon = f32[2] parameter(1)
  %get-tuple-element.anon.1 = f32[2]{0} get-tuple-element(%t), index=0
  %multiply.anon = f32[2] multiply(%n, %get-tuple-element.anon.1)
  ROOT %r = f32[2] add(%parameter.anon, %multiply.anon)
}
)");
}

TEST(TextTest, AsyncSugarBecomesAWrappedCall) {
  ASSERT_OK_AND_ASSIGN(auto module, ParseModule(R"(HloModule t
    ENTRY main {
      p = f32[8] parameter(0)
      s = ((f32[8]), f32[4], s32[]) slice-start(p), slice={[0:4]},
          async_execution_thread="sparsecore"
      u = ((f32[8]), f32[4], s32[]) slice-update(s)
      ROOT d = f32[4] slice-done(u)
    })"));
  EXPECT_OK(VerifyModule(*module));
  const Instruction* start = module->entry()->root()->operand(0)->operand(0);
  EXPECT_EQ(start->opcode(), Opcode::kAsyncStart);
  EXPECT_EQ(start->to_apply()->root()->opcode(), Opcode::kSlice);
  EXPECT_EQ(start->to_apply()->execution_thread(), "sparsecore");
}

TEST(TextTest, CalleesMayComeLater) {
  ASSERT_OK_AND_ASSIGN(auto module, ParseModule(R"(HloModule t
    ENTRY main {
      p = f32[8] parameter(0)
      ROOT c = f32[8] call(p), to_apply=later
    }
    later {
      p = f32[8] parameter(0)
      ROOT n = f32[8] negate(p)
    })"));
  EXPECT_EQ(module->entry()->root()->to_apply()->name(), "later");
}

TEST(TextTest, TheLastComputationIsTheEntryWhenNoneSaysSo) {
  ASSERT_OK_AND_ASSIGN(auto module, ParseModule(R"(HloModule t
    a { ROOT p = f32[8] parameter(0) }
    b { ROOT p = f32[8] parameter(0) })"));
  EXPECT_EQ(module->entry()->name(), "b");
}

TEST(TextTest, ComputationsWithoutAHeaderAreAModule) {
  ASSERT_OK_AND_ASSIGN(auto module,
                       ParseModule("e { ROOT p = f32[8] parameter(0) }"));
  EXPECT_EQ(module->name(), "module_e");
}

TEST(TextTest, InstructionsKnowTheirLine) {
  ASSERT_OK_AND_ASSIGN(auto module,
                       ParseModule("HloModule t\nENTRY main {\n  ROOT p = "
                                   "f32[8] parameter(0)\n}\n",
                                   "m.hlo"));
  EXPECT_EQ(Describe(*module->entry()->root()), "m.hlo:3:8: %p = parameter");
}

TEST(TextTest, ErrorsSayWhereAndWhat) {
  struct {
    const char* body;  // after "HloModule t\nENTRY main {\n"
    const char* message;
  } cases[] = {
      {"p = f32[8] paramter(0)", "3:12: unknown opcode \"paramter\""},
      {"p = f32[8] parameter(0)\nn = f32[8] negate(q)",
       "4:19: unknown instruction \"q\""},
      {"p = f32[8] parameter(0), foo=1",
       "3:26: unexpected attribute \"foo\" of parameter"},
      {"p = f32[8] parameter(0)\nn = f32[8] negate(p), dimensions={0}",
       "4:23: unexpected attribute \"dimensions\" of negate"},
      {"p = f32[8] parameter(0)\np = f32[8] negate(p)",
       "4:1: instruction p exists already"},
      {"p = f32[8] parameter(0)\nq = f32[8] parameter(0)",
       "4:22: parameter 0 exists already"},
      {"q = f32[8] parameter(1)", "2:7: parameter 0 of main is missing"},
      {"p = f32[8] parameter(0)\nc = pred[8] compare(p, p)",
       "4:1: compare needs the attribute direction="},
      {"p = f32[8] parameter(0)\nc = pred[8] compare(p, p), direction=XX",
       "4:38: expected one of EQ, NE, GE, GT, LE, LT, got \"XX\""},
      {"p = f32[8] parameter(0)\nc = f32[8] call(p), to_apply=nobody",
       "4:30: unknown computation nobody"},
      {"p = f32[8] parameter(0), sharding={devices=[3]0,1}",
       "2 devices for 3 tiles"},
      {"p = f32[8] parameter(0), metadata={op_name=\"x}",
       "3:44: the string does not end"},
      {"p = f32[8] parameter(0) /* never closed",
       "3:25: the comment does not end"},
      {"ROOT p = f32[8] parameter(0)\nROOT q = f32[8] parameter(1)",
       "4:6: a computation has one ROOT"},
      {"", "the computation is empty"},
      {"p = f32[8] parameter(99999999999)", "is out of range"},
      {"p = f32[8] parameter(0)\nn = f32[8] all-reduce(p), "
       "to_apply=a, replica_groups=[3,2]<=[7]",
       "replica groups [groups,size] do not fit the devices"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.body);
    const std::string text =
        absl::StrCat("HloModule t\nENTRY main {\n", c.body, "\n}\n");
    EXPECT_THAT(
        ParseModule(text).status(),
        StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(c.message)));
  }
  EXPECT_THAT(ParseModule("HloModul t").status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("1:1: expected \"HloModule\"")));
  EXPECT_THAT(ParseModule("HloModule t, foo=1\n").status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("1:14: unknown module attribute \"foo\"")));
  EXPECT_THAT(ParseModule("HloModule t\n").status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("the module has no computation")));
}

TEST(TextTest, AnyPrefixOfATextIsRefusedOrRead) {
  // No crash, no hang, whatever is cut off or replaced.
  const std::string text = kCanonical;
  for (size_t n = 0; n < text.size(); n += 13) {
    (void)ParseModule(text.substr(0, n));
    std::string broken = text;
    broken[n] = "{}()[],=%\"x0"[n % 12];
    auto module = ParseModule(broken);
    if (module.ok() && VerifyModule(**module).ok()) (void)Print(**module);
  }
}

}  // namespace
}  // namespace ptxla::hlo
