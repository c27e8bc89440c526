"""Everything on whole arrays, mostly f32."""
import numpy as np

from hlo_case import SPECIAL, TYPES, case, expr, reducer

# Movement.
expr("broadcast", ["f32[3,2]"], "f32[4,3,5,2]", "broadcast(p0), dimensions={1,3}")
expr("transpose", ["bf16[3,4,5]"], "bf16[5,3,4]", "transpose(p0), dimensions={2,0,1}")
expr("transpose_large", ["f32[70,45]"], "f32[45,70]", "transpose(p0), dimensions={1,0}")
expr("reshape", ["s32[4,6]"], "s32[3,8]", "reshape(p0)")
expr("slice", ["f32[7,9]"], "f32[3,4]", "slice(p0), slice={[1:6:2],[2:9:2]}")
expr("reverse", ["f32[3,4,2]"], "f32[3,4,2]", "reverse(p0), dimensions={0,2}")
expr("concatenate", ["f32[2,3]", "f32[2,1]", "f32[2,4]"], "f32[2,8]", "concatenate(p0, p1, p2), dimensions={1}")
expr("pad", ["f32[3,4]", "f32[]"], "f32[7,6]", "pad(p0, p1), padding=1_1_1x2_0_0")
expr("pad_negative", ["f32[5,6]", "f32[]"], "f32[6,5]", "pad(p0, p1), padding=-1_-2_1x-2_1_0")
expr("iota", [], "s32[3,4,2]", "iota(), iota_dimension=1")
expr("iota_f32", [], "f32[3,4]", "iota(), iota_dimension=0")
expr("dynamic_slice", ["f32[6,7]", "s32[]:2,3", "s32[]:6,7"], "f32[3,2]", "dynamic-slice(p0, p1, p2), dynamic_slice_sizes={3,2}")
expr("dynamic_update_slice", ["f32[6,7]", "f32[2,3]", "s32[]:5,6", "s32[]:-3,-2"], "f32[6,7]", "dynamic-update-slice(p0, p1, p2, p3)")

# Products.
expr("dot", ["f32[5,7]", "f32[7,3]"], "f32[5,3]", "dot(p0, p1), lhs_contracting_dims={1}, rhs_contracting_dims={0}", 1e-6)
expr("dot_batch", ["bf16[2,5,7]", "bf16[2,3,7]"], "bf16[2,5,3]", "dot(p0, p1), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={2}", 8e-3)
expr("dot_mixed", ["bf16[5,7]", "bf16[7,3]"], "f32[5,3]", "dot(p0, p1), lhs_contracting_dims={1}, rhs_contracting_dims={0}", 1e-6)
expr("dot_s8", ["s8[5,7]:-100,100", "s8[7,3]:-100,100"], "s32[5,3]", "dot(p0, p1), lhs_contracting_dims={1}, rhs_contracting_dims={0}")
expr("dot_two_contracting", ["f32[4,5,6]", "f32[6,3,4]"], "f32[5,3]", "dot(p0, p1), lhs_contracting_dims={0,2}, rhs_contracting_dims={2,0}", 1e-6)
expr("dot_batch_middle", ["f32[5,2,7]", "f32[7,3,2]"], "f32[2,5,3]", "dot(p0, p1), lhs_batch_dims={1}, rhs_batch_dims={2}, lhs_contracting_dims={2}, rhs_contracting_dims={0}", 1e-6)
expr("dot_vector", ["f64[9]", "f64[9]"], "f64[]", "dot(p0, p1), lhs_contracting_dims={0}, rhs_contracting_dims={0}", 1e-14)
expr("dot_c64", ["c64[3,4]", "c64[4,2]"], "c64[3,2]", "dot(p0, p1), lhs_contracting_dims={1}, rhs_contracting_dims={0}", 1e-6)
expr("conv", ["f32[2,7,8,3]", "f32[3,3,3,4]"], "f32[2,4,8,4]", "convolution(p0, p1), window={size=3x3 stride=2x1 pad=1_1x1_1}, dim_labels=b01f_01io->b01f", 1e-6)
expr("conv_nchw_groups", ["f32[2,4,6,6]", "f32[6,2,3,3]"], "f32[2,6,4,4]", "convolution(p0, p1), window={size=3x3}, dim_labels=bf01_oi01->bf01, feature_group_count=2", 1e-6)
expr("conv_depthwise", ["bf16[1,8,8,6]", "bf16[3,3,1,6]"], "bf16[1,8,8,6]", "convolution(p0, p1), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f, feature_group_count=6", 8e-3)
expr("conv_dilated", ["f32[1,5,6,2]", "f32[2,3,2,3]"], "f32[1,8,6,3]", "convolution(p0, p1), window={size=2x3 pad=1_1x2_2 lhs_dilate=2x1 rhs_dilate=3x2}, dim_labels=b01f_01io->b01f", 1e-6)
expr("conv_reversal", ["f32[1,5,2]", "f32[3,2,3]"], "f32[1,3,3]", "convolution(p0, p1), window={size=3 rhs_reversal=1}, dim_labels=b0f_0io->b0f", 1e-6)
expr("conv_batch_groups", ["f32[4,5,2]", "f32[3,2,6]"], "f32[2,3,6]", "convolution(p0, p1), window={size=3}, dim_labels=b0f_0io->b0f, batch_group_count=2", 1e-6)
expr("conv_backward_labels", ["f32[6,5,4]", "f32[6,5,3]"], "f32[1,4,3]", "convolution(p0, p1), window={size=5}, dim_labels=f0b_i0o->0bf", 1e-6)

