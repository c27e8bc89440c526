"""Elementwise operations on the other types: narrow floats, narrow integers,
pred, complex; and the functions that XLA's CPU backend takes only from JAX."""
import numpy as np
from jax import lax

from hlo_case import case, expr

FLOAT_UNARY = ["abs", "negate", "sign", "floor", "ceil", "round-nearest-afz", "round-nearest-even", "exponential",
               "exponential-minus-one", "log", "log-plus-one", "logistic", "tanh", "sqrt", "rsqrt", "cbrt", "sine",
               "cosine", "tan", "erf"]
EXACT = {"abs", "negate", "sign", "floor", "ceil", "round-nearest-afz", "round-nearest-even"}
COMPARE = ["EQ", "NE", "LT", "LE", "GT", "GE"]


def several(name, args, lines, tolerance=0, xla=None):
    """Several instructions on p0, p1, ...: lines of (shape, operation)."""
    body = [f"  p{i} = {a.partition(':')[0]} parameter({i})" for i, a in enumerate(args)]
    body += [f"  r{i} = {s} {op}" for i, (s, op) in enumerate(lines)]
    shapes, names = ", ".join(s for s, _ in lines), ", ".join(f"r{i}" for i in range(len(lines)))
    case(name, "HloModule %s\nENTRY main {\n%s\n  ROOT t = (%s) tuple(%s)\n}\n" % (name, "\n".join(body), shapes, names),
         args, tolerance, xla)


# All functions on one narrow or wide float each. Tolerances are those of the
# result: one unit in the last place, as XLA goes through other functions.
for t, tolerance in [("f16", 2e-3), ("f64", 1e-13), ("bf16", 8e-3)]:
    for group, ops in [("exact", sorted(EXACT)), ("functions", [o for o in FLOAT_UNARY if o not in EXACT])]:
        exact = group == "exact"
        several(f"{t}_{group}", [f"{t}[24]:-3,3" if exact else f"{t}[24]:0.1,2"], [(f"{t}[24]", f"{op}(p0)") for op in ops], 0 if exact else tolerance)
    several(f"{t}_binary", [f"{t}[24]", f"{t}[24]:0.5,3"],
            [(f"{t}[24]", f"{op}(p0, p1)") for op in ["add", "subtract", "multiply", "divide", "maximum", "minimum", "remainder"]])
    several(f"{t}_power", [f"{t}[24]:0.2,3", f"{t}[24]"], [(f"{t}[24]", f"{op}(p0, p1)") for op in ["power", "atan2"]], tolerance)
    several(f"{t}_tests", [f"{t}[24]", f"{t}[24]"],
            [("pred[24]", f"compare(p0, p1), direction={d}") for d in COMPARE] + [("pred[24]", "is-finite(p0)")])
    several(f"{t}_choices", ["pred[24]", f"{t}[24]:-3,3", f"{t}[24]:0,1", f"{t}[24]:1,2"],
            [(f"{t}[24]", "select(p0, p1, p2)"), (f"{t}[24]", "clamp(p2, p1, p3)"), (f"{t}[24]", "copy(p1)")])
    several(f"{t}_precision", [f"{t}[24]"], [(f"{t}[24]", f"reduce-precision(p0), exponent_bits={e}, mantissa_bits={m}") for e, m in [(5, 2), (8, 3), (4, 7)]])

# 8-bit and 4-bit floats: XLA computes in a wider type and rounds.
F8 = ["f8e5m2", "f8e4m3", "f8e4m3fn", "f8e4m3b11fnuz", "f8e3m4", "f8e5m2fnuz", "f8e4m3fnuz", "f4e2m1fn"]
for t in F8:
    several(f"{t}_arithmetic", [f"{t}[32]:-3,3", f"{t}[32]:0.5,3"],
            [(f"{t}[32]", f"{op}(p0, p1)") for op in ["add", "subtract", "multiply", "maximum", "minimum"]]
            + [(f"{t}[32]", f"{op}(p0)") for op in ["negate", "abs"]])
    several(f"{t}_tests", [f"{t}[32]:-3,3", f"{t}[32]:-3,3", "pred[32]"],
            [("pred[32]", f"compare(p0, p1), direction={d}") for d in COMPARE] + [(f"{t}[32]", "select(p2, p0, p1)")])
    several(f"{t}_conversions", ["f32[40]:-9,9", "f64[40]:-9,9", "bf16[40]:-9,9", "s32[9]:-4,5", f"{t}[32]:-3,3"],
            [(f"{t}[40]", "convert(p0)"), (f"{t}[40]", "convert(p1)"), (f"{t}[40]", "convert(p2)"), (f"{t}[9]", "convert(p3)"),
             ("f32[32]", "convert(p4)"), ("f64[32]", "convert(p4)"), ("bf16[32]", "convert(p4)"), ("s32[32]", "convert(p4)")])
