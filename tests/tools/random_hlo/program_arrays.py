"""Operations of programs: from arrays of the program's type and shape to
another one."""
from . import types
from .builder import Nothing, braces, refs

NARROW = ["s8", "u8", "s16", "u16", "f16", "bf16", "f8e4m3fn", "f8e5m2"]


def is_float(g):
    return types.is_float(g.m.kind)


def splat(g, value, kind=None):
    kind = kind or g.m.kind
    return g.part(g.m.dims, f"broadcast({g.scalar(kind, value).ref}), dimensions={{}}", kind)


def limits(g, op):
    if g.m.kind == "f8e4m3fn":  # has no infinity
        return g.scalar(g.m.kind, -448 if op == "maximum" else 448)
    return g.identity(g.m.kind, op)


def minus(g):
    """Of floats of 8 bits the difference of two roundings of a number is as
    large as numbers are: kernels may keep f32, or round."""
    return "minimum" if g.m.kind[:2] == "f8" else "subtract"


def op_binary(g):
    ops = ["add", minus(g), "maximum", "minimum", "multiply" if is_float(g) else "xor"]
    g.array(f"{g.r.choice(ops)}({refs([g.take(), g.take()])})")


def op_unary(g):
    x = g.take()
    if is_float(g):
        g.array(f"{g.r.choice(['negate', 'abs', 'tanh', 'copy'])}({x.ref})")
    else:
        g.array(f"{g.r.choice(['not', 'copy', 'popcnt'])}({x.ref})")


def op_select(g):
    p = g.part(g.m.dims, f"compare({refs([g.take(), g.take()])}), direction={g.r.choice(['LT', 'GE'])}", "pred")
    g.array(f"select({refs([p, g.take(), g.take()])})")


def op_through_another_type(g):
    """Wraps, saturates or rounds on the way."""
    to = g.r.choice([k for k in NARROW + ["f32", "s32"] if k != g.m.kind])
    x = g.part(g.m.dims, f"convert({g.take().ref})", to)
    if g.r.random() < 0.5:
        x = g.part(g.m.dims, f"{g.r.choice(['add', 'multiply', 'maximum'])}({refs([x, x])})", to)
    g.array(f"convert({x.ref})")


def op_reverse(g):
    g.array(f"reverse({g.take().ref}), dimensions={g.r.choice(['{0}', '{1}', '{0,1}'])}")


def op_transpose(g):
    rows, columns = g.m.dims
    x = g.take()
    if rows == columns:
        g.array(f"transpose({x.ref}), dimensions={{1,0}}")
    else:
        turned = g.part((columns, rows), f"transpose({x.ref}), dimensions={{1,0}}")
        g.array(f"reshape({turned.ref})")


