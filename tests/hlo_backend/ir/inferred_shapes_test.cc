// The shape of every opcode that can be known from its operands and attributes.
#include <set>

#include "gtest/gtest.h"
#include "hlo_backend/ir/parser.h"
#include "hlo_backend/ir/verifier.h"
#include "tests/hlo_backend/ir/opcode_module.h"
#include "tests/support/status_matchers.h"

namespace ptxla::hlo {
namespace {

struct Inferred {
  std::string opcode, expression, shape;
};

// Their shapes must be written.
constexpr const char* kDeclared[] = {"all-gather",
                                     "all-gather-start",
                                     "async-start",
                                     "bitcast",
                                     "bitcast-convert",
                                     "broadcast",
                                     "collective-permute-start",
                                     "constant",
                                     "convert",
                                     "custom-call",
                                     "dynamic-reshape",
                                     "infeed",
                                     "iota",
                                     "parameter",
                                     "recv",
                                     "reduce-scatter",
                                     "reshape",
                                     "rng",
                                     "rng-bit-generator",
                                     "rng-get-and-update-state",
                                     "scan",
                                     "stochastic-convert"};

std::vector<Inferred> AllInferred() {
  std::vector<Inferred> all = {
      {"add-dependency", "add-dependency(i, k)", "s32[]"},
      {"after-all", "after-all(k)", "token[]"},
      {"all-gather-done", "all-gather-done(ag)", "f32[16,6]"},
      {"all-reduce", "all-reduce(p), to_apply=add", "f32[4,6]"},
      {"all-reduce-done", "all-reduce-done(p)", "f32[4,6]"},
      {"all-reduce-start", "all-reduce-start(p), to_apply=add", "f32[4,6]"},
      {"all-to-all", "all-to-all(p), dimensions={0}", "f32[4,6]"},
      {"async-done", "async-done(as)", "f32[4,6]"},
      {"async-update", "async-update(as)", "((f32[4,6]), f32[4,6], u32[])"},
      {"batch-norm-grad",
       "batch-norm-grad(p, f6, f6, f6, p), epsilon=0.1, feature_index=1",
       "(f32[4,6], f32[6], f32[6])"},
      {"batch-norm-inference",
       "batch-norm-inference(p, f6, f6, f6, f6), epsilon=0.1, feature_index=1",
       "f32[4,6]"},
      {"batch-norm-training",
       "batch-norm-training(p, f6, f6), epsilon=0.1, feature_index=1",
       "(f32[4,6], f32[6], f32[6])"},
      {"call", "call(i), to_apply=body", "s32[]"},
      {"cholesky", "cholesky(sq), lower=true", "f32[6,6]"},
      {"clamp", "clamp(z, p, z)", "f32[4,6]"},
      {"collective-broadcast", "collective-broadcast(p)", "f32[4,6]"},
      {"collective-permute",
       "collective-permute(p), source_target_pairs={{0,1}}", "f32[4,6]"},
      {"collective-permute-done", "collective-permute-done(ag)", "f32[16,6]"},
      {"compare", "compare(p, p), direction=LT", "pred[4,6]"},
      {"complex", "complex(v, v)", "c64[4]"},
      {"concatenate", "concatenate(p, q), dimensions={1}", "f32[4,11]"},
      {"conditional", "conditional(i, i, i), branch_computations={body, body}",
       "s32[]"},
      {"convolution",
       "convolution(img, w), window={size=3x3}, dim_labels=b01f_01io->b01f",
       "f32[1,6,6,8]"},
      {"copy", "copy(p)", "f32[4,6]"},
      {"copy-done", "copy-done(cs)", "f32[4,6]"},
      {"copy-start", "copy-start(p)", "(f32[4,6], f32[4,6], u32[])"},
      {"domain",
       "domain(p), domain={kind=\"sharding\", entry={replicated}, "
       "exit={replicated}}",
       "f32[4,6]"},
      {"dot", "dot(p, q), lhs_contracting_dims={0}, rhs_contracting_dims={0}",
       "f32[6,5]"},
      {"dynamic-slice", "dynamic-slice(p, i, i), dynamic_slice_sizes={1,6}",
       "f32[1,6]"},
      {"dynamic-update-slice", "dynamic-update-slice(p, q, i, i)", "f32[4,6]"},
      {"fft", "fft(v), fft_type=RFFT, fft_length={4}", "c64[3]"},
      {"fusion", "fusion(i), kind=kLoop, calls=body", "s32[]"},
      {"gather",
       "gather(p, g), offset_dims={1}, collapsed_slice_dims={0}, "
       "start_index_map={0}, index_vector_dim=1, slice_sizes={1,6}",
       "f32[2,6]"},
      {"get-dimension-size", "get-dimension-size(p), dimensions={1}", "s32[]"},
      {"get-tuple-element", "get-tuple-element(t), index=1", "s32[]"},
      {"imag", "imag(c)", "f32[4]"},
      {"is-finite", "is-finite(p)", "pred[4,6]"},
      {"map", "map(v, v), to_apply=add", "f32[4]"},
      {"mulhi", "mulhi(m, m)", "s32[4,6]"},
      {"opt-barrier", "opt-barrier(t)", "(f32[4], s32[])"},
      {"outfeed", "outfeed(p, k), outfeed_shape=f32[4,6]", "token[]"},
      {"pad", "pad(p, z), padding=0_1x2_0_1", "f32[5,13]"},
      {"partition-id", "partition-id()", "u32[]"},
      {"ragged-all-to-all", "ragged-all-to-all(v, v, g, g, g, g)", "f32[4]"},
      {"ragged-dot",
       "ragged-dot(p, rhs, g), lhs_contracting_dims={1}, "
       "rhs_contracting_dims={1}, lhs_ragged_dims={0}, rhs_group_dims={0}",
       "f32[4,8]"},
      {"real", "real(c)", "f32[4]"},
      {"recv-done", "recv-done(rv), channel_id=1", "(f32[4,6], token[])"},
      {"reduce", "reduce(p, z), dimensions={1}, to_apply=add", "f32[4]"},
      {"reduce-precision",
       "reduce-precision(p), exponent_bits=5, mantissa_bits=10", "f32[4,6]"},
      {"reduce-window",
       "reduce-window(p, z), window={size=2x2 stride=2x2}, to_apply=add",
       "f32[2,3]"},
      {"replica-id", "replica-id()", "u32[]"},
      {"reverse", "reverse(p), dimensions={0}", "f32[4,6]"},
      {"scaled-dot",
       "scaled-dot(p, p, z, z), lhs_contracting_dims={1}, "
       "rhs_contracting_dims={1}",
       "f32[4,4]"},
      {"scatter",
       "scatter(p, g, q2), update_window_dims={1}, inserted_window_dims={0}, "
       "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add",
       "f32[4,6]"},
      {"select", "select(b, p, p)", "f32[4,6]"},
      {"select-and-scatter",
       "select-and-scatter(p, src, z), window={size=2x2 stride=2x2}, "
       "select=sel, scatter=add",
       "f32[4,6]"},
      {"send", "send(p, k), channel_id=1", "(f32[4,6], u32[], token[])"},
      {"send-done", "send-done(sn), channel_id=1", "token[]"},
      {"set-dimension-size", "set-dimension-size(p, i), dimensions={1}",
       "f32[4,<=6]"},
      {"slice", "slice(p), slice={[1:4:2],[0:6]}", "f32[2,6]"},
      {"sort", "sort(p), dimensions={1}, to_apply=less", "f32[4,6]"},
      {"topk", "topk(p), k=2, largest=true", "(f32[4,2], s32[4,2])"},
      {"transpose", "transpose(p), dimensions={1,0}", "f32[6,4]"},
      {"triangular-solve",
       "triangular-solve(sq, sq), left_side=true, lower=true, "
       "transpose_a=NO_TRANSPOSE",
       "f32[6,6]"},
      {"tuple", "tuple(p, q)", "(f32[4,6], f32[4,5])"},
      {"while", "while(i), condition=cond, body=body", "s32[]"},
  };
  for (const char* op : kUnary) {
    all.push_back({op, absl::StrCat(op, "(p)"), "f32[4,6]"});
  }
  for (const char* op : kBinary) {
    if (std::string(op) == "mulhi") continue;
    all.push_back({op, absl::StrCat(op, "(p, p)"), "f32[4,6]"});
  }
  for (const char* op : kLogical) {
    const bool one = OpcodeArity(*OpcodeFromName(op)) == 1;
    all.push_back({op, absl::StrCat(op, one ? "(m)" : "(m, m)"), "s32[4,6]"});
  }
  for (const char* op : kShifts) {
    all.push_back({op, absl::StrCat(op, "(m, m)"), "s32[4,6]"});
  }
  return all;
}

TEST(InferredShapesTest, OfEveryOpcodeThatTellsIt) {
  std::set<std::string> known(std::begin(kDeclared), std::end(kDeclared));
  for (const Inferred& c : AllInferred()) {
    SCOPED_TRACE(c.expression);
    known.insert(c.opcode);
    auto module = ParseModule(Text(absl::StrCat("ROOT r = ", c.expression)));
    ASSERT_OK(module.status());
    EXPECT_EQ((*module)->entry()->root()->shape().ToString(), c.shape);
    EXPECT_OK(VerifyModule(**module));
  }
  for (int i = 0; i < kOpcodeCount; ++i) {
    const std::string name(OpcodeName(static_cast<Opcode>(i)));
    EXPECT_TRUE(known.count(name)) << name;
  }
}

TEST(InferredShapesTest, OthersSayThatTheyNeedTheirShape) {
  for (const char* expression :
       {"broadcast(v), dimensions={0}", "reshape(p)",
        "iota(), iota_dimension=0", "custom-call(p), custom_call_target=\"f\"",
        "convert(p)", "bitcast(p)", "all-gather(p), dimensions={0}",
        "infeed(k)", "rng(z, z), distribution=rng_uniform"}) {
    SCOPED_TRACE(expression);
    auto module = ParseModule(Text(absl::StrCat("r = ", expression)), "m.hlo");
    EXPECT_THAT(module.status(),
                ::ptxla::testing::StatusIs(
                    absl::StatusCode::kInvalidArgument,
                    ::testing::HasSubstr(absl::StrCat("m.hlo:", kLine, ":"))));
  }
}

}  // namespace
}  // namespace ptxla::hlo