several("f8e8m0fnu_conversions", ["f32[40]:0,9", "bf16[40]:0.1,9", "f8e8m0fnu[32]:0.01,9"],
        [("f8e8m0fnu[40]", "convert(p0)"), ("f8e8m0fnu[40]", "convert(p1)"), ("f32[32]", "convert(p2)"), ("bf16[32]", "convert(p2)")])
for a, b in [("f8e4m3fn", "f8e5m2"), ("f8e5m2", "f8e4m3fn"), ("f8e4m3fnuz", "f8e4m3fn"), ("f4e2m1fn", "f8e4m3fn")]:
    expr(f"convert_{a}_{b}", [f"{a}[40]:-5,5"], f"{b}[40]", "convert(p0)")

# Integers that numpy has no name for, and u16.
BINARY = ["add", "subtract", "multiply", "maximum", "minimum", "and", "or", "xor"]
for t in ["s4", "u4", "s2", "u2", "u16"]:
    several(f"{t}_arithmetic", [f"{t}[40]", f"{t}[40]"], [(f"{t}[40]", f"{op}(p0, p1)") for op in BINARY] + [(f"{t}[40]", "not(p0)")])
    several(f"{t}_tests", [f"{t}[40]", f"{t}[40]"], [("pred[40]", f"compare(p0, p1), direction={d}") for d in COMPARE])
    several(f"{t}_conversions", ["s32[12]:-9,10", "f32[12]:0,3", f"{t}[40]", "pred[8]"],
            [(f"{t}[12]", "convert(p0)"), (f"{t}[12]", "convert(p1)"), ("s32[40]", "convert(p2)"), ("f32[40]", "convert(p2)"),
             ("s64[40]", "convert(p2)"), ("bf16[40]", "convert(p2)"), (f"{t}[8]", "convert(p3)"), ("pred[40]", "convert(p2)")])
several("s4_shifts", ["s4[40]", "s4[40]:0,4"], [("s4[40]", f"{op}(p0, p1)") for op in ["shift-left", "shift-right-arithmetic", "shift-right-logical"]])
# Not popcnt of negative s4: XLA's CPU backend counts the sign's copies in a byte.
several("s4_bits", ["s4[40]", "u4[40]", "s4[40]:0,8"], [("s4[40]", "popcnt(p2)"), ("u4[40]", "popcnt(p1)"), ("s4[40]", "count-leading-zeros(p0)"), ("u4[40]", "count-leading-zeros(p1)"), ("u4[40]", "shift-right-logical(p1, p1)")])
for t in ["s4", "u4"]:
    expr(f"mulhi_{t}", [f"{t}[40]:{'-8,8' if t == 's4' else '0,16'}", f"{t}[40]:{'-8,8' if t == 's4' else '0,16'}"], f"{t}[40]", "mulhi(p0, p1)",
         xla=lambda x, y: (((x.astype(np.int32) * y.astype(np.int32)) >> 4).astype(x.dtype),))
several("pred_logic", ["pred[20]", "pred[20]"],
        [("pred[20]", f"{op}(p0, p1)") for op in ["and", "or", "xor", "maximum", "minimum"]] + [("pred[20]", "not(p0)")]
        + [("pred[20]", f"compare(p0, p1), direction={d}") for d in COMPARE])
several("small_bits", ["u8[20]:0,256", "s16[20]:-300,300", "u64[20]:0,99999"],
        [("u8[20]", "popcnt(p0)"), ("s16[20]", "count-leading-zeros(p1)"), ("u64[20]", "popcnt(p2)"), ("s16[20]", "sign(p1)"), ("u64[20]", "not(p2)")])

