"""Products, reductions, windows, sorting, normalisation, linear algebra and
data movement on the types and forms that hlo_cases_arrays.py has not."""
import jax.numpy as jnp
import numpy as np
from jax import lax

from hlo_case import case, expr, reducer
from hlo_cases_types import several

MATMUL = ", lhs_contracting_dims={1}, rhs_contracting_dims={0}"

# Dots.
for a, b, c, tolerance in [("u8", "u8", "s32", 0), ("s8", "s8", "s8", 0), ("s16", "s16", "s64", 0), ("u32", "u32", "u32", 0),
                           ("f8e4m3fn", "f8e4m3fn", "f32", 1e-6), ("f8e5m2", "f8e4m3fn", "f32", 1e-6), ("f8e4m3fn", "f8e4m3fn", "bf16", 8e-3),
                           ("f16", "f16", "f32", 1e-6), ("f16", "f16", "f16", 2e-3), ("f64", "f64", "f64", 1e-14), ("c128", "c128", "c128", 1e-14)]:
    expr(f"dot_{a}_{b}_{c}", [f"{a}[4,7]", f"{b}[7,3]"], f"{c}[4,3]", "dot(p0, p1)" + MATMUL, tolerance)
expr("dot_s4", ["s4[4,7]", "s4[7,3]"], "s32[4,3]", "dot(p0, p1)" + MATMUL, xla=lambda x, y: (x.astype(np.int32) @ y.astype(np.int32),))
expr("dot_outer", ["f32[3]", "f32[4]"], "f32[3,4]", "dot(p0, p1)", 1e-6)
expr("dot_empty_contraction", ["f32[3,0]", "f32[0,4]"], "f32[3,4]", "dot(p0, p1)" + MATMUL)
expr("dot_two_batch", ["f32[2,3,4,5]", "f32[3,2,5,6]"], "f32[2,3,4,6]", "dot(p0, p1), lhs_batch_dims={0,1}, rhs_batch_dims={1,0}, lhs_contracting_dims={3}, rhs_contracting_dims={2}", 1e-6)