# Reductions and windows.
for op in ["add", "multiply", "maximum", "minimum"]:
    for dims, shape in [("0", "[5,6]"), ("1", "[4,6]"), ("2", "[4,5]"), ("0,2", "[5]"), ("0,1,2", "[]")]:
        expr(f"reduce_{op}_{dims.replace(',', '')}", ["f32[4,5,6]", "f32[]"], f"f32{shape}", f"reduce(p0, p1), dimensions={{{dims}}}, to_apply=f", 2e-6, reducer(op, "f32"))
expr("reduce_s32", ["s32[40,6]:-900,900", "s32[]:0,1"], "s32[6]", "reduce(p0, p1), dimensions={0}, to_apply=f", 0, reducer("add", "s32"))
expr("reduce_s8_multiply", ["s8[7,6]", "s8[]:1,2"], "s8[6]", "reduce(p0, p1), dimensions={0}, to_apply=f", 0, reducer("multiply", "s8"))
expr("reduce_and", ["pred[7,6]", "pred[]"], "pred[6]", "reduce(p0, p1), dimensions={0}, to_apply=f", 0, reducer("and", "pred"))
expr("reduce_xor_u32", ["u32[7,6]:0,4294967295", "u32[]"], "u32[7]", "reduce(p0, p1), dimensions={1}, to_apply=f", 0, reducer("xor", "u32"))
ARGMAX = """argmax {
  v0 = f32[] parameter(0)
  i0 = s32[] parameter(1)
  v1 = f32[] parameter(2)
  i1 = s32[] parameter(3)
  gt = pred[] compare(v0, v1), direction=GT
  eq = pred[] compare(v0, v1), direction=EQ
  lt = pred[] compare(i0, i1), direction=LT
  tie = pred[] and(eq, lt)
  first = pred[] or(gt, tie)
  v = f32[] select(first, v0, v1)
  i = s32[] select(first, i0, i1)
  ROOT t = (f32[], s32[]) tuple(v, i)
}
"""
case("reduce_argmax", "HloModule m\n" + ARGMAX + """ENTRY main {
  x = f32[6,9] parameter(0)
  n = s32[6,9] iota(), iota_dimension=1
  low = f32[] constant(-inf)
  zero = s32[] constant(0)
  ROOT r = (f32[6], s32[6]) reduce(x, n, low, zero), dimensions={1}, to_apply=argmax
}
""", ["f32[6,9]"])
expr("map", ["f32[20]", "f32[20]"], "f32[20]", "map(p0, p1), dimensions={0}, to_apply=f", 1e-6,
     "f {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  c = f32[] constant(2)\n  d = f32[] multiply(a, c)\n  e = f32[] add(d, b)\n  ROOT g = f32[] tanh(e)\n}\n")
expr("window_sum", ["f32[1,8,9,2]", "f32[]"], "f32[1,4,4,2]", "reduce-window(p0, p1), window={size=1x3x2x1 stride=1x2x2x1 pad=0_0x1_1x0_0x0_0}, to_apply=f", 1e-6, reducer("add", "f32"))
expr("window_max", ["bf16[6,9]", "bf16[]:-9,-8"], "bf16[5,5]", "reduce-window(p0, p1), window={size=3x3 stride=1x2 pad=1_0x1_1}, to_apply=f", 0, reducer("maximum", "bf16"))
expr("window_dilated", ["f32[9,7]", "f32[]"], "f32[14,3]", "reduce-window(p0, p1), window={size=2x3 rhs_dilate=3x2 lhs_dilate=2x1}, to_apply=f", 1e-6, reducer("add", "f32"))
expr("window_cumsum", ["s32[3,9]", "s32[]:0,1"], "s32[3,9]", "reduce-window(p0, p1), window={size=1x9 pad=0_0x8_0}, to_apply=f", 0, reducer("add", "s32"))
expr("select_and_scatter", ["f32[1,6,6,2]", "f32[1,3,3,2]", "f32[]"], "f32[1,6,6,2]", "select-and-scatter(p0, p1, p2), window={size=1x3x3x1 stride=1x2x2x1 pad=0_0x1_0x1_0x0_0}, select=ge, scatter=f", 1e-6,
     reducer("add", "f32") + "ge {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT c = pred[] compare(a, b), direction=GE\n}\n")