def op_roll(g):
    d = g.r.randint(0, 1)
    n, x = g.m.dims[d], g.take()
    if n < 2:
        raise Nothing
    k = g.r.choice([1, n // 2, n - 1])

    def piece(a, b):
        dims, ranges = list(g.m.dims), [f"[0:{n}]" for n in g.m.dims]
        dims[d], ranges[d] = b - a, f"[{a}:{b}]"
        return g.part(dims, f"slice({x.ref}), slice={{{', '.join(ranges)}}}")
    g.array(f"concatenate({refs([piece(k, n), piece(0, k)])}), dimensions={{{d}}}")


def op_shift(g):
    """A pad that cuts off on one side what it adds on the other."""
    d, k = g.r.randint(0, 1), g.r.choice([-2, -1, 1, 2])
    if g.m.dims[d] <= 2:
        raise Nothing
    sides = ["0_0", "0_0"]
    sides[d] = f"{k}_{-k}"
    g.array(f"pad({refs([g.take(), g.scalar(g.m.kind, g.r.choice([0, 1]))])}), padding={'x'.join(sides)}")


def start(g, d):
    """Where a slice begins: a constant, data, or the count of iterations."""
    kind = g.r.choice(["s32", "s32", "u32", "u8"])
    if g.r.random() < 0.5:
        value = g.r.choice([0, 3, 8, g.m.dims[d] // 2, 200])
        return g.scalar(kind, -value if kind == "s32" and g.r.random() < 0.2 else value)
    if getattr(g, "counter", None):
        return g.counter
    if g.depth == 0:
        at = g.hidden("s32", (), f"copy(%{g.m.position})")
        return g.hidden(kind, (), f"convert({at.ref})") if kind == "u32" else at
    return g.scalar(kind, 1)


def op_update(g):
    """A part of one array put into another, or into itself."""
    x, from_ = g.take(), g.take()
    sizes = [max(1, n // g.r.choice([1, 2, 4, n])) for n in g.m.dims]
    at, to = [], []
    for d in (0, 1):
        at.append(start(g, d))
        to.append(start(g, d))
    for of in (at, to):
        if of[0].kind != of[1].kind:
            of[1] = g.scalar(of[0].kind, 0)
    u = g.part(sizes, f"dynamic-slice({refs([from_] + at)}), dynamic_slice_sizes={braces(sizes)}")
    if g.r.random() < 0.3:
        u = g.part(sizes, f"{'negate' if is_float(g) else 'not'}({u.ref})")
    g.array(f"dynamic-update-slice({refs([x, u] + to)})")


def op_reduce(g):
    """A row's or column's extreme, taken from all elements."""
    d, op = g.r.randint(0, 1), g.r.choice(["maximum", "minimum"])
    kept = g.m.dims[1 - d]
    most = g.part((kept,), f"reduce({refs([g.take(), limits(g, op)])}), dimensions={{{d}}}, to_apply={g.combiner(g.m.kind, op)}")
    wide = g.part(g.m.dims, f"broadcast({most.ref}), dimensions={{{1 - d}}}")
    g.array(f"{minus(g)}({refs([g.take(), wide])})")


def op_turned_broadcast(g):
    """Dimensions that do not increase: the source is transposed."""
    rows, columns = g.m.dims
    n = g.r.choice([1, 2, 3])
    wide = g.part((n, columns, rows), f"broadcast({g.take().ref}), dimensions={{2,1}}")
    op = g.r.choice(["maximum", "minimum"])
    one = g.part((columns, rows), f"reduce({refs([wide, limits(g, op)])}), dimensions={{0}}, to_apply={g.combiner(g.m.kind, op)}")
    g.array(f"transpose({one.ref}), dimensions={{1,0}}")


def op_window(g):
    op = g.r.choice(["maximum", "minimum"])
    size, pad = [1, 1], ["0_0", "0_0"]
    d = g.r.randint(0, 1)
    size[d], pad[d] = g.r.choice([(2, "1_0"), (3, "1_1"), (3, "0_2"), (3, "3_-1")])
    if g.m.dims[d] < 3:
        raise Nothing
    g.array(f"reduce-window({refs([g.take(), limits(g, op)])}), window={{size={size[0]}x{size[1]} pad={'x'.join(pad)}}}, "
            f"to_apply={g.combiner(g.m.kind, op)}")


def op_sort(g):
    less, _ = g.computation("less", [(g.m.kind, (), False)] * 2,
                            lambda c, p: c.hidden("pred", (), f"compare({refs(p)}), direction={c.r.choice(['LT', 'GT'])}"))
    g.array(f"sort({g.take().ref}), dimensions={{{g.r.randint(0, 1)}}}, to_apply={less}")


def rows(g, count):
    """Row numbers, some beyond the array."""
    kind = g.r.choice(["s32", "s32", "u32"])
    i = g.part((count, 1), "iota(), iota_dimension=0", kind)
    by = g.part((count, 1), f"broadcast({g.scalar(kind, g.r.choice([1, 3])).ref}), dimensions={{}}", kind)
    return g.part((count, 1), f"{g.r.choice(['multiply', 'add'])}({refs([i, by])})", kind)


def op_gather(g):
    n, columns = g.m.dims
    g.array(f"gather({refs([g.take(), rows(g, n)])}), offset_dims={{1}}, collapsed_slice_dims={{0}}, start_index_map={{0}}, "
            f"index_vector_dim=1, slice_sizes={{1,{columns}}}")


def op_scatter(g):
    n, columns = max(1, g.m.dims[0] // 4), g.m.dims[1]
    u = g.part((n, columns), f"slice({g.take().ref}), slice={{[0:{n}], [0:{columns}]}}")
    op = g.combiner(g.m.kind, g.r.choice(["add", "maximum"]))
    g.array(f"scatter({refs([g.take(), rows(g, n), u])}), update_window_dims={{1}}, inserted_window_dims={{0}}, "
            f"scatter_dims_to_operand_dims={{0}}, index_vector_dim=1, to_apply={op}")


def scaled(g, value, contracted):
    """So small that chains of products stay finite."""
    if is_float(g):
        g.array(f"multiply({refs([value, splat(g, 1 / max(1, contracted))])})")
    else:
        g.array(f"copy({value.ref})")


def op_dot(g):
    """x y^T z, or x y where they are square."""
    n, columns = g.m.dims
    if g.m.kind not in ("f32", "bf16", "f16", "s32"):
        raise Nothing
    d = g.r.randint(0, 1) if n == columns else 1
    x = g.part((n, n), f"dot({refs([g.take(), g.take()])}), lhs_contracting_dims={{1}}, rhs_contracting_dims={{{d}}}")
    if n == columns:
        return scaled(g, x, n)
    return scaled(g, g.part(g.m.dims, f"dot({refs([x, g.take()])}), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}"), n * columns)


def finite(g, x):
    p = g.part(g.m.dims, f"is-finite({x.ref})", "pred")
    return g.part(g.m.dims, f"select({refs([p, x, splat(g, 0)])})")


def op_convolution(g):
    """Along rows in batches of 1, 2 or 8, of one or several groups of columns."""
    n, f = g.m.dims
    batch = g.r.choice([b for b in (1, 2, 8) if n % b == 0])
    groups = g.r.choice([k for k in (1, 2, 4, 8, f) if f % k == 0])
    if g.m.kind not in ("f32", "bf16", "f16") or f // groups > n:
        raise Nothing
    # Small groups are multiplied with zeros of others, as are borders.
    x, w = finite(g, g.take()), finite(g, g.take())
    x = g.part((batch, n // batch, f), f"reshape({x.ref})")
    tap = g.part((f // groups, f), f"slice({w.ref}), slice={{[0:{f // groups}], [0:{f}]}}")
    taps = [g.part((1, f // groups, f), f"reshape({v.ref})") for v in (tap, g.part(tap.dims, f"negate({tap.ref})"))]
    w = g.part((3, f // groups, f), f"concatenate({refs([taps[0], taps[1], taps[0]])}), dimensions={{0}}")
    pad = g.r.choice(["1_1", "2_0", "3_-1"]) if n // batch > 2 else "1_1"
    extra = f", feature_group_count={groups}" if groups > 1 else ""
    y = g.part(x.dims, f"convolution({refs([x, w])}), window={{size=3 pad={pad}}}, dim_labels=b0f_0io->b0f{extra}")
    scaled(g, g.part(g.m.dims, f"reshape({y.ref})"), 3 * f // groups)
