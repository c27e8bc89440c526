"""Operations on elements: arithmetic, comparisons, conversions, complex numbers."""
from . import types
from .builder import refs

ROUNDED = ["acos", "acosh", "asin", "asinh", "atanh", "exponential", "exponential-minus-one", "log-plus-one", "logistic",
           "tanh", "sine", "cosine", "sqrt", "rsqrt", "cbrt", "erf", "log", "tan", "sinh", "cosh"]
# Their arguments, brought where they are defined and smooth.
INSIDE = {"acos", "asin", "atanh"}  # |x| < 1
POSITIVE = {"log", "sqrt", "rsqrt", "log-plus-one", "acosh"}
DISCRETE = ["floor", "ceil", "round-nearest-even", "round-nearest-afz", "sign", "is-finite", "copy"]
BINARY_FLOAT = ["add", "subtract", "multiply", "maximum", "minimum", "divide"]
BINARY_INT = ["add", "subtract", "multiply", "maximum", "minimum", "and", "or", "xor", "divide", "remainder", "shift-left",
              "shift-right-logical", "shift-right-arithmetic"]
UNARY_INT = ["abs", "negate", "not", "popcnt", "count-leading-zeros", "sign", "copy"]
COMPLEX_UNARY = ["exponential", "tanh", "sine", "cosine", "negate", "log", "sqrt", "rsqrt", "logistic", "log-plus-one",
                 "exponential-minus-one", "tan"]
DIRECTIONS = ["EQ", "NE", "GE", "GT", "LE", "LT"]


def splat(g, v, value):
    c = g.scalar(v.kind, value)
    return g.hidden(v.kind, v.dims, f"broadcast({c.ref}), dimensions={{}}") if v.dims else c


def op_unary_float(g):
    v = g.array(types.FLOATS + ["f32", "f32"] + types.F8)
    if v.exact and g.r.random() < 0.3:
        op = g.r.choice(DISCRETE)
        return g.emit("pred" if op == "is-finite" else v.kind, v.dims, f"{op}({v.ref})", True)
    op = g.r.choice(ROUNDED + ["abs", "negate"])
    if op in INSIDE or op in POSITIVE:
        x = g.hidden(v.kind, v.dims, f"abs({v.ref})", v.exact)
        edge = splat(g, v, 0.5 if op in INSIDE else 1.5)
        v = g.hidden(v.kind, v.dims, f"{'minimum' if op in INSIDE else 'add'}({refs([x, edge])})", False)
    extra = ""
    if op in ("exponential", "log", "tanh", "sine", "cosine", "tan", "sqrt", "rsqrt", "cbrt", "logistic", "log-plus-one",
              "exponential-minus-one") and g.r.random() < 0.1:
        extra = ", result_accuracy={mode=" + g.r.choice(["highest", "default"]) + "}"
    return g.emit(v.kind, v.dims, f"{op}({v.ref}){extra}", op in ("abs", "negate") and v.exact)


def op_atan2_power(g):
    v = g.array(types.FLOATS)
    x = g.hidden(v.kind, v.dims, f"abs({v.ref})", v.exact)
    a = g.hidden(v.kind, v.dims, f"add({refs([x, splat(g, v, 0.5)])})", False)
    return g.emit(v.kind, v.dims, f"{g.r.choice(['atan2', 'power'])}({a.ref}, {g.constant(v.kind, v.dims).ref})", False)


def op_unary_int(g):
    v = g.array(types.INTS + ["s32", "s32", "u32"])
    op = g.r.choice([o for o in UNARY_INT if v.kind[0] == "s" or o not in ("abs", "sign")])
    if op == "popcnt" and v.kind == "s4":
        # XLA's CPU counts the bits of a byte; the same bits as u4 it counts right.
        if g.m.silent:
            g.m.runs = False
        else:
            bits = g.hidden("u4", v.dims, f"bitcast-convert({v.ref})")
            ones = g.hidden("u4", v.dims, f"popcnt({bits.ref})")
            return g.emit(v.kind, v.dims, f"bitcast-convert({ones.ref})", True)
    return g.emit(v.kind, v.dims, f"{op}({v.ref})", True)


def op_binary(g):
    v = g.pick(lambda v: v.kind not in types.TINY)
    o = g.like(v)
    if v.kind == "pred":
        return g.emit("pred", v.dims, f"{g.r.choice(['and', 'or', 'xor'])}({refs([v, o])})", True)
    if types.is_complex(v.kind):
        return g.emit(v.kind, v.dims, f"{g.r.choice(['add', 'subtract', 'multiply'])}({refs([v, o])})", False)
    ints = types.is_int(v.kind)
    op = g.r.choice(BINARY_INT if ints else BINARY_FLOAT)
    if op == "divide" and not ints:  # away from zero, where differences grow
        x = g.hidden(v.kind, v.dims, f"abs({o.ref})", False)
        o = g.hidden(v.kind, v.dims, f"add({refs([x, splat(g, v, 0.5)])})", False)
    exact = ints or (op in ("maximum", "minimum") and v.exact and o.exact)
    return g.emit(v.kind, v.dims, f"{op}({refs([v, o])})", exact)


