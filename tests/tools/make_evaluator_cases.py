"""Makes tests/data/evaluator/cases.txt and cases.npz: small HLO modules, their
inputs, and what XLA's CPU backend computes for them. Run by hand when a case is
added:

    python tests/tools/make_evaluator_cases.py tests/data/evaluator

A line `// case NAME tolerance=R` starts a module; R is the largest error,
relative to the largest magnitude of the output, that the evaluator may have;
with 0 outputs must be equal. Arrays are named NAME/arg0 ..., NAME/out0 ...
"""
import os
import sys
import zlib

import ml_dtypes
import numpy as np

import run_hlo

TYPES = {"pred": np.bool_, "s4": ml_dtypes.int4, "u4": ml_dtypes.uint4, "s8": np.int8,
         "s16": np.int16, "s32": np.int32, "s64": np.int64, "u8": np.uint8, "u16": np.uint16,
         "u32": np.uint32, "u64": np.uint64, "f16": np.float16, "bf16": ml_dtypes.bfloat16,
         "f32": np.float32, "f64": np.float64, "c64": np.complex64, "c128": np.complex128,
         "f8e5m2": ml_dtypes.float8_e5m2, "f8e4m3fn": ml_dtypes.float8_e4m3fn,
         "f8e4m3b11fnuz": ml_dtypes.float8_e4m3b11fnuz, "f8e4m3": ml_dtypes.float8_e4m3,
         "f8e3m4": ml_dtypes.float8_e3m4, "f8e5m2fnuz": ml_dtypes.float8_e5m2fnuz,
         "f8e4m3fnuz": ml_dtypes.float8_e4m3fnuz}
CASES = {}


def parse(shape):
    name, dims = shape.split("[")
    dims = dims.rstrip("]")
    return name, tuple(int(d) for d in dims.split(",") if d)


def make(spec, rng):
    """'f32[2,3]' normal; 'f32[2,3]:0.1,4' uniform; 's32[4]:0,9'; '=..' literal."""
    if not isinstance(spec, str):
        return spec
    shape, _, span = spec.partition(":")
    name, dims = parse(shape)
    dtype = TYPES[name]
    if name == "pred":
        return rng.integers(0, 2, dims).astype(np.bool_)
    if name[0] in "su":
        low, high = (int(v) for v in span.split(",")) if span else ((-5 if name[0] == "s" else 0), 6)
        return rng.integers(low, high, dims, dtype=np.int64 if low < 0 or high < 2**63 else np.uint64).astype(dtype)
    if name[0] == "c":
        return (rng.normal(size=dims) + 1j * rng.normal(size=dims)).astype(dtype)
    if span:
        low, high = (float(v) for v in span.split(","))
        return rng.uniform(low, high, dims).astype(dtype)
    return rng.normal(size=dims).astype(dtype)


def case(name, text, args, tolerance=0):
    assert name not in CASES, name
    CASES[name] = (text, args, tolerance)


def expr(name, args, result, op, tolerance=0, before=""):
    """One instruction on parameters p0, p1, ..."""
    lines = [f"  p{i} = {(a if isinstance(a, str) else spec_of(a)).partition(':')[0]} parameter({i})" for i, a in enumerate(args)]
    case(name, "HloModule %s\n%s\nENTRY main {\n%s\n  ROOT r = %s %s\n}\n" % (name, before, "\n".join(lines), result, op), args, tolerance)


def spec_of(array):
    for name, dtype in TYPES.items():
        if array.dtype == dtype:
            return "%s[%s]" % (name, ",".join(map(str, array.shape)))
    raise ValueError(array.dtype)


SPECIAL = np.array([0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 1.5, 3.5, 1e-20, 80.0, -80.0, 3e5, np.inf, -np.inf, np.nan, 0.9999, 1.0001, 7.25], np.float32)
REDUCER = "%s {\n  a = %s[] parameter(0)\n  b = %s[] parameter(1)\n  ROOT c = %s[] %s(a, b)\n}\n"


def reducer(op, t, name="f"):
    return REDUCER % (name, t, t, t, op)


