// Every kind of malformed text is refused with its place: tokens, the header,
// shapes, layouts, shardings, groups, operands, names, each attribute's values.
#include "gtest/gtest.h"
#include "hlo_backend/ir/parser.h"
#include "hlo_backend/ir/verifier.h"
#include "tests/support/status_matchers.h"

namespace ptxla::hlo {
namespace {

using ::ptxla::testing::StatusIs;
using ::testing::HasSubstr;

constexpr char kBefore[] = R"(
add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] add(a, b) }
one { a = f32[] parameter(0) ROOT r = f32[] negate(a) }
ENTRY main { p = f32[4,6] parameter(0) q = f32[4,5] parameter(1) z = f32[] parameter(2) i = s32[] parameter(3) v = f32[4] parameter(4) t = (f32[4], s32[]) parameter(5) c = c64[4] parameter(6) k = token[] parameter(7) u = u64[2] parameter(8) img = f32[1,8,8,4] parameter(9) w = f32[3,3,4,8] parameter(10) g = s32[2] parameter(11) sq = f32[6,6] parameter(12) f6 = f32[6] parameter(13) x = f32[4] parameter(14)
)";

struct Malformed {
  const char* header;       // attributes of the module
  const char* instruction;  // on line 5; empty: a good one
  const char* message;      // "line:column: ..."
};

