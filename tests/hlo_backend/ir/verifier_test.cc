// Each broken rule is found, and named with its place.
#include "hlo_backend/ir/verifier.h"

#include "gtest/gtest.h"
#include "hlo_backend/ir/builder.h"
#include "hlo_backend/ir/parser.h"
#include "tests/support/status_matchers.h"

namespace ptxla::hlo {
namespace {

using ::ptxla::testing::StatusIs;
using ::testing::HasSubstr;

constexpr char kCallees[] = R"(
add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] add(a, b) }
one { a = f32[] parameter(0) ROOT r = f32[] negate(a) }
less { a = f32[] parameter(0) b = f32[] parameter(1)
  ROOT r = pred[] compare(a, b), direction=LT }
body { s = s32[] parameter(0) ROOT r = s32[] negate(s) }
cond { s = s32[] parameter(0) ROOT r = pred[] constant(true) }
wide { s = s32[2] parameter(0) ROOT r = s32[2] negate(s) }
)";

// The last instruction of the entry stands on line 10, column 2.
absl::Status VerifyLast(absl::string_view operands,
                        absl::string_view instruction) {
  auto module =
      ParseModule(absl::StrCat("HloModule t", kCallees, "ENTRY main { ",
                               operands, "\n ", instruction, "\n}"),
                  "m.hlo");
  if (!module.ok()) return module.status();
  return VerifyModule(**module);
}

TEST(VerifierTest, EveryOpcodeFamilyChecksItsRule) {
  const char* p =
      "p = f32[4,6] parameter(0) q = f32[4,5] parameter(1) "
      "z = f32[] parameter(2) i = s32[] parameter(3) "
      "v = f32[4] parameter(4) t = (f32[4], s32[]) parameter(5) "
      "c = c64[4] parameter(6)";
  struct {
    const char* instruction;
    const char* rule;
  } cases[] = {
      {"r = f32[4,6] add(p, q)", "operand shapes f32[4,6] and f32[4,5] differ"},
      {"r = f32[4,6] add(p)", "add takes 2 operands, not 1"},
      {"r = f32[4,5] add(p, p)",
       "its shape is written as f32[4,5] but must be f32[4,6]"},
      {"r = f32[4,6] not(p)", "not takes integers or pred, not f32[4,6]"},
      {"r = f32[] and(z, z)", "and takes integers or pred"},
      {"r = f32[4,6] select(p, p, p)", "select needs pred"},
      {"r = f32[4,6] clamp(v, p, z)", "clamp bound f32[4] does not fit"},
      {"r = f32[4,7] convert(p)", "convert keeps dimensions"},
      {"r = f32[3,8] reshape(q)", "reshape of f32[4,5] (20 elements) to"},
      {"r = f32[4,6] transpose(p), dimensions={1,0}", "but must be f32[6,4]"},
      {"r = f32[4,6] transpose(p), dimensions={0,0}",
       "names dimension 0 twice"},
      {"r = f32[4,6] broadcast(v), dimensions={1}",
       "operand dimension 0 of f32[4] does not fit dimension 1"},
      {"r = f32[4,11] concatenate(p, q), dimensions={0}",
       "operand 1 f32[4,5] does not fit operand 0"},
      {"r = f32[4,6] reverse(p), dimensions={2}", "has dimension 2"},
      {"r = f32[2,6] slice(p), slice={[0:5],[0:6]}",
       "slice [0:5:1] does not fit dimension 0"},
      {"r = f32[1,6] dynamic-slice(p, i), dynamic_slice_sizes={1,6}",
       "needs 2 start indices, has 1"},
      {"r = f32[4,6] dynamic-update-slice(p, q, z, i)",
       "start index 0 is f32[]"},
      {"r = f32[4,6] dynamic-update-slice(q, p, i, i)",
       "update f32[4,6] does not fit into f32[4,5]"},
      {"r = f32[5,6] pad(p, z), padding=0_1", "padding= has 1 entries"},
      {"r = f32[4,6] pad(p, i), padding=0_0x0_0", "the padding value s32[]"},
      {"r = f32[4,4] dot(p, q), lhs_contracting_dims={1}, "
       "rhs_contracting_dims={1}",
       "contracting dimension 1 of f32[4,6] does not fit dimension 1 of"},
      {"r = f32[4] reduce(p, v), dimensions={1}, to_apply=add",
       "initial value f32[4] is not a scalar"},
      {"r = f32[4] reduce(p, z), dimensions={1}, to_apply=one",
       "one takes 1 parameters, not 2"},
      {"r = f32[4] reduce(p, z), dimensions={2}, to_apply=add",
       "has dimension 2"},
      {"r = f32[3,6] reduce-window(p, z), window={size=2}, to_apply=add",
       "the window has 1 dimensions"},
      {"r = f32[4,6] sort(p), dimensions={1}, to_apply=add",
       "add returns f32[], not pred[]"},
      {"r = f32[4,6] sort(p), dimensions={2}, to_apply=less",
       "dimension 2 is not one of"},
      {"r = f32[4] get-tuple-element(t), index=2",
       "index=2 of a tuple with 2 elements"},
      {"r = s32[] while(i), condition=cond, body=wide",
       "operand 0 is s32[], parameter 0 of wide is s32[2]"},
      {"r = s32[] while(i), condition=body, body=body",
       "the condition body returns s32[], not pred[]"},
      {"r = s32[] conditional(i, i), branch_computations={body, body}",
       "2 branches have 1 operands"},
      {"r = s32[] call(i, i), to_apply=body", "body takes 1 parameters, not 2"},
      {"r = f32[4] map(v, v), to_apply=one", "one takes 1 parameters, not 2"},
      {"r = f32[4,6] iota(), iota_dimension=2", "iota_dimension=2"},
      {"r = c64[4] fft(c), fft_type=FFT, fft_length={5}",
       "fft_length 5 does not fit"},
      {"r = f32[4,6] cholesky(p), lower=true", "square matrix"},
      {"r = f32[8,6] all-gather(q), dimensions={0}", "cannot give f32[8,6]"},
      {"r = f32[4,6] all-reduce(p), replica_groups={{0,1},{1,2}}, to_apply=add",
       "has device 1 twice"},
      {"r = f32[4,6] collective-permute(p), source_target_pairs={{0,1},{2,1}}",
       "has target 1 twice"},
      {"r = f32[4,6] batch-norm-inference(p, v, v, v, v), epsilon=0.1, "
       "feature_index=1",
       "not a vector of 6 features"},
      {"r = (f32[4,9], s32[4,9]) topk(p), k=9", "k=9 does not fit"},
      {"r = s32[] add-dependency(i)", "takes 2 operands, not 1"},
      {"r = f32[1,6] gather(p, i), offset_dims={0,1}, collapsed_slice_dims={}, "
       "start_index_map={0,1}, index_vector_dim=0, slice_sizes={1,6}",
       "the map has 2"},
      {"r = token[] after-all(i)", "s32[] is no token"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.instruction);
    const absl::Status status = VerifyLast(p, c.instruction);
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument,
                                 HasSubstr("m.hlo:10:2: %r = ")));
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument,
                                 HasSubstr(c.rule)));
  }
}

