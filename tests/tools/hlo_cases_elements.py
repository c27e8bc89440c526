"""Elementwise operations and conversions: f32, bf16, f64 and the integers."""
import numpy as np

from hlo_case import SPECIAL, TYPES, case, expr

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