# Elementwise, floats.
UNARY = {"abs": 0, "negate": 0, "sign": 0, "floor": 0, "ceil": 0, "round-nearest-afz": 0,
         "round-nearest-even": 0, "exponential": 1e-6, "exponential-minus-one": 1e-6, "log": 1e-6,
         "log-plus-one": 1e-6, "logistic": 1e-6, "tanh": 1e-6, "sqrt": 1e-6, "rsqrt": 1e-6, "cbrt": 1e-6,
         "sine": 1e-6, "cosine": 1e-6, "tan": 1e-5, "erf": 1e-6}
for op, tol in UNARY.items():
    case("unary_" + op, """HloModule m
ENTRY main {
  a = f32[64] parameter(0)
  b = bf16[64] parameter(1)
  c = f32[18] parameter(2)
  ra = f32[64] %s(a)
  rb = bf16[64] %s(b)
  rc = f32[18] %s(c)
  ROOT t = (f32[64], bf16[64], f32[18]) tuple(ra, rb, rc)
}
""" % (op, op, op), ["f32[64]", "bf16[64]:0.1,3", SPECIAL], tol and 8e-3 if tol else 0)
for op in ["exponential", "log", "sine", "tanh", "erf", "logistic", "sqrt", "cbrt", "log-plus-one"]:
    expr("f64_" + op, ["f64[40]:0.01,4"], "f64[40]", f"{op}(p0)", 1e-12)
for op in ["is-finite"]:
    expr("unary_" + op, [SPECIAL], "pred[18]", f"{op}(p0)")
for op in ["add", "subtract", "multiply", "divide", "maximum", "minimum", "power", "remainder", "atan2"]:
    tol = 1e-6 if op in ("power", "atan2") else 0
    grid = np.array([0.0, -0.0, 1.0, -1.0, 2.0, -2.5, 0.3, np.inf, -np.inf, np.nan, 3.0, 5.5], np.float32)
    x, y = (g.reshape(-1).copy() for g in np.meshgrid(grid, grid))
    expr("binary_" + op, [x, y], "f32[144]", f"{op}(p0, p1)", tol)
    expr("binary_bf16_" + op, ["bf16[50]:0.2,3", "bf16[50]:0.2,3"], "bf16[50]", f"{op}(p0, p1)", 8e-3 if tol else 0)
for d in ["EQ", "NE", "LT", "LE", "GT", "GE"]:
    grid = np.array([0.0, -0.0, 1.0, np.inf, -np.inf, np.nan, -3.0], np.float32)
    x, y = (g.reshape(-1).copy() for g in np.meshgrid(grid, grid))
    expr("compare_" + d, [x, y], "pred[49]", f"compare(p0, p1), direction={d}")
    expr("compare_total_" + d, [x, y], "pred[49]", f"compare(p0, p1), direction={d}, type=TOTALORDER")

