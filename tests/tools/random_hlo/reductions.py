"""Reductions, windows, sorts: what applies a computation to many elements."""
from . import types
from .builder import Nothing, braces, refs, shape


def window(g, dims, strided=True):
    """A window over dims: its text and the number of its positions."""
    w, out = [[], [], [], [], []], []
    for d in dims:
        size, stride = g.r.randint(1, 3), g.r.randint(1, 2) if strided else 1
        lo, hi, dil = g.r.randint(0, 1), g.r.randint(0, 2), g.r.randint(1, 2)
        base = g.r.choice([1, 1, 2])
        n, span = (d - 1) * base + 1, (size - 1) * dil + 1
        hi = max(hi, span - n - lo)
        for part, value in zip(w, (size, stride, f"{lo}_{hi}", base, dil)):
            part.append(value)
        out.append((n + lo + hi - span) // stride + 1)
    x = ["x".join(map(str, part)) for part in w]
    text = f"size={x[0]}"
    for name, part, default in (("stride", 1, "1"), ("pad", 2, "0_0"), ("lhs_dilate", 3, "1"), ("rhs_dilate", 4, "1")):
        if any(str(v) != default for v in w[part]):
            text += f" {name}={x[part]}"
    return text, out


def op_reduce(g):
    v = g.pick(lambda v: len(v.dims) > 0 and v.kind not in types.TINY + types.F8)
    dims = sorted(g.r.sample(range(len(v.dims)), g.r.randint(1, len(v.dims))))
    kept = [v.dims[d] for d in range(len(v.dims)) if d not in dims]
    pred, pair = v.kind == "pred", types.is_complex(v.kind)
    op = g.r.choice(["and", "or", "xor"] if pred else ["add", "multiply"] if pair else ["add", "maximum", "minimum", "multiply"])
    z = g.identity(v.kind, op)
    exact = types.is_int(v.kind) or pred or (v.exact and op in ("maximum", "minimum"))
    return g.emit(v.kind, kept, f"reduce({refs([v, z])}), dimensions={braces(dims)}, to_apply={g.combiner(v.kind, op)}", exact)


def op_reduce_two(g):
    """The largest element and where it is."""
    v = g.pick(lambda v: len(v.dims) > 0 and v.exact and v.size and v.kind in ("f32", "s32", "f64", "bf16", "u8"))
    d = g.r.randrange(len(v.dims))
    i = g.hidden("s32", v.dims, f"iota(), iota_dimension={d}")
    low = g.identity(v.kind, "maximum")
    zero = g.scalar("s32", 0)

    def build(c, p):
        gt = c.emit("pred", (), f"compare({p[0].ref}, {p[2].ref}), direction=GT", True)
        eq = c.emit("pred", (), f"compare({p[0].ref}, {p[2].ref}), direction=EQ", True)
        lt = c.emit("pred", (), f"compare({p[1].ref}, {p[3].ref}), direction=LT", True)
        both = c.emit("pred", (), f"and({refs([eq, lt])})", True)
        first = c.emit("pred", (), f"or({refs([gt, both])})", True)
        return c.tuple([c.emit(v.kind, (), f"select({refs([first, p[0], p[2]])})", True),
                        c.emit("s32", (), f"select({refs([first, p[1], p[3]])})", True)])
    f, _ = g.computation("largest", [(v.kind, (), True), ("s32", (), True)] * 2, build)
    kept = [n for k, n in enumerate(v.dims) if k != d]
    t = g.raw(f"({shape(v.kind, kept)}, {shape('s32', kept)})", f"reduce({refs([v, i, low, zero])}), dimensions={{{d}}}, to_apply={f}")
    g.element(t, 0, v.kind, kept, True)
    return g.element(t, 1, "s32", kept, True)


def op_reduce_window(g):
    v = g.pick(lambda v: len(v.dims) > 0 and v.size and v.kind in ("f32", "s32", "f64", "bf16", "u8", "s64"))
    text, dims = window(g, v.dims)
    op = g.r.choice(["add", "maximum", "minimum"])
    z = g.identity(v.kind, op)
    return g.emit(v.kind, dims, f"reduce-window({refs([v, z])}), window={{{text}}}, to_apply={g.combiner(v.kind, op)}",
                  types.is_int(v.kind) or (v.exact and op != "add"))


def op_reduce_window_two(g):
    v = g.array(["f32"], rank=2)
    o = g.constant("s32", v.dims)
    text, dims = window(g, v.dims)

    def build(c, p):
        return c.tuple([c.emit("f32", (), f"maximum({p[0].ref}, {p[2].ref})", True), c.emit("s32", (), f"add({p[1].ref}, {p[3].ref})", True)])
    f, _ = g.computation("both", [("f32", (), True), ("s32", (), True)] * 2, build)
    t = g.raw(f"({shape('f32', dims)}, {shape('s32', dims)})",
              f"reduce-window({refs([v, o, g.identity('f32', 'maximum'), g.scalar('s32', 0)])}), window={{{text}}}, to_apply={f}")
    g.element(t, 0, "f32", dims, v.exact)
    return g.element(t, 1, "s32", dims, True)


def op_select_and_scatter(g):
    h, kind = g.r.choice([4, 6]), g.r.choice(["f32", "f32", "f64", "s32"])
    x, s, z = g.constant(kind, (h, h)), g.constant(kind, (h // 2, h // 2)), g.identity(kind, "add")
    f, _ = g.computation("ge", [(kind, (), True)] * 2,
                         lambda c, p: c.emit("pred", (), f"compare({refs(p)}), direction={g.r.choice(['GE', 'LE'])}", True))
    return g.emit(kind, (h, h), f"select-and-scatter({refs([x, s, z])}), window={{size=2x2 stride=2x2}}, select={f}, "
                  f"scatter={g.combiner(kind, 'add')}", kind == "s32")


def op_sort(g):
    v = g.pick(lambda v: len(v.dims) > 0 and v.exact and v.kind in ("f32", "s32", "u8", "bf16", "f64", "s16", "u64"))
    order = ", type=TOTALORDER" if types.is_float(v.kind) else ""
    f, _ = g.computation("less", [(v.kind, (), True)] * 2,
                         lambda c, p: c.emit("pred", (), f"compare({refs(p)}), direction={g.r.choice(['LT', 'GT'])}{order}", True))
    return g.emit(v.kind, v.dims, f"sort({v.ref}), dimensions={{{g.r.randrange(len(v.dims))}}}, is_stable=true, to_apply={f}", True)


def op_sort_with_values(g):
    v = g.pick(lambda v: len(v.dims) > 0 and v.exact and v.kind in ("f32", "s32"))
    o = g.constant(g.r.choice(["f32", "s64", "bf16", "pred"]), v.dims)
    order = ", type=TOTALORDER" if v.kind == "f32" else ""
    f, _ = g.computation("less", [(v.kind, (), True)] * 2 + [(o.kind, (), True)] * 2,
                         lambda c, p: c.emit("pred", (), f"compare({refs(p[:2])}), direction=LT{order}", True))
    t = g.raw(f"({v.shape}, {o.shape})", f"sort({refs([v, o])}), dimensions={{{g.r.randrange(len(v.dims))}}}, is_stable=true, to_apply={f}")
    g.element(t, 0, v.kind, v.dims, True)
    return g.element(t, 1, o.kind, o.dims, True)


def op_topk(g):
    v = g.array(["f32", "f32", "bf16", "s32"], exact=True)
    if not v.dims:
        raise Nothing
    k = g.r.randint(1, v.dims[-1])
    dims = list(v.dims[:-1]) + [k]
    t = g.raw(f"({shape(v.kind, dims)}, {shape('s32', dims)})", f"topk({v.ref}), k={k}, largest={g.r.choice(['true', 'false'])}")
    g.element(t, 0, v.kind, dims, True)
    return g.element(t, 1, "s32", dims, True)


def op_map(g):
    v = g.array(["f32", "s32", "f64"])
    o = g.like(v)
    op = g.r.choice(["add", "maximum", "subtract", "multiply"])
    return g.emit(v.kind, v.dims, f"map({refs([v, o])}), dimensions={braces(range(len(v.dims)))}, to_apply={g.combiner(v.kind, op)}", v.kind == "s32")