TEST(VerifierTest, AliasingStaysWithinParametersAndOutputs) {
  auto verify = [](absl::string_view header) {
    auto module = ParseModule(absl::StrCat(
        "HloModule t, ", header, "\nENTRY e { ROOT p = f32[4] parameter(0) }"));
    return module.ok() ? VerifyModule(**module) : module.status();
  };
  EXPECT_OK(verify("input_output_alias={ {}: (0, {}, may-alias) }"));
  EXPECT_THAT(verify("input_output_alias={ {}: (1, {}, may-alias) }"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("names parameter 1, which does not exist")));
  EXPECT_THAT(verify("input_output_alias={ {1}: (0, {}, may-alias) }"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("names an output that does not exist")));
  EXPECT_THAT(verify("buffer_donor={ (3, {}) }"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("buffer_donor names parameter 3")));
  EXPECT_THAT(verify("entry_computation_layout={(f32[5]{0})->f32[4]{0}}"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("is not that of the entry")));
}

TEST(VerifierTest, RecursionIsFound) {
  ASSERT_OK_AND_ASSIGN(auto module, ParseModule(R"(HloModule t
    f { p = f32[4] parameter(0)
      ROOT c = f32[4] call(p), to_apply=g }
    g { p = f32[4] parameter(0)
      ROOT c = f32[4] call(p), to_apply=f }
    ENTRY e { p = f32[4] parameter(0)
      ROOT c = f32[4] call(p), to_apply=f })"));
  EXPECT_THAT(VerifyModule(*module),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("which calls it back")));
}

TEST(VerifierTest, CyclesAndBadSchedulesAreFound) {
  Module m("t");
  Computation* main = m.AddComputation("main");
  m.SetEntry(main);
  Builder b(main);
  Instruction* p = b.Parameter(0, Shape::Array(PrimitiveType::kF32, {4}), "p");
  Instruction* x = b.Add(p, p);
  Instruction* y = b.Negate(x);
  main->SetRoot(y);
  EXPECT_OK(VerifyModule(m));
  x->ReplaceOperand(1, y);
  EXPECT_THAT(VerifyModule(m), StatusIs(absl::StatusCode::kInvalidArgument,
                                        HasSubstr("part of a cycle through")));
  x->ReplaceOperand(1, p);
  main->Reorder({p, y, x});
  EXPECT_OK(VerifyModule(m));
  m.mutable_config()->is_scheduled = true;
  EXPECT_THAT(VerifyModule(m), StatusIs(absl::StatusCode::kInvalidArgument,
                                        HasSubstr("scheduled before %add")));
}

TEST(VerifierTest, ArraysThatNoMemoryHoldsAreRefused) {
  ASSERT_OK_AND_ASSIGN(auto module,
                       ParseModule("HloModule t\nENTRY e { ROOT p = "
                                   "s64[4611686018427387904] parameter(0) }"));
  EXPECT_THAT(VerifyModule(*module),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("is more than 1 PiB")));
}

TEST(VerifierTest, LayoutsAreDemandedWhereTheyMustBe) {
  ASSERT_OK_AND_ASSIGN(auto module, ParseModule("HloModule t\nENTRY e { ROOT p "
                                                "= f32[4] parameter(0) }"));
  EXPECT_OK(VerifyModule(*module));
  VerifierOptions options;
  options.require_layouts = true;
  EXPECT_THAT(VerifyModule(*module, options),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("no layout in f32[4]")));
}

}  // namespace
}  // namespace ptxla::hlo