# Gather and scatter.
expr("gather_rows", ["f32[10,4]", "s32[6]:-3,14"], "f32[6,4]", "gather(p0, p1), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,4}")
expr("gather_windows", ["f32[8,9]", "s32[3,2,2]:0,9"], "f32[3,3,2,2]", "gather(p0, p1), offset_dims={1,2}, collapsed_slice_dims={}, start_index_map={1,0}, index_vector_dim=1, slice_sizes={3,2}")
expr("gather_batching", ["f32[3,5,2]", "s32[3,4]:0,5"], "f32[3,4,2]", "gather(p0, p1), offset_dims={2}, collapsed_slice_dims={1}, start_index_map={1}, index_vector_dim=2, slice_sizes={1,1,2}, operand_batching_dims={0}, start_indices_batching_dims={0}")
expr("gather_u32", ["bf16[10]", "u32[6]:0,12"], "bf16[6]", "gather(p0, p1), offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1}")
expr("scatter_add_rows", ["f32[10,4]", "s64[6]:-2,12", "f32[6,4]"], "f32[10,4]", "scatter(p0, p1, p2), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=f", 1e-6, reducer("add", "f32"))
expr("scatter_windows", ["f32[8,9]", "s32[3,2]:-1,8", "f32[3,2,3]"], "f32[8,9]", "scatter(p0, p1, p2), update_window_dims={1,2}, inserted_window_dims={}, scatter_dims_to_operand_dims={1,0}, index_vector_dim=1, to_apply=f", 1e-6, reducer("add", "f32"))
expr("scatter_overwrite", ["s32[8]", np.array([[1], [5], [2]], np.int32), "s32[3]"], "s32[8]", "scatter(p0, p1, p2), update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=f", 0,
     "f {\n  a = s32[] parameter(0)\n  ROOT b = s32[] parameter(1)\n}\n")
expr("scatter_batching", ["f32[3,5]", "s32[3,4]:0,5", "f32[3,4]"], "f32[3,5]", "scatter(p0, p1, p2), update_window_dims={}, inserted_window_dims={1}, scatter_dims_to_operand_dims={1}, index_vector_dim=2, input_batching_dims={0}, scatter_indices_batching_dims={0}, to_apply=f", 1e-6, reducer("add", "f32"))

# Sort, top-k.
LESS = "lt {\n  a = %s[] parameter(0)\n  b = %s[] parameter(1)\n  ROOT c = pred[] compare(a, b), direction=%s\n}\n"
expr("sort", ["f32[5,9]"], "f32[5,9]", "sort(p0), dimensions={1}, to_apply=lt", 0, LESS % ("f32", "f32", "LT"))
expr("sort_rows_descending", ["s32[9,4]"], "s32[9,4]", "sort(p0), dimensions={0}, to_apply=lt", 0, LESS % ("s32", "s32", "GT"))
expr("sort_pairs", ["bf16[3,20]", "s32[3,20]:0,1000"], "(bf16[3,20], s32[3,20])", "sort(p0, p1), dimensions={1}, is_stable=true, to_apply=lt", 0,
     "lt {\n  a = bf16[] parameter(0)\n  b = bf16[] parameter(1)\n  i = s32[] parameter(2)\n  j = s32[] parameter(3)\n  ROOT c = pred[] compare(a, b), direction=LT, type=TOTALORDER\n}\n")
expr("sort_two_keys", ["s32[40]:0,4", "s32[40]:0,1000"], "(s32[40], s32[40])", "sort(p0, p1), dimensions={0}, is_stable=true, to_apply=lt", 0,
     "lt {\n  a = s32[] parameter(0)\n  b = s32[] parameter(1)\n  i = s32[] parameter(2)\n  j = s32[] parameter(3)\n  x = pred[] compare(a, b), direction=LT\n  e = pred[] compare(a, b), direction=EQ\n  y = pred[] compare(i, j), direction=GT\n  z = pred[] and(e, y)\n  ROOT c = pred[] or(x, z)\n}\n")

# Normalisation.
expr("batch_norm_training", ["f32[4,3,5]", "f32[3]", "f32[3]"], "(f32[4,3,5], f32[3], f32[3])", "batch-norm-training(p0, p1, p2), epsilon=0.001, feature_index=1", 4e-6)
expr("batch_norm_inference", ["f32[4,5,3]", "f32[3]", "f32[3]", "f32[3]", "f32[3]:0.1,2"], "f32[4,5,3]", "batch-norm-inference(p0, p1, p2, p3, p4), epsilon=0.001, feature_index=2", 4e-6)
expr("batch_norm_grad", ["f32[4,3,5]", "f32[3]", "f32[3]", "f32[3]:0.1,2", "f32[4,3,5]"], "(f32[4,3,5], f32[3], f32[3])", "batch-norm-grad(p0, p1, p2, p3, p4), epsilon=0.001, feature_index=1", 1e-5)

