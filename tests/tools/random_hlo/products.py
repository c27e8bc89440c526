"""Products, transforms, linear algebra, normalisation, random bits."""
from . import types
from .builder import braces, refs, shape

ALGORITHMS = ["dot_f32_f32_f32", "dot_bf16_bf16_f32", "dot_any_f8_any_f8_f32", "dot_tf32_tf32_f32"]


def precision(g):
    if g.r.random() > 0.3:
        return ""
    return f", operand_precision={{{g.r.choice(['default', 'high', 'highest'])},{g.r.choice(['default', 'highest'])}}}"


def op_dot(g):
    kind = g.r.choice(["f32", "f32", "f64", "s32", "bf16", "f16", "u8", "c64"])
    b, m, k, n = (g.r.randint(1, 4) for _ in range(4))
    x, y = g.constant(kind, (b, m, k)), g.constant(kind, (b, k, n))
    return g.emit(kind, (b, m, n), f"dot({refs([x, y])}), lhs_batch_dims={{0}}, lhs_contracting_dims={{2}}, rhs_batch_dims={{0}}, "
                  f"rhs_contracting_dims={{1}}{precision(g)}", types.is_int(kind))


def op_dot_any(g):
    """Batch and contracted dimensions anywhere, several, or none."""
    kind = g.r.choice(["f32", "s32", "f64"])
    nb, nc, nl, nr = g.r.randint(0, 2), g.r.randint(0, 2), g.r.randint(0, 1), g.r.randint(0, 1)
    batch, contract = [g.r.randint(1, 3) for _ in range(nb)], [g.r.randint(1, 3) for _ in range(nc)]
    sides = []
    for free in (nl, nr):
        roles = [("b", i) for i in range(nb)] + [("c", i) for i in range(nc)] + [("f", i) for i in range(free)]
        g.r.shuffle(roles)
        sizes = {"b": batch, "c": contract, "f": [g.r.randint(1, 3) for _ in range(free)]}
        sides.append((g.constant(kind, [sizes[a][i] for a, i in roles]), [roles.index(("b", i)) for i in range(nb)],
                      [roles.index(("c", i)) for i in range(nc)], sizes["f"]))
    (x, xb, xc, xf), (y, yb, yc, yf) = sides
    parts = []
    if nb:
        parts += [f"lhs_batch_dims={braces(xb)}"]
    if nc:
        parts += [f"lhs_contracting_dims={braces(xc)}"]
    if nb:
        parts += [f"rhs_batch_dims={braces(yb)}"]
    if nc:
        parts += [f"rhs_contracting_dims={braces(yc)}"]
    return g.emit(kind, batch + xf + yf, f"dot({refs([x, y])}){''.join(', ' + p for p in parts)}", kind == "s32")


def op_dot_mixed(g):
    """Narrow operands, a wide result; an algorithm."""
    kind, to = g.r.choice([("bf16", "f32"), ("s8", "s32"), ("f16", "f32"), ("f8e4m3fn", "f32"), ("u8", "u32")])
    m, k, n = (g.r.randint(1, 4) for _ in range(3))
    x, y = g.constant(kind, (m, k)), g.constant(kind, (k, n))
    return g.emit(to, (m, n), f"dot({refs([x, y])}), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}", types.is_int(to))


def op_dot_algorithm(g):
    x, y = g.constant("f32", (2, 3)), g.constant("f32", (3, 2))
    return g.emit("f32", (2, 2), f"dot({refs([x, y])}), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}, "
                  f"algorithm={g.r.choice(ALGORITHMS[:2])}", False,
                  plain=f"dot({refs([x, y])}), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}")


def op_ragged_dot(g):
    m, k, n = g.r.randint(2, 5), g.r.randint(1, 3), g.r.randint(1, 3)
    groups = g.r.randint(1, 3)
    x, y = g.constant("f32", (m, k)), g.constant("f32", (groups, k, n))
    cuts = sorted(g.r.randint(0, m) for _ in range(groups - 1))
    sizes = [b - a for a, b in zip([0] + cuts, cuts + [m])]
    s = g.hidden("s32", (groups,), f"constant({braces(sizes)})")
    return g.emit("f32", (m, n), f"ragged-dot({refs([x, y, s])}), lhs_contracting_dims={{1}}, rhs_contracting_dims={{1}}, "
                  f"lhs_ragged_dims={{0}}, rhs_group_dims={{0}}", False)


