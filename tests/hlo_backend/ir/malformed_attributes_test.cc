// Malformed values of the attributes of each operation are refused with their
// place.
#include "tests/hlo_backend/ir/malformed.h"

namespace ptxla::hlo {
namespace {

constexpr Malformed kMalformedAttributes[] = {
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

TEST(MalformedAttributesTest, AreRefusedWithTheirPlace) {
  for (const Malformed& c : kMalformedAttributes) {
    EXPECT_THAT(RefusalOf(c), IsRefusalOf(c)) << c.header << c.instruction;
  }
}

}  // namespace
}  // namespace ptxla::hlo