# The high half of products.
for t, wide, bits in [("s32", "s64", 32), ("u32", "u64", 32), ("s16", "s32", 16), ("u8", "u16", 8)]:
    info = np.iinfo(np.dtype({"s": "int", "u": "uint"}[t[0]] + t[1:]))
    args = [f"{t}[40]:{info.min},{info.max}", f"{t}[40]:{info.min},{info.max}"]
    shift = "shift-right-arithmetic" if t[0] == "s" else "shift-right-logical"
    expr(f"mulhi_{t}", args, f"{t}[40]", "mulhi(p0, p1)", xla=f"""HloModule m
ENTRY main {{
  a = {t}[40] parameter(0)
  b = {t}[40] parameter(1)
  x = {wide}[40] convert(a)
  y = {wide}[40] convert(b)
  z = {wide}[40] multiply(x, y)
  n = {wide}[] constant({bits})
  s = {wide}[40] broadcast(n), dimensions={{}}
  h = {wide}[40] {shift}(z, s)
  ROOT r = {t}[40] convert(h)
}}
""")

# Functions whose opcodes the CPU backend does not take, by JAX's names.
for op, f, low, high in [("acos", lax.acos, -0.95, 0.95), ("asin", lax.asin, -0.95, 0.95), ("atanh", lax.atanh, -0.95, 0.95),
                         ("asinh", lax.asinh, -5, 5), ("acosh", lax.acosh, 1.01, 9), ("sinh", lax.sinh, -3, 3), ("cosh", lax.cosh, -3, 3)]:
    for t, tolerance in [("f32", 2e-6), ("f64", 1e-13), ("bf16", 8e-3), ("f16", 2e-3)]:
        expr(f"{t}_{op}", [f"{t}[30]:{low},{high}"], f"{t}[30]", f"{op}(p0)", tolerance, xla=lambda x, f=f: (f(x),))

# Complex numbers.
for t, part, tolerance in [("c64", "f32", 2e-6), ("c128", "f64", 1e-13)]:
    several(f"{t}_arithmetic", [f"{t}[20]", f"{t}[20]"], [(f"{t}[20]", f"{op}(p0, p1)") for op in ["add", "subtract", "multiply", "divide", "power"]]
            + [(f"{t}[20]", "negate(p0)"), (f"{t}[20]", "sign(p0)")], tolerance)
    several(f"{t}_functions", [f"{t}[20]"], [(f"{t}[20]", f"{op}(p0)") for op in
            ["exponential", "log", "sqrt", "rsqrt", "tanh", "sine", "cosine", "tan", "log-plus-one", "exponential-minus-one", "logistic"]], tolerance * 4)
    several(f"{t}_parts", [f"{t}[20]", f"{part}[20]", f"{part}[20]"],
            [(f"{part}[20]", "real(p0)"), (f"{part}[20]", "imag(p0)"), (f"{part}[20]", "abs(p0)"), (f"{t}[20]", "complex(p1, p2)"),
             (f"{t}[20]", "convert(p1)")], tolerance)
    several(f"{t}_tests", [f"{t}[20]", f"{t}[20]", "pred[20]"],
            [("pred[20]", "compare(p0, p1), direction=EQ"), ("pred[20]", "compare(p0, p0), direction=NE"), (f"{t}[20]", "select(p2, p0, p1)"),
             (f"{t}[20]", "copy(p0)")])
    for op, f in [("acos", lax.acos), ("acosh", lax.acosh), ("asin", lax.asin), ("asinh", lax.asinh), ("atanh", lax.atanh), ("sinh", lax.sinh), ("cosh", lax.cosh)]:
        expr(f"{t}_{op}", [f"{t}[40]"], f"{t}[40]", f"{op}(p0)", tolerance * 4, xla=lambda x, f=f: (f(x),))
    expr(f"{t}_atan2", [f"{t}[20]", f"{t}[20]"], f"{t}[20]", "atan2(p0, p1)", tolerance * 4)
expr("c64_of_c128", ["c128[9]"], "c64[9]", "convert(p0)")
expr("real_of_f32", ["f32[9]"], "f32[9]", "real(p0)")
expr("imag_of_f32", ["f32[9]"], "f32[9]", "imag(p0)")
expr("complex_2d", ["f32[3,4]", "f32[3,4]"], "c64[3,4]", "complex(p0, p1)")

# Stochastic rounding.
for t, r, to in [("f32", "u32", "s8"), ("f32", "u32", "s32"), ("bf16", "u16", "s8"), ("f64", "u64", "s16"), ("f16", "u16", "s32")]:
    high = 2 ** int(r[1:]) - 1
    expr(f"stochastic_{t}_{to}", [f"{t}[60]:-9,9", f"{r}[60]:0,{high}"], f"{to}[60]", "stochastic-convert(p0, p1)")
expr("stochastic_saturates", ["f32[40]:-300,300", "u32[40]:0,4294967295"], "s8[40]", "stochastic-convert(p0, p1)")

