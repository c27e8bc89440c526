// A broken instruction of every opcode is rejected, with its place and the
// rule.
#include <set>

#include "gtest/gtest.h"
#include "hlo_backend/ir/parser.h"
#include "hlo_backend/ir/verifier.h"
#include "tests/hlo_backend/ir/opcode_module.h"
#include "tests/support/status_matchers.h"

namespace ptxla::hlo {
namespace {

using ::ptxla::testing::StatusIs;
using ::testing::HasSubstr;

struct Broken {
  std::string opcode, instruction, rule;
};

std::vector<Broken> AllBroken() {
  std::vector<Broken> all = {
      {"add-dependency", "r = s32[] add-dependency(i, z)", "f32[] is no token"},
      {"after-all", "r = token[] after-all(i)", "s32[] is no token"},
      {"all-gather", "r = f32[8,6] all-gather(q), dimensions={0}",
       "all-gather along dimension 0 of f32[4,5] cannot give f32[8,6]"},
      {"all-gather-done", "r = f32[4,6] all-gather-done(p)",
       "operand f32[4,6] is not what all-gather-done ends"},
      {"all-gather-start",
       "r = (f32[4,5], f32[16,6]) all-gather-start(p), dimensions={0}",
       "all-gather-start makes (operands, results), not (f32[4,5], f32[16,6])"},
      {"all-reduce",
       "r = f32[4,6] all-reduce(p), replica_groups={{0,1},{1,2}}, to_apply=add",
       "replica_groups= has device 1 twice"},
      {"all-reduce-done", "r = f32[4,5] all-reduce-done(p)",
       "its shape is written as f32[4,5] but must be f32[4,6]"},
      {"all-reduce-start", "r = f32[4,5] all-reduce-start(p), to_apply=add",
       "its shape is written as f32[4,5] but must be f32[4,6]"},
      {"all-to-all", "r = f32[4,6] all-to-all(p), dimensions={2}",
       "dimensions= has dimension 2, the operand has 2"},
      {"async-done", "r = f32[4] async-done(p)",
       "operand f32[4,6] is not what async-done ends"},
      {"async-start", "r = ((f32[4]), f32[4], u32[]) async-start(p), calls=one",
       "async-start makes ((operands), results, context), not ((f32[4]), "
       "f32[4], u32[])"},
      {"async-update", "r = f32[4] async-update(p)",
       "its shape is written as f32[4] but must be f32[4,6]"},
      {"batch-norm-grad",
       "r = (f32[4,6], f32[6], f32[6]) batch-norm-grad(p, v, v, v, p), "
       "epsilon=0.1, feature_index=1",
       "operand 1 is f32[4], not a vector of 6 features"},
      {"batch-norm-inference",
       "r = f32[4,6] batch-norm-inference(p, v, v, v, v), epsilon=0.1, "
       "feature_index=1",
       "operand 1 is f32[4], not a vector of 6 features"},
      {"batch-norm-training",
       "r = (f32[4,6], f32[6], f32[6]) batch-norm-training(p, v, v), "
       "epsilon=0.1, feature_index=2",
       "feature_index=2 is not a dimension of f32[4,6]"},
      {"bitcast", "r = f32[4,5] bitcast(p)",
       "bitcast of f32[4,6] (768 bits) to f32[4,5] (640)"},
      {"bitcast-convert", "r = s8[4,6] bitcast-convert(p)",
       "bitcast-convert of f32[4,6] to s8[4,6]"},
      {"broadcast", "r = f32[4,6] broadcast(v), dimensions={1}",
       "operand dimension 0 of f32[4] does not fit dimension 1 of f32[4,6]"},
      {"call", "r = s32[] call(i, i), to_apply=body",
       "body takes 1 parameters, not 2"},
      {"cholesky", "r = f32[4,6] cholesky(p), lower=true",
       "f32[4,6] is not a (batch of) square matrix"},
      {"clamp", "r = f32[4,6] clamp(v, p, z)",
       "clamp bound f32[4] does not fit f32[4,6]"},
      {"collective-broadcast",
       "r = f32[4,5] collective-broadcast(p), replica_groups={{0,1}}",
       "its shape is written as f32[4,5] but must be f32[4,6]"},
      {"collective-permute",
       "r = f32[4,6] collective-permute(p), source_target_pairs={{0,1},{2,1}}",
       "source_target_pairs= has target 1 twice"},
      {"collective-permute-done", "r = f32[4,6] collective-permute-done(p)",
       "operand f32[4,6] is not what collective-permute-done ends"},
      {"collective-permute-start",
       "r = (f32[4,5], f32[4,5], u32[], u32[]) collective-permute-start(p), "
       "source_target_pairs={{0,1}}",
       "collective-permute-start makes (operands, results), not (f32[4,5], "
       "f32[4,5], u32[], u32[])"},
      {"compare", "r = f32[4,6] compare(p, p), direction=LT",
       "its shape is written as f32[4,6] but must be pred[4,6]"},
      {"complex", "r = c64[4] complex(v, z)",
       "operand shapes f32[4] and f32[] differ"},
      {"concatenate", "r = f32[4,11] concatenate(p, q), dimensions={0}",
       "operand 1 f32[4,5] does not fit operand 0 f32[4,6] along dimension 0"},
      {"conditional",
       "r = s32[] conditional(i, i), branch_computations={body, body}",
       "2 branches have 1 operands"},
      {"constant", "r = f32[4] constant({1,2,3})",
       "dimension 0 of f32[4] has 3 elements here, not 4"},
      {"convert", "r = s32[4,7] convert(p)",
       "convert keeps dimensions: f32[4,6] to s32[4,7]"},
      {"convolution",
       "r = f32[1,6,6,8] convolution(img, w), window={size=3x3x3}, "
       "dim_labels=b01f_01io->b01f",
       "the window has 3 dimensions, not 2"},
      {"copy", "r = f32[4,5] copy(p)",
       "its shape is written as f32[4,5] but must be f32[4,6]"},
      {"copy-done", "r = f32[4,6] copy-done(p)",
       "operand f32[4,6] is not what copy-done ends"},
      {"copy-start", "r = (f32[4,6], f32[4,5], u32[]) copy-start(p)",
       "copy-start makes (copy, operand, context), not (f32[4,6], f32[4,5], "
       "u32[])"},
      {"custom-call",
       "r = f32[4] custom-call(p), custom_call_target=\"f\", "
       "operand_layout_constraints={f32[4,6]{1,0}, f32[4]{0}}",
       "operand_layout_constraints= has 2 shapes for 1 operands"},
      {"domain",
       "r = f32[4,5] domain(p), domain={kind=\"sharding\", entry={replicated}, "
       "exit={replicated}}",
       "its shape is written as f32[4,5] but must be f32[4,6]"},
      {"dot",
       "r = f32[4,4] dot(p, q), lhs_contracting_dims={1}, "
       "rhs_contracting_dims={1}",
       "contracting dimension 1 of f32[4,6] does not fit dimension 1 of "
       "f32[4,5]"},
      {"dynamic-reshape", "r = f32[<=24] dynamic-reshape(p, z)",
       "the size of dimension 0 is f32[], not s32[]"},
      {"dynamic-slice",
       "r = f32[1,6] dynamic-slice(p, i), dynamic_slice_sizes={1,6}",
       "dynamic-slice needs 2 start indices, has 1"},
      {"dynamic-update-slice", "r = f32[4,5] dynamic-update-slice(q, p, i, i)",
       "update f32[4,6] does not fit into f32[4,5]"},
      {"fft", "r = c64[4] fft(c), fft_type=FFT, fft_length={5}",
       "fft_length 5 does not fit c64[4]"},
      {"fusion", "r = s32[] fusion(z), kind=kLoop, calls=body",
       "operand 0 is f32[], parameter 0 of body is s32[]"},
      {"gather",
       "r = f32[1,6] gather(p, i), offset_dims={0,1}, collapsed_slice_dims={}, "
       "start_index_map={0,1}, index_vector_dim=0, slice_sizes={1,6}",
       "indices s32[] have 1 components, the map has 2"},
      {"get-dimension-size", "r = s32[] get-dimension-size(p), dimensions={2}",
       "dimensions= has dimension 2, the operand has 2"},
      {"get-tuple-element", "r = f32[4] get-tuple-element(t), index=2",
       "index=2 of a tuple with 2 elements"},
      {"imag", "r = c64[4] imag(c)",
       "its shape is written as c64[4] but must be f32[4]"},
      {"infeed", "r = f32[4] infeed(k)",
       "infeed makes (data, token), not f32[4]"},
      {"iota", "r = f32[4,6] iota(), iota_dimension=2",
       "iota_dimension=2 is not a dimension of f32[4,6]"},
      {"is-finite", "r = f32[4,6] is-finite(p)",
       "its shape is written as f32[4,6] but must be pred[4,6]"},
      {"map", "r = f32[4] map(v, v), to_apply=one",
       "one takes 1 parameters, not 2"},
      {"opt-barrier", "r = f32[4,5] opt-barrier(p)",
       "its shape is written as f32[4,5] but must be f32[4,6]"},
      {"outfeed", "r = token[] outfeed(p, k), outfeed_shape=f32[4,5]",
       "outfeed_shape=f32[4,5] is not that of operand f32[4,6]"},
      {"pad", "r = f32[5,6] pad(p, z), padding=0_1",
       "padding= has 1 entries, the operand f32[4,6] has 2 dimensions"},
      {"parameter", "r = f32[4] parameter(4)", "parameter 4 exists already"},
      {"partition-id", "r = s32[] partition-id()",
       "its shape is written as s32[] but must be u32[]"},
      {"ragged-all-to-all",
       "r = f32[4,6] ragged-all-to-all(p, q, g, g, g, g), "
       "replica_groups={{0,1}}",
       "its shape is written as f32[4,6] but must be f32[4,5]"},
      {"ragged-dot",
       "r = f32[4,6] ragged-dot(p, q, g), lhs_contracting_dims={1}, "
       "rhs_contracting_dims={1}, lhs_ragged_dims={0}, rhs_group_dims={0}",
       "contracting dimension 1 of f32[4,6] does not fit dimension 1 of "
       "f32[4,5]"},
      {"real", "r = f32[5] real(c)",
       "its shape is written as f32[5] but must be f32[4]"},
      {"recv", "r = f32[4] recv(k), channel_id=1",
       "recv makes (data, context, token), not f32[4]"},
      {"recv-done", "r = (f32[4], token[]) recv-done(p), channel_id=1",
       "operand f32[4,6] is not what recv-done ends"},
      {"reduce", "r = f32[4] reduce(p, z), dimensions={2}, to_apply=add",
       "dimensions= has dimension 2, the operand has 2"},
      {"reduce-precision",
       "r = f32[4,5] reduce-precision(p), exponent_bits=5, mantissa_bits=10",
       "its shape is written as f32[4,5] but must be f32[4,6]"},
      {"reduce-scatter",
       "r = f32[3,6] reduce-scatter(p), dimensions={0}, to_apply=add",
       "reduce-scatter along dimension 0 of f32[4,6] cannot give f32[3,6]"},
      {"reduce-window",
       "r = f32[3,6] reduce-window(p, z), window={size=2}, to_apply=add",
       "the window has 1 dimensions, the operand f32[4,6] has 2"},
      {"replica-id", "r = f32[4] replica-id()",
       "its shape is written as f32[4] but must be u32[]"},
      {"reshape", "r = f32[3,8] reshape(q)",
       "reshape of f32[4,5] (20 elements) to f32[3,8] (24)"},
      {"reverse", "r = f32[4,6] reverse(p), dimensions={2}",
       "dimensions= has dimension 2, the operand has 2"},
      {"rng", "r = f32[4] rng(z, v), distribution=rng_uniform",
       "rng bounds are scalars"},
      {"rng-bit-generator",
       "r = (f32[4], u32[8]) rng-bit-generator(v), algorithm=rng_philox",
       "the state is of integers, not f32[4]"},
      {"rng-get-and-update-state",
       "r = f32[2] rng-get-and-update-state(), delta=1",
       "the state is of integers, not f32[2]"},
      {"scaled-dot",
       "r = f32[4,4] scaled-dot(p, q, z, z), lhs_contracting_dims={1}, "
       "rhs_contracting_dims={1}",
       "contracting dimension 1 of f32[4,6] does not fit dimension 1 of "
       "f32[4,5]"},
      {"scan",
       "r = (f32[4,6], f32[4]) scan(p), dimensions={0}, num_carries=0, "
       "to_apply=step",
       "step takes 2 parameters, not 1"},
      {"scatter",
       "r = f32[4,6] scatter(p, g, v), update_window_dims={}, "
       "inserted_window_dims={0}, scatter_dims_to_operand_dims={0,1}, "
       "index_vector_dim=0, to_apply=add",
       "update f32[4] has 1 dimensions, the dimension numbers say 0"},
      {"select", "r = f32[4,6] select(p, p, p)",
       "select needs pred of the operands' dimensions, not f32[4,6] for "
       "f32[4,6]"},
      {"select-and-scatter",
       "r = f32[4,6] select-and-scatter(p, q, z), window={size=2x2 "
       "stride=2x2}, select=sel, scatter=add",
       "source f32[4,5] is not what the window makes of f32[4,6]"},
      {"send", "r = f32[4] send(p, k), channel_id=1",
       "send makes (data, context, token), not f32[4]"},
      {"send-done", "r = token[] send-done(p), channel_id=1",
       "operand f32[4,6] is not what send-done ends"},
      {"set-dimension-size",
       "r = f32[4,<=6] set-dimension-size(p, z), dimensions={1}",
       "the size is f32[], not s32[]"},
      {"slice", "r = f32[2,6] slice(p), slice={[0:5],[0:6]}",
       "slice [0:5:1] does not fit dimension 0 of f32[4,6]"},
      {"sort", "r = f32[4,6] sort(p), dimensions={2}, to_apply=less",
       "dimension 2 is not one of f32[4,6]"},
      {"stochastic-convert", "r = bf16[4,6] stochastic-convert(p, b)",
       "the random bits pred[4,6] are not integers as wide as f32[4,6]"},
      {"topk", "r = (f32[4,9], s32[4,9]) topk(p), k=9, largest=true",
       "k=9 does not fit f32[4,6]"},
      {"transpose", "r = f32[4,6] transpose(p), dimensions={0,0}",
       "dimensions= names dimension 0 twice"},
      {"triangular-solve",
       "r = f32[4,6] triangular-solve(p, p), left_side=true, lower=true, "
       "transpose_a=NO_TRANSPOSE",
       "f32[4,6] is not a (batch of) square matrix"},
      {"tuple", "r = (f32[4,6], f32[4,6]) tuple(p, q)",
       "its shape is written as (f32[4,6], f32[4,6]) but must be (f32[4,6], "
       "f32[4,5])"},
      {"while", "r = s32[] while(i), condition=cond, body=wide",
       "operand 0 is s32[], parameter 0 of wide is s32[2]"},
  };
  for (const char* op : kUnary) {
    all.push_back({op, absl::StrCat("r = f32[4,5] ", op, "(p)"),
                   "its shape is written as f32[4,5] but must be f32[4,6]"});
  }
  for (const char* op : kBinary) {
    all.push_back({op, absl::StrCat("r = f32[4,6] ", op, "(p, q)"),
                   "operand shapes f32[4,6] and f32[4,5] differ"});
  }
  for (const char* op : kLogical) {
    const bool one = OpcodeArity(*OpcodeFromName(op)) == 1;
    const bool takes_pred = !one || op == absl::string_view("not");
    all.push_back(
        {op, absl::StrCat("r = f32[4,6] ", op, one ? "(p)" : "(p, p)"),
         absl::StrCat(op, " takes integers", takes_pred ? " or pred" : "",
                      ", not f32[4,6]")});
  }
  for (const char* op : kShifts) {
    all.push_back({op, absl::StrCat("r = f32[4,6] ", op, "(p, p)"),
                   absl::StrCat(op, " takes integers, not f32[4,6]")});
  }
  return all;
}

TEST(OpcodeRulesTest, EveryOpcodeHasABrokenInstructionThatIsRejected) {
  std::set<std::string> rejected;
  for (const Broken& b : AllBroken()) {
    SCOPED_TRACE(b.instruction);
    auto module = ParseModule(Text(b.instruction), "m.hlo");
    const absl::Status status =
        module.ok() ? VerifyModule(**module) : module.status();
    EXPECT_THAT(status,
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr(absl::StrCat("m.hlo:", kLine, ":"))));
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument,
                                 HasSubstr(b.rule)));
    // Constants and parameters are wrong before they are instructions.
    if (module.ok()) {
      EXPECT_THAT(std::string(status.message()),
                  HasSubstr(absl::StrCat(":1: %r = ", b.opcode, ": ")));
    }
    rejected.insert(b.opcode);
  }
  for (int i = 0; i < kOpcodeCount; ++i) {
    const std::string name(OpcodeName(static_cast<Opcode>(i)));
    EXPECT_TRUE(rejected.count(name)) << "no broken " << name << " here";
  }
}

}  // namespace
}  // namespace ptxla::hlo
