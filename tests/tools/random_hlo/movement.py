"""Operations that move elements."""
from . import types
from .builder import braces, count, refs


def op_broadcast(g):
    v = g.pick(lambda v: len(v.dims) < 3)
    dims, where = list(v.dims), list(range(len(v.dims)))
    for _ in range(g.r.randint(1, 2)):
        at = g.r.randint(0, len(dims))
        dims.insert(at, g.r.choice([1, 2, 3]))
        where = [d if d < at else d + 1 for d in where]
    return g.emit(v.kind, dims, f"broadcast({v.ref}), dimensions={braces(where)}", v.exact)


def op_reshape(g):
    v = g.pick(lambda v: len(v.dims) > 0)
    n = v.size
    factors = [d for d in (2, 3, 4) if n % d == 0]
    dims = g.r.choice([[n], [1, n], [factors[0], n // factors[0]] if factors else [n, 1], list(reversed(v.dims))])
    return g.emit(v.kind, dims, f"reshape({v.ref})", v.exact)


def op_bitcast(g):
    v = g.pick(lambda v: len(v.dims) > 0 and v.kind not in ("s2", "s4", "u2", "u4", "f4e2m1fn"))
    return g.emit(v.kind, [v.size], f"bitcast({v.ref})", v.exact, plain=f"reshape({v.ref})")


def op_transpose(g):
    v = g.pick(lambda v: len(v.dims) > 1)
    p = list(range(len(v.dims)))
    g.r.shuffle(p)
    return g.emit(v.kind, [v.dims[d] for d in p], f"transpose({v.ref}), dimensions={braces(p)}", v.exact)


def op_reverse(g):
    v = g.pick(lambda v: len(v.dims) > 0)
    dims = sorted(g.r.sample(range(len(v.dims)), g.r.randint(1, len(v.dims))))
    return g.emit(v.kind, v.dims, f"reverse({v.ref}), dimensions={braces(dims)}", v.exact)


def op_slice(g):
    v = g.pick(lambda v: len(v.dims) > 0 and v.size)
    parts, dims = [], []
    for d in v.dims:
        a = g.r.randrange(d)
        b, s = g.r.randint(a + 1, d), g.r.randint(1, 2)
        if g.r.random() < 0.03:
            b = a  # nothing is left
        parts.append(f"[{a}:{b}]" if s == 1 and g.r.random() < 0.5 else f"[{a}:{b}:{s}]")
        dims.append((b - a + s - 1) // s)
    return g.emit(v.kind, dims, f"slice({v.ref}), slice={{{', '.join(parts)}}}", v.exact)


def op_pad(g):
    v = g.pick(lambda v: len(v.dims) > 0 and v.size)
    z = g.constant(v.kind, ())
    parts, dims = [], []
    for d in v.dims:
        lo, hi, inner = g.r.randint(-1 if d > 2 else 0, 2), g.r.randint(-1 if d > 3 else 0, 2), g.r.randint(0, 1)
        parts.append(f"{lo}_{hi}_{inner}" if inner else f"{lo}_{hi}")
        dims.append(d + lo + hi + (d - 1) * inner)
    return g.emit(v.kind, dims, f"pad({refs([v, z])}), padding={'x'.join(parts)}", v.exact)


def op_concatenate(g):
    v = g.pick(lambda v: len(v.dims) > 0)
    parts = [v] + [g.like(v) for _ in range(g.r.randint(0, 2))]
    d = g.r.randrange(len(v.dims))
    dims = list(v.dims)
    dims[d] *= len(parts)
    return g.emit(v.kind, dims, f"concatenate({refs(parts)}), dimensions={{{d}}}", all(p.exact for p in parts))


def op_iota(g):
    dims = g.dims(g.r.randint(1, 3))
    kind = g.r.choice([k for k in types.ARRAYS if k != "pred" and k not in types.TINY])
    return g.emit(kind, dims, f"iota(), iota_dimension={g.r.randrange(len(dims))}", True)


def op_dynamic_slices(g):
    v = g.pick(lambda v: len(v.dims) > 0 and v.size)
    kind = g.r.choice(["s32", "s32", "s64", "u32", "s8"])
    # XLA's CPU takes u32 beyond 2^31 for negative where it fuses the two.
    at = [g.constant(kind, (), (lambda: str(g.r.randint(0, 9))) if kind == "u32" else index(g, kind)) for _ in v.dims]
    sizes = [g.r.randint(1, d) for d in v.dims]
    s = g.emit(v.kind, sizes, f"dynamic-slice({refs([v] + at)}), dynamic_slice_sizes={braces(sizes)}", v.exact)
    return g.emit(v.kind, v.dims, f"dynamic-update-slice({refs([v, s] + at[::-1])})", v.exact)


def op_copy(g):
    v = g.pick()
    return g.emit(v.kind, v.dims, f"copy({v.ref})", v.exact)


def index(g, kind):
    """Of 64 bits the TPU takes the low word: those are small."""
    def element():
        value = types.random_element(kind, g.r)
        return value if len(value) < 12 else "7"
    return element


def op_gather_rows(g):
    v = g.array(types.ARRAYS, rank=2)
    kind = g.r.choice(["s32", "s64", "u8"])
    i = g.constant(kind, (g.r.randint(1, 4),), index(g, kind))
    sorted_ = ", indices_are_sorted=true" if i.size == 1 else ""
    return g.emit(v.kind, (i.dims[0], v.dims[1]),
                  f"gather({refs([v, i])}), offset_dims={{1}}, collapsed_slice_dims={{0}}, start_index_map={{0}}, "
                  f"index_vector_dim=1, slice_sizes={{1,{v.dims[1]}}}{sorted_}", v.exact)


def op_gather_windows(g):
    """Windows at positions that are vectors; the vectors' dimension anywhere."""
    v = g.array(types.ARRAYS, rank=3)
    n = g.r.randint(1, 4)
    at = g.r.randint(0, 1)
    i = g.constant("s32", (n, 2) if at == 1 else (2, n))
    sizes = [g.r.randint(1, d) for d in v.dims]
    sizes[1] = 1
    a, b = g.r.sample([0, 1, 2], 2)
    return g.emit(v.kind, (n, sizes[0], sizes[2]),
                  f"gather({refs([v, i])}), offset_dims={{1,2}}, collapsed_slice_dims={{1}}, start_index_map={{{a},{b}}}, "
                  f"index_vector_dim={at}, slice_sizes={braces(sizes)}", v.exact)


def op_gather_batched(g):
    v = g.array(types.ARRAYS, rank=3)
    i = g.constant("s32", (v.dims[0], 2, 1))
    return g.emit(v.kind, (v.dims[0], 2, v.dims[2]),
                  f"gather({refs([v, i])}), offset_dims={{2}}, collapsed_slice_dims={{1}}, start_index_map={{1}}, "
                  f"operand_batching_dims={{0}}, start_indices_batching_dims={{0}}, index_vector_dim=2, "
                  f"slice_sizes={{1,1,{v.dims[2]}}}", v.exact)


def op_scatter_rows(g):
    v = g.array(["f32", "s32", "f64", "bf16", "u8", "pred", "c64", "s64"], rank=2)
    i = g.constant("s32", (g.r.randint(1, 4),))
    u = g.constant(v.kind, (i.dims[0], v.dims[1]))
    op = g.r.choice(["and", "or"] if v.kind == "pred" else ["add"] if types.is_complex(v.kind) else ["add", "maximum", "minimum", "multiply"])
    exact = not types.is_float(v.kind) and not types.is_complex(v.kind) or (v.exact and op[:1] == "m" and op != "multiply")
    return g.emit(v.kind, v.dims,
                  f"scatter({refs([v, i, u])}), update_window_dims={{1}}, inserted_window_dims={{0}}, "
                  f"scatter_dims_to_operand_dims={{0}}, index_vector_dim=1, to_apply={g.combiner(v.kind, op)}", exact)


def op_scatter_windows(g):
    v = g.array(["f32", "s32"], rank=3)
    n, sizes = g.r.randint(1, 3), [g.r.randint(1, d) for d in v.dims]
    i, u = g.constant("s32", (n, 2)), g.constant(v.kind, (n, sizes[0], sizes[1], sizes[2]))
    a, b = g.r.sample([0, 1, 2], 2)
    return g.emit(v.kind, v.dims,
                  f"scatter({refs([v, i, u])}), update_window_dims={{1,2,3}}, inserted_window_dims={{}}, "
                  f"scatter_dims_to_operand_dims={{{a},{b}}}, index_vector_dim=1, to_apply={g.combiner(v.kind, 'add')}", v.kind == "s32")


def op_scatter_batched(g):
    v = g.array(["f32", "s32"], rank=2)
    i, u = g.constant("s32", (v.dims[0], 2, 1)), g.constant(v.kind, (v.dims[0], 2))
    return g.emit(v.kind, v.dims,
                  f"scatter({refs([v, i, u])}), update_window_dims={{}}, inserted_window_dims={{1}}, "
                  f"scatter_dims_to_operand_dims={{1}}, input_batching_dims={{0}}, scatter_indices_batching_dims={{0}}, "
                  f"index_vector_dim=2, to_apply={g.combiner(v.kind, 'add')}", v.kind == "s32")


def op_scatter_two(g):
    """Two arrays scattered into with one set of indices."""
    n, i = g.r.randint(2, 5), g.constant("s32", (2, 1))
    x, y = g.constant("f32", (n,)), g.constant("s32", (n,))
    u, w = g.constant("f32", (2,)), g.constant("s32", (2,))

    def build(c, p):
        a = c.emit("f32", (), f"add({p[0].ref}, {p[2].ref})", False)
        b = c.emit("s32", (), f"maximum({p[1].ref}, {p[3].ref})", True)
        return c.tuple([a, b])
    f, _ = g.computation("update", [("f32", (), False), ("s32", (), True)] * 2, build)
    t = g.raw(f"({x.shape}, {y.shape})",
              f"scatter({refs([x, y, i, u, w])}), update_window_dims={{}}, inserted_window_dims={{0}}, "
              f"scatter_dims_to_operand_dims={{0}}, index_vector_dim=1, to_apply={f}")
    g.element(t, 0, "f32", (n,), False)
    return g.element(t, 1, "s32", (n,), True)