# Random bits that XLA fixes.
for algorithm in ["rng_three_fry", "rng_philox"]:
    for shape in ["u32[3,5]", "u32[4,6]", "u32[]", "u8[7]", "u16[2,3,5]", "u64[5]", "u32[6,3,2]"]:
        words = 3 if algorithm == "rng_philox" else 2
        key = np.array([0x123456789abcdef0, 42, 7][:words], np.uint64)
        expr(f"{algorithm}_{shape}".replace("[", "_").replace("]", "").replace(",", "x"), [key], f"(u64[{words}], {shape})", f"rng-bit-generator(p0), algorithm={algorithm}")

# Control flow.
case("while_sum", """HloModule m
cond {
  s = (s32[], f32[4]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(10)
  ROOT c = pred[] compare(i, n), direction=LT
}
body {
  s = (s32[], f32[4]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[4] get-tuple-element(s), index=1
  one = s32[] constant(1)
  j = s32[] add(i, one)
  f = f32[] convert(i)
  b = f32[4] broadcast(f), dimensions={}
  y = f32[4] add(x, b)
  ROOT t = (s32[], f32[4]) tuple(j, y)
}
ENTRY main {
  x = f32[4] parameter(0)
  zero = s32[] constant(0)
  t = (s32[], f32[4]) tuple(zero, x)
  ROOT w = (s32[], f32[4]) while(t), condition=cond, body=body
}
""", ["f32[4]"], 1e-6)
for index in (0, 1, 2, 5):
    case(f"conditional_{index}", """HloModule m
b0 {
  x = f32[3] parameter(0)
  ROOT y = f32[3] negate(x)
}
b1 {
  ROOT x = f32[3] parameter(0)
}
b2 {
  x = f32[3] parameter(0)
  ROOT y = f32[3] multiply(x, x)
}
ENTRY main {
  i = s32[] parameter(0)
  x = f32[3] parameter(1)
  ROOT c = f32[3] conditional(i, x, x, x), branch_computations={b0, b1, b2}
}
""", [np.array(index, np.int32), "f32[3]"])

# Linear algebra and fft.
for lower in ("true", "false"):
    base = np.random.default_rng(5).normal(size=(2, 5, 5))
    spd = (base @ base.transpose(0, 2, 1) + 5 * np.eye(5)).astype(np.float32)
    case(f"cholesky_{lower}", """HloModule m
ENTRY main {
  x = f32[2,5,5] parameter(0)
  c = f32[2,5,5] cholesky(x), lower=%s
  r = s32[2,5,5] iota(), iota_dimension=1
  k = s32[2,5,5] iota(), iota_dimension=2
  keep = pred[2,5,5] compare(r, k), direction=%s
  zero = f32[] constant(0)
  zeros = f32[2,5,5] broadcast(zero), dimensions={}
  ROOT t = f32[2,5,5] select(keep, c, zeros)
}
""" % (lower, "GE" if lower == "true" else "LE"), [spd], 1e-5)
    for left in ("true", "false"):
        for transpose in ("NO_TRANSPOSE", "TRANSPOSE"):
            b = "f32[2,5,3]" if left == "true" else "f32[2,3,5]"
            expr(f"solve_{lower}_{left}_{transpose}".lower(), [spd, b], b, f"triangular-solve(p0, p1), left_side={left}, lower={lower}, unit_diagonal=false, transpose_a={transpose}", 1e-5)
for n in (8, 6):
    expr(f"fft_{n}", [f"c64[3,{n}]"], f"c64[3,{n}]", f"fft(p0), fft_type=FFT, fft_length={{{n}}}", 2e-6)
    expr(f"ifft_{n}", [f"c64[3,{n}]"], f"c64[3,{n}]", f"fft(p0), fft_type=IFFT, fft_length={{{n}}}", 2e-6)
    expr(f"rfft_{n}", [f"f32[3,{n}]"], f"c64[3,{n // 2 + 1}]", f"fft(p0), fft_type=RFFT, fft_length={{{n}}}", 2e-6)
expr("irfft_8", ["c64[3,5]"], "f32[3,8]", "fft(p0), fft_type=IRFFT, fft_length={8}", 2e-6)
expr("fft_2d", ["c64[3,4,8]"], "c64[3,4,8]", "fft(p0), fft_type=FFT, fft_length={4,8}", 2e-6)