constexpr Malformed kMalformed[] = {
    {"", "r = f32[4] negate(v) $", "5:22: expected an instruction, got \"$\""},
    {"", "r = f32[4] negate(v), metadata={op_name=\"x}",
     "5:41: the string does not end"},
    {"", "r = f32[4] negate(v), metadata={op_name=7 \"two\nlines\"}",
     "5:41: expected a string, got \"7\""},
    {"", "r = f32[4] \"two\nlines\"",
     "5:12: expected an opcode, got the string \"two\\nlines\""},
    {"", "r = f32[4] negate(v) /* x", "5:22: the comment does not end"},
    {"", "r = f32[4] parameter(99999999999999999999)",
     "5:22: 99999999999999999999 is out of range"},
    {"foo=1", "", "1:14: unknown module attribute \"foo\""},
    {"is_scheduled=maybe", "", "1:27: expected true or false, got \"maybe\""},
    {"replica_count=x", "", "1:28: expected an integer, got \"x\""},
    {"num_partitions=-", "", "1:29: expected an integer, got \"-\""},
    {"input_output_alias={ {}: (0, {}, perhaps) }", "",
     "1:47: expected may-alias or must-alias, got \"perhaps\""},
    {"buffer_donor={ 0 }", "", "1:29: expected '(', got \"0\""},
    {"entry_computation_layout={(f32[4]}", "", "1:47: expected ')', got \"}\""},
    {"frontend_attributes={a=}", "", "1:37: expected a word, got \"}\""},
    {"allow_spmd_sharding_propagation_to_output={yes}", "",
     "1:57: expected true or false, got \"yes\""},
    {"alias_passthrough_params=7", "",
     "1:39: expected true or false, got \"7\""},
    {"", "r = f33[4] negate(v)", "5:5: unknown opcode \"f33\""},
    {"", "r = f32[4 negate(v)", "5:11: expected ']', got \"negate\""},
    {"", "r = f32[-4] negate(v)", "5:9: a dimension is negative"},
    {"", "r = (f32[4] negate(v)", "5:13: expected ')', got \"negate\""},
    {"", "r = f32[9223372036854775807,9] negate(v)",
     "5:1: %r = negate: its shape is written as f32[9223372036854775807,9] but "
     "must be f32[4]"},
    {"", "r = f32[4,6]{1,1} negate(p)",
     "5:13: dimension 1 of the layout is out of range or given twice"},
    {"", "r = f32[4,6]{0} negate(p)",
     "5:13: the layout has 1 dimensions, the shape has 2"},
    {"", "r = f32[4,6]{1,0:T(8,} negate(p)",
     "5:22: expected an integer, got \"}\""},
    {"", "r = f32[4,6]{1,0:S(x)} negate(p)",
     "5:20: expected an integer, got \"x\""},
    {"", "r = f32[4,6]{1,0:Q(1)} negate(p)",
     "5:18: unknown layout property \"Q\""},
    {"", "r = f32[4,6]{1,0:T(-8,128)} negate(p)",
     "5:20: a tile has at least one element"},
    {"", "r = f32[4] negate(v), sharding={foo}",
     "5:33: \"foo\" is no sharding"},
    {"", "r = f32[4] negate(v), sharding={devices=[2,1]0}",
     "5:41: 1 devices for 2 tiles"},
    {"", "r = f32[4] negate(v), sharding={devices=[2,1]0,0}",
     "5:41: a device is given twice"},
    {"", "r = f32[4] negate(v), sharding={devices=[2]<=[3]}",
     "5:41: 3 devices for 2 tiles"},
    {"", "r = f32[4] negate(v), sharding={devices=[2,2]<=[4]T(1,1)}",
     "5:48: T(...) is not a permutation of the dimensions"},
    {"",
     "r = f32[4] negate(v), sharding={devices=[2,2]0,1,2,3 "
     "last_tile_dims={foo}}",
     "5:70: \"foo\" is no sharding"},
    {"", "r = f32[4] negate(v), sharding={maximal device=x}",
     "5:48: expected an integer, got \"x\""},
    {"", "r = f32[4] negate(v), sharding={replicated",
     "7:1: expected '}', got the end of the text"},
    {"", "r = f32[4] negate(v), sharding={shard_as x}",
     "5:42: expected an integer, got \"x\""},
    {"", "r = f32[4] negate(v), sharding={mesh['x'=2], [{'y'}]}",
     "5:33: the mesh has no axis 'y'"},
    {"", "r = f32[4] negate(v), sharding={devices=[-2]0,1}",
     "5:41: the tiles are none or too many"},
    {"", "r = f32[4] all-reduce(v), replica_groups={{0,1}, to_apply=add",
     "5:50: expected '{', got \"to_apply\""},
    {"", "r = f32[4] all-reduce(v), replica_groups={{0,x}}, to_apply=add",
     "5:46: expected an integer, got \"x\""},
    {"", "r = f32[4] all-reduce(v), replica_groups=[2,2]<=[5], to_apply=add",
     "5:42: replica groups [groups,size] do not fit the devices"},
    {"",
     "r = f32[4] all-reduce(v), replica_groups=[2,2]<=[4]T(0,0), to_apply=add",
     "5:49: T(...) is not a permutation of the dimensions"},
    {"", "r = f32[4] all-reduce(v), replica_groups=[0,2]<=[0], to_apply=add",
     "5:49: the list of devices is empty or too long"},
    {"", "r = f32[4] all-reduce(v), replica_groups={0,1}, to_apply=add",
     "5:43: expected '{', got \"0\""},
    {"",
     "r = f32[4] all-reduce(v), replica_groups=mesh['a'=2] {'b'}, to_apply=add",
     "5:42: the mesh has no axis 'b'"},
    {"", "r = f32[4] negate(nobody)", "5:19: unknown instruction \"nobody\""},
    {"", "r = f32[4] negate(v, v)",
     "5:1: %r = negate: negate takes 1 operand, not 2"},
    {"", "r = f32[4] negate(t#7)", "5:20: element 7 of (f32[4], s32[])"},
    {"", "r = f32[4] negate(v#0)", "5:20: element 0 of f32[4]"},
    {"", "r = f32[4] negate(s)\n s = f32[4] negate(v)",
     "5:19: unknown instruction \"s\""},
    {"", "v = f32[4] negate(v)",
     "5:1: instruction v exists already in this computation"},
    {"", "r = f32[4] negat(v)", "5:12: unknown opcode \"negat\""},
    {"", "r = f32[4] parameter(0)", "5:22: parameter 0 exists already"},
    {"", "r = f32[4] parameter(30)", "4:7: parameter 15 of main is missing"},
    {"", "r = f32[3,6] reduce-window(p, z), to_apply=add, window={size=2}x",
     "6:1: expected '=', got \"}\""},
    {"", "r = f32[3,6] reduce-window(p, z), to_apply=add, window={size=0x2}",
     "5:1: %r = reduce-window: the window {size=0x2} has a size below 1"},
    {"", "r = f32[3,6] reduce-window(p, z), to_apply=add, window={siz=2x2}",
     "5:61: unknown window field \"siz\""},
    {"",
     "r = f32[3,6] reduce-window(p, z), to_apply=add, window={size=2x2 "
     "stride=1}",
     "5:73: stride= has 1 dimensions, the others have 2"},
    {"",
     "r = f32[3,6] reduce-window(p, z), to_apply=add, window={size=2x2 "
     "pad=1x1}",
     "5:70: expected pad=low_high for each dimension"},
    {"",
     "r = f32[3,6] reduce-window(p, z), to_apply=add, window={size=2x2 "
     "stride=0x1}",
     "5:1: %r = reduce-window: the window {size=2x2 stride=0x1} has a stride "
     "or "
     "dilation below 1"},
    {"",
     "r = f32[1,6,6,8] convolution(img, w), window={size=3x3}, "
     "dim_labels=b01f_01io->b01",
     "5:69: dim_labels=b01f_01io->b01: unexpected \"1\""},
    {"",
     "r = f32[1,6,6,8] convolution(img, w), window={size=3x3}, "
     "dim_labels=bb1f_01io->b01f",
     "5:69: dim_labels=bb1f_01io->b01f: unexpected \"b\""},
    {"",
     "r = f32[1,6,6,8] convolution(img, w), window={size=3x3}, "
     "dim_labels=b01f_01io",
     "5:69: dim_labels=b01f_01io: expected lhs_rhs->output"},
    {"",
     "r = f32[1,6,6,8] convolution(img, w), window={size=3x3}, "
     "dim_labels=x01f_01io->b01f",
     "5:69: dim_labels=x01f_01io->b01f: unexpected \"x\""},
    {"",
     "r = f32[1,6,6,8] convolution(img, w), window={size=3x3}, "
     "dim_labels=b02f_01io->b01f",
     "5:69: dim_labels=b02f_01io->b01f: unexpected \"2\""},
    {"", "r = f32[2,6] slice(p), slice={[0:2]}",
     "5:1: %r = slice: slice= has 1 ranges, the operand f32[4,6] has 2 "
     "dimensions"},
    {"", "r = f32[2,6] slice(p), slice={[2:0],[0:6]}",
     "5:1: %r = slice: slice [2:0:1] does not fit dimension 0 of f32[4,6]"},
    {"", "r = f32[2,6] slice(p), slice={[0:2:0],[0:6]}",
     "5:1: %r = slice: slice [0:2:0] does not fit dimension 0 of f32[4,6]"},
    {"", "r = f32[2,6] slice(p), slice={[0-2],[0:6]}",
     "5:33: expected ':', got \"-2\""},
    {"", "r = f32[2,6] slice(p), slice=[0:2]", "5:30: expected '{', got \"[\""},
    {"", "r = f32[5,6] pad(p, z), padding=0_1",
     "5:1: %r = pad: padding= has 1 entries, the operand f32[4,6] has 2 "
     "dimensions"},
    {"", "r = f32[5,6] pad(p, z), padding=0_1_2_3x0_0",
     "5:33: expected low_high or low_high_interior, joined by 'x', got "
     "\"0_1_2_3x0_0\""},
    {"", "r = f32[5,6] pad(p, z), padding=0x0",
     "5:33: expected low_high or low_high_interior, joined by 'x', got "
     "\"0x0\""},
    {"", "r = f32[5,6] pad(p, z), padding=0_1_-1x0_0",
     "5:1: %r = pad: interior padding is negative"},
    {"", "r = pred[4] compare(v, v), direction=LESS",
     "5:38: expected one of EQ, NE, GE, GT, LE, LT, got \"LESS\""},
    {"", "r = pred[4] compare(v, v), direction=1",
     "5:38: expected one of EQ, NE, GE, GT, LE, LT, got \"1\""},
    {"", "r = pred[4] compare(v, v), direction=LT, type=FOO",
     "5:47: expected one of FLOAT, TOTALORDER, SIGNED, UNSIGNED, got \"FOO\""},
    {"", "r = f32[6,4] transpose(p), dimensions={1}",
     "5:1: %r = transpose: dimensions= is no permutation of 2 dimensions"},
    {"", "r = f32[6,4] transpose(p), dimensions={1,x}",
     "5:42: expected an integer, got \"x\""},
    {"", "r = f32[6,4] transpose(p), dimensions=1,0",
     "5:39: expected '{', got \"1\""},
    {"", "r = f32[6,4] transpose(p), dimensions={0,2}",
     "5:1: %r = transpose: dimensions= has dimension 2, the operand has 2"},
    {"", "r = f32[4] iota(), iota_dimension=x",
     "5:35: expected an integer, got \"x\""},
    {"", "r = f32[4] iota(), iota_dimension=-1",
     "5:1: %r = iota: iota_dimension=-1 is not a dimension of f32[4]"},
    {"", "r = f32[4] get-tuple-element(t), index=x",
     "5:40: expected an integer, got \"x\""},
    {"", "r = f32[4] get-tuple-element(t), index=-1",
     "5:1: %r = get-tuple-element: index=-1 of a tuple with 2 elements"},
    {"", "r = f32[4] get-tuple-element(t), index=2",
     "5:1: %r = get-tuple-element: index=2 of a tuple with 2 elements"},
    {"", "r = f32[4] reduce-precision(v), mantissa_bits=3, exponent_bits=x",
     "5:64: expected an integer, got \"x\""},
    {"", "r = f32[4] reduce(p, z), dimensions={1}, to_apply=nobody",
     "5:51: unknown computation nobody"},
    {"", "r = f32[4] reduce(p, z), dimensions={1}, to_apply=7",
     "5:51: expected a name, got \"7\""},
    {"", "r = f32[4] fusion(v), kind=kLoop, calls=nobody",
     "5:41: unknown computation nobody"},
    {"", "r = f32[] fusion(z), calls=one, kind=kFoo",
     "5:38: expected one of kLoop, kInput, kOutput, kCustom, got \"kFoo\""},
    {"", "r = s32[] while(i), body=b2, condition=nobody",
     "5:26: unknown computation b2"},
    {"", "r = s32[] conditional(i, i), branch_computations={}",
     "5:1: %r = conditional: conditional needs a selector and branches"},
    {"", "r = s32[] conditional(i, i), branch_computations=nobody",
     "5:50: unknown computation nobody"},
    {"", "r = s32[] conditional(i, i), branch_computations={nobody}",
     "5:51: unknown computation nobody"},
    {"", "r = c64[4] fft(c), fft_length={4}, fft_type=FOO",
     "5:45: expected one of FFT, IFFT, RFFT, IRFFT, got \"FOO\""},
    {"", "r = c64[4] fft(c), fft_type=FFT, fft_length=4",
     "5:45: expected '{', got \"4\""},
    {"", "r = c64[4] fft(c), fft_type=FFT, fft_length={x}",
     "5:46: expected an integer, got \"x\""},
    {"",
     "r = f32[6,6] triangular-solve(sq, sq), left_side=true, lower=true, "
     "transpose_a=FOO",
     "5:80: expected one of TRANSPOSE_INVALID, NO_TRANSPOSE, TRANSPOSE, "
     "ADJOINT, got \"FOO\""},
    {"", "r = f32[6,6] cholesky(sq), lower=maybe",
     "5:34: expected true or false, got \"maybe\""},
    {"", "r = f32[4] rng(z, z), distribution=rng_foo",
     "5:36: expected one of rng_uniform, rng_normal, got \"rng_foo\""},
    {"", "r = u32[4] rng-bit-generator(u), algorithm=rng_foo",
     "5:44: expected one of rng_default, rng_three_fry, rng_philox, got "
     "\"rng_foo\""},
    {"",
     "r = f32[4,4] dot(p, p), lhs_contracting_dims={1}, "
     "rhs_contracting_dims={1}, operand_precision={high",
     "7:1: expected '}', got the end of the text"},
    {"",
     "r = f32[4,4] dot(p, p), lhs_contracting_dims={1}, "
     "rhs_contracting_dims={1}, operand_precision={foo,default}",
     "5:96: expected one of default, high, highest, got \"foo\""},
    {"",
     "r = f32[4,4] dot(p, p), lhs_contracting_dims={1}, "
     "rhs_contracting_dims={1}, algorithm=dot_foo",
     "5:87: expected one of unset, dot_any_f8_any_f8_f32, "
     "dot_any_f8_any_f8_f32_fast_a"},
    {"", "r = f32[4] collective-permute(v), source_target_pairs={0,1}",
     "5:56: expected '{', got \"0\""},
    {"", "r = f32[4] collective-permute(v), source_target_pairs={{0}}",
     "5:55: expected pairs {source,target}"},
    {"", "r = f32[4] collective-permute(v), source_target_pairs={{0,1,2}}",
     "5:55: expected pairs {source,target}"},
    {"", "r = f32[4] collective-permute(v), source_target_pairs={{0,x}}",
     "5:59: expected an integer, got \"x\""},
    {"", "r = f32[4] all-reduce(v), to_apply=add, channel_id=x",
     "5:52: expected an integer, got \"x\""},
    {"", "r = f32[4] all-reduce(v), to_apply=add, use_global_device_ids=1x",
     "5:63: expected true or false, got \"1x\""},
    {"", "r = f32[4] negate(v), metadata={op_name=x}",
     "5:41: expected a string, got \"x\""},
    {"", "r = f32[4] negate(v), metadata={source_line=\"x\"}",
     "5:45: expected an integer, got the string \"x\""},
    {"", "r = f32[4] negate(v), metadata=op", "5:32: expected '{', got \"op\""},
    {"", "r = f32[4] negate(v), frontend_attributes={a",
     "6:1: expected '=', got \"}\""},
    {"", "r = f32[4] negate(v), frontend_attributes={=b}",
     "5:44: expected a name, got \"=\""},
    {"", "r = f32[4] negate(v), frontend_attributes=a=b",
     "5:43: expected '{', got \"a\""},
    {"", "r = f32[4] negate(v), backend_config={\"a\":",
     "7:1: expected '}', got the end of the text"},
    {"", "r = f32[4] negate(v), backend_config=7",
     "5:38: expected a string, got \"7\""},
    {"", "r = f32[4] negate(v), control-predecessors={nobody}",
     "5:45: unknown instruction \"nobody\""},
    {"", "r = f32[4] negate(v), control-predecessors=nobody",
     "5:44: expected '{', got \"nobody\""},
    {"", "r = f32[4] custom-call(v), custom_call_target=f",
     "5:47: expected a string, got \"f\""},
    {"",
     "r = f32[4] custom-call(v), custom_call_target=\"f\", "
     "api_version=API_VERSION_FOO",
     "5:64: expected one of API_VERSION_UNSPECIFIED, API_VERSION_ORIGINAL, "
     "API_VERSION"},
    {"",
     "r = f32[4] custom-call(v), custom_call_target=\"f\", "
     "schedule=SCHEDULE_FOO",
     "5:61: expected one of SCHEDULE_NONE, SCHEDULE_LATEST, SCHEDULE_EARLIEST, "
     "got \"SCHEDULE_FOO\""},
    {"",
     "r = f32[4] custom-call(v), custom_call_target=\"f\", "
     "operand_layout_constraints={f32[4]",
     "7:1: expected '}', got the end of the text"},
    {"",
     "r = f32[4] custom-call(v), custom_call_target=\"f\", "
     "operand_layout_constraints={x}",
     "5:80: expected a shape, got \"x\""},
    {"",
     "r = f32[4] custom-call(v), custom_call_target=\"f\", "
     "output_to_operand_aliasing={{}: 0}",
     "5:84: expected '(', got \"0\""},
    {"",
     "r = f32[4] custom-call(v), custom_call_target=\"f\", "
     "output_to_operand_aliasing={{}: (x, {})}",
     "5:85: expected an integer, got \"x\""},
    {"",
     "r = f32[4] custom-call(v), custom_call_target=\"f\", "
     "padding_type=PADDING_FOO",
     "5:65: expected one of PADDING_INVALID, PADDING_VALID, PADDING_SAME, got "
     "\"PADDING_FOO\""},
    {"",
     "r = f32[2,6] gather(p, g), collapsed_slice_dims={0}, "
     "start_index_map={0}, index_vector_dim=1, slice_sizes={1,6}, "
     "offset_dims=1",
     "5:126: expected '{', got \"1\""},
    {"",
     "r = f32[2,6] gather(p, g), collapsed_slice_dims={0}, "
     "start_index_map={0}, index_vector_dim=1, slice_sizes={1,6}, "
     "offset_dims={x}",
     "5:127: expected an integer, got \"x\""},
    {"", "r = f32[4] domain(v), domain={kind=sharding}",
     "5:36: expected a string, got \"sharding\""},
    {"",
     "r = f32[4] domain(v), domain={kind=\"sharding\", entry={foo}, "
     "exit={replicated}}",
     "5:55: \"foo\" is no sharding"},
    {"",
     "r = f32[4,6] batch-norm-inference(p, f6, f6, f6, f6), feature_index=1, "
     "epsilon=x",
     "5:80: expected a number, got \"x\""},
    {"", "r = f32[2] constant({1,2,3})",
     "5:26: dimension 0 of f32[2] has more elements than 2"},
    {"", "r = f32[2] constant({1})",
     "5:22: dimension 0 of f32[2] has 1 elements here, not 2"},
    {"", "r = f32[2] constant({1,x})", "5:24: expected a number, got \"x\""},
    {"", "r = f32[2] constant(1)", "5:21: expected '{', got \"1\""},
    {"", "r = f32[2] constant({1,2}", "6:1: expected ')', got \"}\""},
    {"", "r = s8[2] constant({1,300})", "5:23: 300 is out of range for s8"},
    {"", "r = s8[2] constant({1,1.5})",
     "5:23: expected an integer, got \"1.5\""},
    {"", "r = pred[] constant(2)", "5:21: 2 is out of range for pred"},
    {"", "r = pred[] constant(maybe)",
     "5:21: expected true or false, got \"maybe\""},
    {"", "r = f32[4] exponential(v), result_accuracy={tolerance=x}",
     "5:55: expected '{', got \"x\""},
    {"", "r = f32[4] negate(v), origin={",
     "7:1: expected '}', got the end of the text"},
    {"",
     "r = f32[4,4] dot(p, p), lhs_contracting_dims={1}, "
     "rhs_contracting_dims={1}, sparsity_config=foo",
     "5:93: expected '{', got \"foo\""},
    {"",
     "r = ((f32[4]), f32[4], u32[]) async-start(v), calls=one, "
     "async_execution_thread=x",
     "5:81: expected a string, got \"x\""},
    {"",
     "r = (f32[4], f32[4], u32[]) copy-start(v), "
     "cross_program_prefetch_index=x",
     "5:73: expected an integer, got \"x\""},
    {"",
     "r = f32[4,6] select-and-scatter(p, q, z), window={size=2x2}, "
     "scatter=add, select=nobody",
     "5:82: unknown computation nobody"},
    {"", "r = (f32[4,2], s32[4,2]) topk(p), largest=true, k=x",
     "5:51: expected an integer, got \"x\""},
    {"", "r = (f32[4,2], s32[4,2]) topk(p), k=2, largest=x",
     "5:48: expected true or false, got \"x\""},
    {"", "r = f32[4,6] sort(p), dimensions={1}, to_apply=add, is_stable=x",
     "5:63: expected true or false, got \"x\""},
    {"", "r = u64[2] rng-get-and-update-state(), delta=x",
     "5:46: expected an integer, got \"x\""},
    {"", "r = (f32[4], token[]) infeed(k), infeed_config=x",
     "5:48: expected a string, got \"x\""},
    {"", "r = token[] outfeed(v, k), outfeed_shape=x",
     "5:42: expected a shape, got \"x\""},
    {"",
     "r = f32[1,6,6,8] convolution(img, w), window={size=3x3 stride=0x1}, "
     "dim_labels=b01f_01io->b01f",
     "5:1: %r = convolution: the window {size=3x3 stride=0x1} has a stride or "
     "dilation below 1"},
    {"",
     "r = f32[1,6,6,8] convolution(img, w), window={size=3x3}, "
     "dim_labels=b01f_01io->b01f, feature_group_count=0",
     "5:1: %r = convolution: group counts are at least 1"},
    {"",
     "r = f32[1,6,6,8] convolution(img, w), window={size=3x3}, "
     "dim_labels=b01f_01io->b01f, feature_group_count=3",
     "5:1: %r = convolution: the kernel takes 4 features x 3 groups, the input "
     "f32[1,8,8,4] has 4"},
    {"",
     "r = f32[1,6,6,8] convolution(img, w), window={size=3x3}, "
     "dim_labels=b01f_01io->b01f, feature_group_count=x",
     "5:106: expected an integer, got \"x\""},
    {"", "r = f32[4] parameter(15), parameter_replication={maybe}",
     "5:50: expected true or false, got \"maybe\""},
    {"", "r = f32[4] scan(v, z), dimensions={0}, to_apply=add, num_carries=x",
     "5:66: expected an integer, got \"x\""},
    {"", "r = f32[4] scan(v, z), dimensions={0}, to_apply=add, num_carries=3",
     "5:1: %r = scan: num_carries=3 of 2 operands"},
    {"", "r = f32[4] negate(v), sharding={replicated}, sharding={replicated}",
     "5:46: attribute sharding is given twice"},
    {"", "r = f32[4] reduce(p, z), dimensions={1}",
     "5:1: reduce needs the attribute to_apply="},
    {"", "r = f32[4] negate(v), window={size=2}",
     "5:23: unexpected attribute \"window\" of negate"},
};

TEST(MalformedTextTest, IsRefusedWithItsPlace) {
  for (const Malformed& c : kMalformed) {
    SCOPED_TRACE(absl::StrCat(c.header, c.instruction));
    const std::string text = absl::StrCat(
        "HloModule t", c.header[0] != '\0' ? ", " : "", c.header, kBefore,
        c.instruction[0] != '\0' ? c.instruction : "ROOT r = f32[4] negate(v)",
        "\n}\n");
    auto module = ParseModule(text, "m.hlo");
    const absl::Status status =
        module.ok() ? VerifyModule(**module) : module.status();
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument,
                                 HasSubstr(absl::StrCat("m.hlo:", c.message))));
  }
}

}  // namespace
}  // namespace ptxla::hlo