# scaled-dot is a dot of what is multiplied out.
def scaled(dims, out):
    def f(x, y, xs, ys):
        def times(v, s):
            for d in range(v.ndim):
                s = jnp.repeat(s, v.shape[d] // s.shape[d], axis=d)
            return v.astype(jnp.float32) * s.astype(jnp.float32)
        return (lax.dot_general(times(x, xs), times(y, ys), dims, precision="highest").astype(out),)
    return f


E8 = "f8e8m0fnu[%s]:0.2,5"
expr("scaled_dot_e4m3", ["f8e4m3fn[4,64]", "f8e4m3fn[64,3]", E8 % "4,2", E8 % "2,3"], "f32[4,3]", "scaled-dot(p0, p1, p2, p3)" + MATMUL, 1e-6,
     xla=scaled((((1,), (0,)), ((), ())), jnp.float32))
expr("scaled_dot_e5m2", ["f8e5m2[4,64]", "f8e4m3fn[3,64]", E8 % "4,2", E8 % "3,4"], "bf16[4,3]", "scaled-dot(p0, p1, p2, p3), lhs_contracting_dims={1}, rhs_contracting_dims={1}", 8e-3,
     xla=scaled((((1,), (1,)), ((), ())), jnp.bfloat16))
expr("scaled_dot_f4", ["f4e2m1fn[2,4,32]", "f4e2m1fn[2,32,3]", E8 % "2,4,1", E8 % "2,1,3"], "f32[2,4,3]",
     "scaled-dot(p0, p1, p2, p3), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}", 1e-6,
     xla=scaled((((2,), (1,)), ((0,), (0,))), jnp.float32))


# ragged-dot, as JAX writes it out.
def ragged(contracting, batch, lhs_ragged, rhs_group):
    numbers = lax.RaggedDotDimensionNumbers((contracting, batch), lhs_ragged, rhs_group)
    return lambda x, y, g: (lax.ragged_dot_general(x, y, g, numbers, preferred_element_type=jnp.float32, precision="highest"),)


def ragged_case(name, lhs, rhs, sizes, out, contracting, batch, lhs_ragged, rhs_group):
    text = lambda v: "{%s}" % ",".join(map(str, v))  # noqa: E731
    attrs = f"lhs_contracting_dims={text(contracting[0])}, rhs_contracting_dims={text(contracting[1])}"
    if batch[0]:
        attrs = f"lhs_batch_dims={text(batch[0])}, rhs_batch_dims={text(batch[1])}, " + attrs
    attrs += f", lhs_ragged_dims={text(lhs_ragged)}" + (f", rhs_group_dims={text(rhs_group)}" if rhs_group else "")
    expr(name, [lhs, rhs, np.array(sizes, np.int32)], out, "ragged-dot(p0, p1, p2), " + attrs, 1e-6, xla=ragged(contracting, batch, lhs_ragged, rhs_group))


ragged_case("ragged_rows", "f32[9,4]", "f32[3,4,5]", [2, 0, 5], "f32[9,5]", ((1,), (1,)), ((), ()), [0], [0])
ragged_case("ragged_rows_bf16", "bf16[9,4]", "bf16[4,3,5]", [2, 3, 4], "f32[9,5]", ((1,), (0,)), ((), ()), [0], [1])
ragged_case("ragged_rows_batch", "f32[2,6,4]", "f32[3,2,4,5]", [[1, 2, 3], [3, 0, 1]], "f32[2,6,5]", ((2,), (2,)), ((0,), (1,)), [1], [0])
ragged_case("ragged_rows_of_rows", "f32[2,6,4]", "f32[3,4,5]", [[1, 2, 3], [3, 0, 1]], "f32[2,6,5]", ((2,), (1,)), ((), ()), [1], [0])
ragged_case("ragged_contraction", "f32[4,9]", "f32[9,5]", [2, 0, 5], "f32[3,4,5]", ((1,), (0,)), ((), ()), [1], [])
ragged_case("ragged_contraction_batch", "f32[2,4,9]", "f32[2,9,5]", [[2, 3, 3], [0, 9, 0]], "f32[3,2,4,5]", ((2,), (1,)), ((0,), (0,)), [2], [])
ragged_case("ragged_contraction_two", "f32[4,6,3]", "f32[6,3,5]", [2, 4], "f32[2,4,5]", ((1, 2), (0, 1)), ((), ()), [1], [])
ragged_case("ragged_batch", "f32[5,3,4]", "f32[5,4,2]", [2, 3], "f32[5,3,2]", ((2,), (1,)), ((0,), (0,)), [0], [])

# Convolutions.
CONV1 = "convolution(p0, p1), window={size=3 pad=1_1}, dim_labels=b0f_0io->b0f"
for t, tolerance in [("f64", 1e-14), ("f16", 2e-3), ("c64", 1e-6), ("s32", 0), ("s8", 0)]:
    expr(f"conv1d_{t}", [f"{t}[2,7,3]", f"{t}[3,3,4]"], f"{t}[2,7,4]", CONV1, tolerance)
expr("conv1d_s8_s32", ["s8[2,7,3]", "s8[3,3,4]"], "s32[2,7,4]", CONV1)
expr("conv3d", ["f32[1,4,5,6,2]", "f32[2,2,3,2,3]"], "f32[1,3,4,4,3]", "convolution(p0, p1), window={size=2x2x3}, dim_labels=b012f_012io->b012f", 1e-6)
expr("conv0d", ["f32[3,4]", "f32[4,5]"], "f32[3,5]", "convolution(p0, p1), dim_labels=bf_io->bf", 1e-6)
expr("conv_negative_padding", ["f32[1,8,2]", "f32[3,2,3]"], "f32[1,4,3]", "convolution(p0, p1), window={size=3 pad=-1_-1}, dim_labels=b0f_0io->b0f", 1e-6)

# Reductions and windows.
MIN_MAX = """mm {
  a = f32[] parameter(0)
  b = s32[] parameter(1)
  c = f32[] parameter(2)
  d = s32[] parameter(3)
  e = f32[] maximum(a, c)
  f = s32[] minimum(b, d)
  ROOT t = (f32[], s32[]) tuple(e, f)
}
"""
expr("reduce_two_arrays", ["f32[5,6]", "s32[5,6]", "f32[]:-9,-8", "s32[]:90,99"], "(f32[5], s32[5])", "reduce(p0, p1, p2, p3), dimensions={1}, to_apply=mm", 0, MIN_MAX)
expr("reduce_window_two_arrays", ["f32[5,6]", "s32[5,6]", "f32[]:-9,-8", "s32[]:90,99"], "(f32[5,3], s32[5,3])", "reduce-window(p0, p1, p2, p3), window={size=1x2 stride=1x2}, to_apply=mm", 0, MIN_MAX)
for t, tolerance in [("f16", 4e-3), ("bf16", 2e-2), ("f64", 1e-14), ("c64", 2e-6)]:
    expr(f"reduce_add_{t}", [f"{t}[6,7]", f"{t}[]"], f"{t}[7]", "reduce(p0, p1), dimensions={0}, to_apply=f", tolerance, reducer("add", t))
for t in ["s8", "u16", "s64", "u64"]:
    for op in ["maximum", "minimum", "add"]:
        expr(f"reduce_{op}_{t}", [f"{t}[6,7]:0,90", f"{t}[]:3,4"], f"{t}[6]", f"reduce(p0, p1), dimensions={{1}}, to_apply=f", 0, reducer(op, t))
expr("reduce_or", ["pred[7,6]", "pred[]"], "pred[7]", "reduce(p0, p1), dimensions={1}, to_apply=f", 0, reducer("or", "pred"))
expr("window_s32", ["s32[6,9]", "s32[]"], "s32[5,4]", "reduce-window(p0, p1), window={size=2x3 stride=1x2}, to_apply=f", 0, reducer("maximum", "s32"))
expr("window_f64_product", ["f64[6,9]", "f64[]"], "f64[5,9]", "reduce-window(p0, p1), window={size=2x1}, to_apply=f", 1e-14, reducer("multiply", "f64"))
GE = "ge {\n  a = %s[] parameter(0)\n  b = %s[] parameter(1)\n  ROOT c = pred[] compare(a, b), direction=GE\n}\n"
expr("select_and_scatter_1d", ["f32[9]", "f32[3]", "f32[]"], "f32[9]", "select-and-scatter(p0, p1, p2), window={size=3 stride=3}, select=ge, scatter=f", 1e-6, reducer("add", "f32") + GE % ("f32", "f32"))
expr("select_and_scatter_overlap", ["s32[5,9]:0,99", "s32[4,4]", "s32[]:0,1"], "s32[5,9]", "select-and-scatter(p0, p1, p2), window={size=2x3 stride=1x2}, select=ge, scatter=f", 0, reducer("add", "s32") + GE % ("s32", "s32"))
expr("map_one", ["s32[12]"], "s32[12]", "map(p0), dimensions={0}, to_apply=sq", 0, "sq {\n  a = s32[] parameter(0)\n  ROOT b = s32[] multiply(a, a)\n}\n")
expr("map_three", ["f32[3,4]", "f32[3,4]", "pred[3,4]"], "f32[3,4]", "map(p0, p1, p2), dimensions={0,1}, to_apply=pick", 0,
     "pick {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  c = pred[] parameter(2)\n  ROOT d = f32[] select(c, a, b)\n}\n")

# Scatter and gather.
TWO = """two {
  a = f32[] parameter(0)
  b = s32[] parameter(1)
  c = f32[] parameter(2)
  d = s32[] parameter(3)
  e = f32[] add(a, c)
  f = s32[] maximum(b, d)
  ROOT t = (f32[], s32[]) tuple(e, f)
}
"""
expr("scatter_two_arrays", ["f32[8,3]", "s32[8,3]", "s32[4,1]:0,8", "f32[4,3]", "s32[4,3]"], "(f32[8,3], s32[8,3])",
     "scatter(p0, p1, p2, p3, p4), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=two", 1e-6, TWO)
expr("scatter_multiply_f64", ["f64[9]", "s64[5,1]:0,9", "f64[5]"], "f64[9]", "scatter(p0, p1, p2), update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=f", 1e-14, reducer("multiply", "f64"))
expr("gather_c64", ["c64[7,2]", "s8[4,1]:0,7"], "c64[4,2]", "gather(p0, p1), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,2}")

# Sorting.
LT = "lt {\n  a = %s[] parameter(0)\n  b = %s[] parameter(1)\n  ROOT c = pred[] compare(a, b), direction=%s\n}\n"
for t, d in [("f16", "LT"), ("u64", "GT"), ("s8", "LT"), ("pred", "LT"), ("f64", "GT")]:
    expr(f"sort_{t}", [f"{t}[3,17]"], f"{t}[3,17]", "sort(p0), dimensions={1}, is_stable=true, to_apply=lt", 0, LT % (t, t, d))
for t in ["bf16", "s32", "f32", "f64", "u64"]:
    expr(f"topk_{t}", [f"{t}[3,20]"], f"({t}[3,4], s32[3,4])", "topk(p0), k=4, largest=true")
expr("topk_smallest", ["f32[20]"], "(f32[5], s32[5])", "topk(p0), k=5, largest=false", xla=lambda x: (-lax.top_k(-x, 5)[0], lax.top_k(-x, 5)[1]))
expr("custom_topk", ["f32[3,20]"], "(f32[3,4], s32[3,4])", "custom-call(p0), custom_call_target=\"TopK\"", xla=lambda x: lax.top_k(x, 4))

# Batch norm on other types and places.
for t, tolerance in [("f64", 1e-11), ("bf16", 4e-2)]:
    expr(f"batch_norm_training_{t}", [f"{t}[6,4]", f"{t}[4]", f"{t}[4]"], f"({t}[6,4], {t}[4], {t}[4])", "batch-norm-training(p0, p1, p2), epsilon=0.01, feature_index=1", tolerance)
    expr(f"batch_norm_inference_{t}", [f"{t}[4,6]", f"{t}[4]", f"{t}[4]", f"{t}[4]", f"{t}[4]:0.1,2"], f"{t}[4,6]", "batch-norm-inference(p0, p1, p2, p3, p4), epsilon=0.01, feature_index=0", tolerance)
    expr(f"batch_norm_grad_{t}", [f"{t}[6,4]", f"{t}[4]", f"{t}[4]", f"{t}[4]:0.3,2", f"{t}[6,4]"], f"({t}[6,4], {t}[4], {t}[4])", "batch-norm-grad(p0, p1, p2, p3, p4), epsilon=0.01, feature_index=1", tolerance)

# Linear algebra.
for t, tolerance in [("f64", 1e-13), ("c64", 1e-5), ("c128", 1e-12)]:
    rng = np.random.default_rng(9)
    a = rng.normal(size=(4, 4)) + (1j * rng.normal(size=(4, 4)) if t[0] == "c" else 0)
    spd = (a @ a.conj().T + 4 * np.eye(4)).astype({"f64": np.float64, "c64": np.complex64, "c128": np.complex128}[t])
    # Only the triangle that the instruction defines.
    case(f"cholesky_{t}", f"""HloModule m
ENTRY main {{
  x = {t}[4,4] parameter(0)
  c = {t}[4,4] cholesky(x), lower=true
  r = s32[4,4] iota(), iota_dimension=0
  k = s32[4,4] iota(), iota_dimension=1
  keep = pred[4,4] compare(r, k), direction=GE
  zero = {t}[] constant({"(0, 0)" if t[0] == "c" else "0"})
  zeros = {t}[4,4] broadcast(zero), dimensions={{}}
  ROOT s = {t}[4,4] select(keep, c, zeros)
}}
""", [spd], tolerance)
    for transpose in ["NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"]:
        expr(f"solve_{t}_{transpose}".lower(), [spd, f"{t}[4,3]"], f"{t}[4,3]", f"triangular-solve(p0, p1), left_side=true, lower=true, unit_diagonal={'true' if transpose == 'TRANSPOSE' else 'false'}, transpose_a={transpose}", tolerance)
for kind, n, a, b, tolerance in [("FFT", "8", "c128[2,8]", "c128[2,8]", 1e-13), ("IFFT", "2,3,4", "c64[2,3,4]", "c64[2,3,4]", 2e-6), ("RFFT", "9", "f64[9]", "c128[5]", 1e-13),
                                 ("RFFT", "4,6", "f32[4,6]", "c64[4,4]", 2e-6), ("IRFFT", "9", "c64[2,5]", "f32[2,9]", 2e-6), ("IRFFT", "4,6", "c64[4,4]", "f32[4,6]", 2e-6)]:
    expr(f"{kind.lower()}_{n.replace(',', 'x')}_{a[:a.index('[')]}", [a], b, f"fft(p0), fft_type={kind}, fft_length={{{n}}}", tolerance)

# Movement of narrow and wide elements.
for t in ["s4", "f8e4m3fn", "c128", "pred"]:
    several(f"movement_{t}", [f"{t}[4,6]", f"{t}[4,2]", f"{t}[]"],
            [(f"{t}[6,4]", "transpose(p0), dimensions={1,0}"), (f"{t}[4,8]", "concatenate(p0, p1), dimensions={1}"), (f"{t}[2,3]", "slice(p0), slice={[1:4:2],[0:6:2]}"),
             (f"{t}[4,6]", "reverse(p0), dimensions={0,1}"), (f"{t}[7,7]", "pad(p0, p2), padding=1_2x0_1"), (f"{t}[3,8]", "reshape(p0)"), (f"{t}[4,6,3]", "broadcast(p0), dimensions={0,1}"),
             (f"{t}[4,6]", "copy(p0)")])
several("iotas", [], [("bf16[3,4]", "iota(), iota_dimension=1"), ("u8[5]", "iota(), iota_dimension=0"), ("c64[4]", "iota(), iota_dimension=0"), ("f64[2,3]", "iota(), iota_dimension=0")])
several("dynamic_slices", ["s8[9]", "s64[]:3,4", "s8[2]"], [("s8[4]", "dynamic-slice(p0, p1), dynamic_slice_sizes={4}"), ("s8[9]", "dynamic-update-slice(p0, p2, p1)")])
several("dynamic_slices_u32", ["bf16[5,6]", "u32[]:1,9", "u32[]:0,3", "bf16[2,2]"],
        [("bf16[2,3]", "dynamic-slice(p0, p1, p2), dynamic_slice_sizes={2,3}"), ("bf16[5,6]", "dynamic-update-slice(p0, p3, p1, p2)")])
several("bitcast_converts", ["f32[3,4]", "u8[3,4]", "s16[6]", "f64[5]", "u4[3,2]"],
        [("u8[3,4,4]", "bitcast-convert(p0)"), ("f32[3]", "bitcast-convert(p1)"), ("bf16[6]", "bitcast-convert(p2)"), ("u32[5,2]", "bitcast-convert(p3)"), ("s4[3,2]", "bitcast-convert(p4)")])
several("bitcast_converts_below_bytes", ["s8[5]", "s4[3,2]"], [("s4[5,2]", "bitcast-convert(p0)"), ("s8[3]", "bitcast-convert(p1)")])

# A bitcast has one meaning where layouts are row-major: a reshape.
for name, a, b in [("f32", "f32[4,6]", "f32[3,8]"), ("bf16", "bf16[24]", "bf16[2,3,4]"), ("s32", "s32[1,8]", "s32[8]")]:
    order = lambda s: s + "{%s}" % ",".join(str(d) for d in reversed(range(s.count(",") + 1)))  # noqa: E731
    expr(f"bitcast_{name}", [a], order(b), "bitcast(p0)", xla=f"HloModule m\nENTRY main {{\n  p0 = {a} parameter(0)\n  ROOT r = {b} reshape(p0)\n}}\n")