def op_not_pred(g):
    v = g.array(["pred"])
    return g.emit("pred", v.dims, f"not({v.ref})", True)


def op_remainder_float(g):
    v = g.array(types.FLOATS, exact=True)
    o = g.constant(v.kind, v.dims, lambda: str(g.r.choice([0.5, 0.75, -1.25, 2.0, -3.0])))
    return g.emit(v.kind, v.dims, f"remainder({refs([v, o])})", True)


def op_mulhi(g):
    v = g.array(["s32", "u32", "s8", "u8", "s64", "u64", "s16", "u16"])
    g.m.runs = False  # XLA's CPU has no such instruction
    return g.emit(v.kind, v.dims, f"mulhi({refs([v, g.like(v)])})", True)


def op_compare(g):
    v = g.pick(lambda v: v.exact and v.kind not in types.TINY)
    o = g.like(v, True)
    directions = ["EQ", "NE"] if types.is_complex(v.kind) else DIRECTIONS
    extra = ", type=TOTALORDER" if types.is_float(v.kind) and v.kind not in types.F8 and g.r.random() < 0.3 else ""
    return g.emit("pred", v.dims, f"compare({refs([v, o])}), direction={g.r.choice(directions)}{extra}", True)


def op_select(g):
    v = g.pick()
    scalar = v.dims and g.r.random() < 0.3
    p = g.constant("pred", ()) if scalar else g.find(lambda p: p.kind == "pred" and p.dims == v.dims) or g.constant("pred", v.dims)
    if scalar:
        p = g.hidden("pred", v.dims, f"broadcast({p.ref}), dimensions={{}}")
    o = g.like(v)
    return g.emit(v.kind, v.dims, f"select({refs([p, v, o])})", v.exact and o.exact)


def op_clamp(g):
    v = g.pick(lambda v: v.kind != "pred" and v.kind not in types.TINY and not types.is_complex(v.kind))
    scalars = g.r.random() < 0.5
    lo, hi = (g.constant(v.kind, () if scalars else v.dims) for _ in range(2))
    return g.emit(v.kind, v.dims, f"clamp({refs([lo, v, hi])})", v.exact)


def op_convert(g):
    v = g.pick(lambda v: v.exact)
    if types.is_complex(v.kind):
        to = g.r.choice(types.COMPLEX)
    else:
        to = g.r.choice(types.ARRAYS + types.COMMON)
        if to in types.TINY and not types.is_float(v.kind):
            to = "f32"
    return g.emit(to, v.dims, f"convert({v.ref})", True)


def op_reduce_precision(g):
    v = g.array(["f32", "f32", "f64", "bf16", "f16"], exact=True)
    e, m = {"f32": (8, 22), "f64": (11, 51), "bf16": (8, 6), "f16": (5, 9)}[v.kind]
    return g.emit(v.kind, v.dims, f"reduce-precision({v.ref}), exponent_bits={g.r.randint(4, e)}, mantissa_bits={g.r.randint(1, m)}", True)


def op_bitcast_convert(g):
    same = [["f32", "s32", "u32"], ["f64", "s64", "u64"], ["bf16", "f16", "s16", "u16"], ["s8", "u8", "f8e5m2", "f8e4m3fn"]]
    kinds = g.r.choice(same)
    v = g.array(kinds, exact=True)
    return g.emit(g.r.choice(kinds[-2:]), v.dims, f"bitcast-convert({v.ref})", True)


def op_bitcast_convert_resized(g):
    wide, narrow = g.r.choice([("u32", "u16"), ("s32", "u8"), ("f32", "u8"), ("u64", "u32"), ("u16", "u8"), ("f64", "s16")])
    n = types.bits(wide) // types.bits(narrow)
    v = g.array([wide], exact=True)
    split = g.emit(narrow, list(v.dims) + [n], f"bitcast-convert({v.ref})", True)
    return g.emit(wide, v.dims, f"bitcast-convert({split.ref})", True) if types.is_int(wide) else split


def op_stochastic_convert(g):
    v = g.array(["f32", "bf16", "f16"], exact=True)
    bits = g.constant({"f32": "u32", "bf16": "u16", "f16": "u16"}[v.kind], v.dims)
    g.m.runs = False  # XLA's CPU has no such instruction
    return g.emit(g.r.choice(["s8", "s32", "f8e5m2", "bf16"]), v.dims, f"stochastic-convert({refs([v, bits])})", True)


def op_complex(g):
    kind = g.r.choice(["f32", "f64"])
    v = g.array([kind])
    c = g.emit({"f32": "c64", "f64": "c128"}[kind], v.dims, f"complex({refs([v, g.like(v)])})", v.exact)
    if g.r.random() < 0.5:
        c = g.emit(c.kind, v.dims, f"{g.r.choice(COMPLEX_UNARY)}({c.ref})", False)
    return g.emit(kind, v.dims, f"{g.r.choice(['real', 'imag', 'abs'])}({c.ref})", False)


def op_real_of_real(g):
    v = g.array(["f32", "f64"])
    return g.emit(v.kind, v.dims, f"{g.r.choice(['real', 'imag'])}({v.ref})", v.exact)