# Integers.
for t in ["s8", "u8", "s16", "s32", "u32", "s64", "u64"]:
    info = np.iinfo(TYPES[t])
    edge = np.array([info.min, info.max, 0, 1, 2, 3, 7, 100, info.max // 3, 5], TYPES[t])
    if info.min < 0:
        edge = np.concatenate([edge, np.array([-1, -2, -7, -100], TYPES[t])])
    x, y = (g.reshape(-1).copy() for g in np.meshgrid(edge, edge))
    n = x.size
    ops = ["add", "subtract", "multiply", "divide", "remainder", "maximum", "minimum", "and", "or", "xor",
           "shift-left", "shift-right-logical", "shift-right-arithmetic"]
    body = "\n".join(f"  r{i} = {t}[{n}] {op}(x, y)" for i, op in enumerate(ops))
    unary = ["abs", "negate", "sign", "not", "popcnt", "count-leading-zeros"]
    if t[0] == "u":
        unary = ["not", "popcnt", "count-leading-zeros"]
    body += "\n" + "\n".join(f"  v{i} = {t}[{n}] {op}(x)" for i, op in enumerate(unary))
    names = [f"r{i}" for i in range(len(ops))] + [f"v{i}" for i in range(len(unary))]
    case("integers_" + t, f"HloModule m\nENTRY main {{\n  x = {t}[{n}] parameter(0)\n  y = {t}[{n}] parameter(1)\n{body}\n"
         f"  ROOT t = ({', '.join([f'{t}[{n}]'] * len(names))}) tuple({', '.join(names)})\n}}\n", [x, y])
expr("power_s32", ["s32[30]:-4,5", "s32[30]:0,6"], "s32[30]", "power(p0, p1)")
expr("clamp", ["f32[]", "f32[40]", "f32[]:1,2"], "f32[40]", "clamp(p0, p1, p2)")
expr("select", ["pred[20]", "bf16[20]", "bf16[20]"], "bf16[20]", "select(p0, p1, p2)")
expr("select_scalar", ["pred[]", "f32[20]", "f32[20]"], "f32[20]", "select(p0, p1, p2)")

# Conversions.
FLOATS = np.concatenate([SPECIAL, np.array([2.5, 127.6, 300.0, -129.0, 1e10, -1e10, 448.0, 470.0, 0.001], np.float32)])
for t in ["pred", "s8", "u8", "s16", "s32", "u32", "s64", "u64", "f16", "bf16", "f64", "f8e5m2", "f8e4m3fn",
          "f8e4m3b11fnuz", "f8e5m2fnuz", "f8e4m3fnuz", "f8e4m3", "f8e3m4"]:
    expr("convert_f32_" + t, [FLOATS], f"{t}[27]", "convert(p0)")
    if t != "pred":
        expr(f"convert_{t}_f32", [f"{t}[40]"], "f32[40]", "convert(p0)")
for a, b in [("s32", "s8"), ("s64", "s32"), ("u32", "s64"), ("s32", "bf16"), ("pred", "f32"), ("s8", "u32"), ("f64", "bf16")]:
    expr(f"convert_{a}_{b}", [f"{a}[40]" + (":-300,300" if a[0] == "s" and a != "s8" else "")], f"{b}[40]", "convert(p0)")
expr("reduce_precision", [FLOATS], "f32[27]", "reduce-precision(p0), exponent_bits=5, mantissa_bits=10")
expr("bitcast_convert", ["f32[3,4]"], "u8[3,4,4]", "bitcast-convert(p0)")
expr("bitcast_convert_wide", ["u16[3,2]:0,65535"], "u32[3]", "bitcast-convert(p0)")

# Complex.
for op in ["add", "subtract", "multiply", "divide"]:
    expr("complex_" + op, ["c64[30]", "c64[30]"], "c64[30]", f"{op}(p0, p1)", 1e-6)
for op in ["exponential", "log", "sqrt", "tanh", "sine", "cosine", "negate", "rsqrt"]:
    expr("complex_" + op, ["c64[30]"], "c64[30]", f"{op}(p0)", 2e-6)
expr("complex_abs", ["c64[30]"], "f32[30]", "abs(p0)", 1e-6)
expr("complex_parts", ["f32[5]", "f32[5]"], "c64[5]", "complex(p0, p1)")

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


def main():
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    texts, arrays, count = [], {}, 0
    for name, (text, specs, tolerance) in CASES.items():
        rng = np.random.default_rng(zlib.crc32(name.encode()))
        args = [make(s, rng) for s in specs]
        try:
            outs = run_hlo.run(text, args)
        except Exception as e:  # XLA's CPU backend cannot run everything
            print("not made:", name, " ".join(str(e).split("\n"))[:400])
            continue
        count += 1
        texts.append("// case %s tolerance=%g\n%s" % (name, tolerance, text))
        arrays.update({f"{name}/arg{i}": a for i, a in enumerate(args)})
        arrays.update({f"{name}/out{i}": o for i, o in enumerate(outs)})
    with open(os.path.join(folder, "cases.txt"), "w") as f:
        f.write("\n".join(texts))
    run_hlo.save(os.path.join(folder, "cases.npz"), arrays)
    print(count, "cases")


if __name__ == "__main__":
    main()