def op_scaled_dot(g):
    m, n = g.r.randint(1, 4), g.r.randint(1, 4)
    kind = g.r.choice(["bf16", "f8e4m3fn", "f8e5m2"])
    x, y = g.constant(kind, (m, 32)), g.constant(kind, (n, 32))
    sx, sy = g.constant("f8e8m0fnu", (m, 1)), g.constant("f8e8m0fnu", (n, 1))
    g.m.runs = False  # XLA's CPU has no such instruction
    return g.emit("f32", (m, n), f"scaled-dot({refs([x, y, sx, sy])}), lhs_contracting_dims={{1}}, rhs_contracting_dims={{1}}", False)


def op_convolution(g):
    kind = g.r.choice(["f32", "f32", "f64", "bf16"])
    spatial = g.r.choice([1, 2, 2, 3])
    sizes, kernel = [g.r.randint(3, 5) for _ in range(spatial)], [g.r.randint(1, 3) for _ in range(spatial)]
    b, f, o = g.r.choice([1, 2]), g.r.choice([1, 2, 4]), g.r.choice([2, 4])
    groups = g.r.choice([1, 2]) if f % 2 == 0 else 1
    batch_groups = 2 if groups == 1 and b == 2 and g.r.random() < 0.3 else 1
    d = "".join(str(i) for i in range(spatial))
    x, k = g.constant(kind, [b] + sizes + [f]), g.constant(kind, kernel + [f // groups, o])
    w, out, reverse = [[], [], [], []], [], []
    for n, s in zip(sizes, kernel):
        stride, lo, hi, base, dil = g.r.randint(1, 2), g.r.randint(0, 2), g.r.randint(0, 2), g.r.randint(1, 2), g.r.randint(1, 2)
        if (n - 1) * base + 1 + lo + hi < (s - 1) * dil + 1:
            dil = 1
        for part, value in zip(w, (stride, f"{lo}_{hi}", base, dil)):
            part.append(value)
        out.append(((n - 1) * base + 1 + lo + hi - ((s - 1) * dil + 1)) // stride + 1)
        reverse.append(g.r.choice([0, 0, 1]))
    text = f"size={'x'.join(map(str, kernel))}"
    for name, values, default in (("stride", w[0], 1), ("pad", w[1], "0_0"), ("lhs_dilate", w[2], 1), ("rhs_dilate", w[3], 1), ("rhs_reversal", reverse, 0)):
        if any(v != default for v in values):
            text += f" {name}={'x'.join(map(str, values))}"
    extra = (f", feature_group_count={groups}" if groups > 1 else "") + (f", batch_group_count={batch_groups}" if batch_groups > 1 else "")
    return g.emit(kind, [b // batch_groups] + out + [o],
                  f"convolution({refs([x, k])}), window={{{text}}}, dim_labels=b{d}f_{d}io->b{d}f{extra}{precision(g)}", False)


def op_convolution_labels(g):
    """Dimensions in another order."""
    x, k = g.constant("f32", (2, 3, 4, 4)), g.constant("f32", (5, 3, 2, 2))
    labels, dims = g.r.choice([("bf01_oi01->bf01", (2, 5, 3, 3)), ("bf01_oi01->01bf", (3, 3, 2, 5)), ("bf01_oi01->f01b", (5, 3, 3, 2))])
    return g.emit("f32", dims, f"convolution({refs([x, k])}), window={{size=2x2}}, dim_labels={labels}", False)


def op_fft(g):
    n, lead = g.r.choice([2, 3, 4, 6, 8]), g.dims(g.r.randint(0, 1))
    which = g.r.choice(["FFT", "IFFT", "RFFT", "IRFFT"])
    if which == "RFFT":
        x = g.constant("f32", lead + [n])
        return g.emit("c64", lead + [n // 2 + 1], f"fft({x.ref}), fft_type=RFFT, fft_length={{{n}}}", False)
    x = g.constant("c64", lead + [n // 2 + 1 if which == "IRFFT" else n])
    if which == "IRFFT":
        return g.emit("f32", lead + [n], f"fft({x.ref}), fft_type=IRFFT, fft_length={{{n}}}", False)
    return g.emit("c64", lead + [n], f"fft({x.ref}), fft_type={which}, fft_length={{{n}}}", False)


def positive_definite(g, kind, n):
    rows = [[(n + 1 if i == j else 0) + g.r.randint(0, 4) / 8 for j in range(n)] for i in range(n)]
    rows = [[(rows[i][j] + rows[j][i]) / 2 for j in range(n)] for i in range(n)]
    return g.hidden(kind, (n, n), "constant({" + ", ".join("{" + ", ".join(map(str, r)) + "}" for r in rows) + "})")


def op_cholesky(g):
    kind, n = g.r.choice(["f32", "f64"]), g.r.randint(1, 4)
    lower = g.r.random() < 0.7
    a = positive_definite(g, kind, n)
    v = g.hidden(kind, (n, n), f"cholesky({a.ref})" + (", lower=true" if lower else ""), False)
    # The other triangle holds anything.
    i, j = (g.hidden("s32", (n, n), f"iota(), iota_dimension={d}") for d in ((0, 1) if lower else (1, 0)))
    keep = g.hidden("pred", (n, n), f"compare({refs([i, j])}), direction=GE")
    zero = g.hidden(kind, (n, n), f"broadcast({g.scalar(kind, 0).ref}), dimensions={{}}")
    return g.emit(kind, (n, n), f"select({refs([keep, v, zero])})", False)


def op_triangular_solve(g):
    kind, n, m = g.r.choice(["f32", "f64"]), g.r.randint(1, 4), g.r.randint(1, 3)
    left = g.r.random() < 0.5
    a, b = positive_definite(g, kind, n), g.constant(kind, (n, m) if left else (m, n))
    words = [f"{name}=true" for name, on in (("left_side", left), ("lower", g.r.random() < 0.5), ("unit_diagonal", g.r.random() < 0.2)) if on]
    words.append(f"transpose_a={g.r.choice(['NO_TRANSPOSE', 'TRANSPOSE'])}")
    return g.emit(kind, b.dims, f"triangular-solve({refs([a, b])}), {', '.join(words)}", False)


def op_batch_norm(g):
    feature = g.r.randint(0, 2)
    dims = (2, 3, 4)
    c = (dims[feature],)
    x, scale, offset, mean, y = g.constant("f32", dims), *[g.constant("f32", c) for _ in range(3)], g.constant("f32", dims)
    a = g.hidden("f32", c, f"abs({g.constant('f32', c).ref})", True)
    var = g.hidden("f32", c, f"add({refs([a, g.hidden('f32', c, 'broadcast(' + g.scalar('f32', 0.5).ref + '), dimensions={}')])})", True)
    which, tail = g.r.choice(["inference", "training", "grad"]), f"epsilon=0.125, feature_index={feature}"
    if which == "inference":
        return g.emit("f32", dims, f"batch-norm-inference({refs([x, scale, offset, mean, var])}), {tail}", False)
    operands = [x, scale, offset] if which == "training" else [x, scale, mean, var, y]
    s = shape("f32", c)
    t = g.raw(f"({shape('f32', dims)}, {s}, {s})", f"batch-norm-{which}({refs(operands)}), {tail}")
    g.element(t, 1, "f32", c, False)
    g.element(t, 2, "f32", c, False)
    return g.element(t, 0, "f32", dims, False)


def op_rng_bits(g):
    algorithm = g.r.choice(["rng_three_fry", "rng_three_fry", "rng_philox"])
    n = 2 if algorithm == "rng_three_fry" else 3
    kind, dims = g.r.choice(["u32", "u32", "u64", "u8", "u16"]), g.dims(g.r.randint(1, 2))
    k = g.constant("u64", (n,))
    t = g.raw(f"({k.shape}, {shape(kind, dims)})", f"rng-bit-generator({k.ref}), algorithm={algorithm}")
    g.element(t, 0, "u64", (n,), True)
    return g.element(t, 1, kind, dims, True)


def op_rng(g):
    kind, which = g.r.choice(["f32", "f64", "bf16"]), g.r.choice(["rng_uniform", "rng_normal"])
    g.m.runs = False  # its bits are the machine's
    return g.emit(kind, g.dims(), f"rng({refs([g.scalar(kind, 0), g.scalar(kind, 1)])}), distribution={which}", False)


def op_rng_state(g):
    g.m.runs = False
    return g.emit("u64", (2,), f"rng-get-and-update-state(), delta={g.r.randint(1, 9)}", False)
