"""Random valid HLO modules from a seed: every opcode that a deterministic
module of one device can have, on small shapes.

    text = random_module(seed)

Values are exact (inputs, integers, moved data) or not; what turns a small
difference into a large one (compare, sort, floor, conversion to an integer)
gets exact values only, so that two right evaluators agree within a tolerance.
"""
import random

FLOATS = ["f32", "f32", "f32", "f64", "bf16", "f16"]
INTS = ["s32", "s32", "s8", "s16", "s64", "u8", "u16", "u32", "u64"]
UNARY_FLOAT = ["abs", "negate", "exponential", "exponential-minus-one", "log-plus-one", "logistic", "tanh", "sine",
               "cosine", "sqrt", "rsqrt", "cbrt", "erf", "log", "tan", "atan2", "power", "sinh", "cosh", "asinh"]
DISCRETE_FLOAT = ["floor", "ceil", "round-nearest-even", "round-nearest-afz", "sign", "is-finite", "copy"]
BINARY_FLOAT = ["add", "subtract", "multiply", "maximum", "minimum", "divide"]
BINARY_INT = ["add", "subtract", "multiply", "maximum", "minimum", "and", "or", "xor", "divide", "remainder",
              "shift-left", "shift-right-logical", "shift-right-arithmetic"]
UNARY_INT = ["abs", "negate", "not", "popcnt", "count-leading-zeros", "sign", "copy"]  # sign: signed types only


class Nothing(Exception):
    """No value fits."""


class Value:
    def __init__(self, name, kind, dims, exact):
        self.name, self.kind, self.dims, self.exact = name, kind, tuple(dims), exact

    @property
    def shape(self):
        return shape(self.kind, self.dims)


def shape(kind, dims):
    return f"{kind}[{','.join(map(str, dims))}]{{{','.join(str(d) for d in reversed(range(len(dims))))}}}" if dims else f"{kind}[]"


def count(dims):
    n = 1
    for d in dims:
        n *= d
    return n


def braces(values):
    return "{" + ",".join(map(str, values)) + "}"


class Generator:
    def __init__(self, seed):
        self.r = random.Random(seed)
        self.lines, self.values, self.computations, self.n = [], [], [], 0

    def fresh(self, base="v"):
        self.n += 1
        return f"{base}.{self.n}"

    def emit(self, kind, dims, text, exact):
        v = Value(self.fresh(), kind, dims, exact)
        self.lines.append(f"  %{v.name} = {v.shape} {text}")
        self.values.append(v)
        return v

    def dims(self, rank=None):
        return [self.r.choice([1, 2, 3, 4, 5, 7]) for _ in range(self.r.randint(0, 3) if rank is None else rank)]

    def find(self, test):
        found = [v for v in self.values if test(v)]
        return self.r.choice(found) if found else None

    def pick(self, test=lambda v: True):
        found = self.find(test)
        if found is None:
            raise Nothing
        return found

    def constant(self, kind, dims):
        def one():
            if kind == "pred":
                return self.r.choice(["true", "false"])
            if kind[0] in "su":
                return str(self.r.randint(0 if kind[0] == "u" else -9, 9))
            return str(self.r.randint(-32, 32) / 8)

        def nest(d):
            return one() if not d else "{" + ", ".join(nest(d[1:]) for _ in range(d[0])) + "}"
        return self.emit(kind, dims, f"constant({nest(list(dims))})", True)

    def like(self, v, exact=None):
        """Another value of the same shape."""
        other = self.find(lambda o: o.kind == v.kind and o.dims == v.dims and (exact is None or o.exact == exact))
        return other if other is not None and self.r.random() < 0.7 else self.constant(v.kind, v.dims)

    def identity(self, kind, op):
        """The initial value that a reduction must have."""
        bits = {"s": lambda n: (-2 ** (n - 1), 2 ** (n - 1) - 1), "u": lambda n: (0, 2 ** n - 1)}
        low, high = bits[kind[0]](int(kind[1:])) if kind[0] in "su" else ("-inf", "inf")
        value = {"add": 0, "multiply": 1, "maximum": low, "minimum": high, "and": "true", "or": "false"}[op]
        return self.emit(kind, (), f"constant({value})", True)

    def combiner(self, kind, op):
        name = self.fresh("combine")
        self.computations.append(f"%{name} (a: {kind}[], b: {kind}[]) -> {kind}[] {{\n  %a = {kind}[] parameter(0)\n"
                                 f"  %b = {kind}[] parameter(1)\n  ROOT %c = {kind}[] {op}(%a, %b)\n}}\n")
        return name

    # --- one instruction each ---
    def op_unary(self):
        v = self.pick(lambda v: v.kind != "pred")
        if v.kind[0] in "su":
            op = self.r.choice([o for o in UNARY_INT if not (v.kind[0] == "u" and o in ("abs", "sign"))])
            return self.emit(v.kind, v.dims, f"{op}(%{v.name})", True)
        if v.exact and self.r.random() < 0.4:
            op = self.r.choice(DISCRETE_FLOAT)
            return self.emit("pred" if op == "is-finite" else v.kind, v.dims, f"{op}(%{v.name})", True)
        op = self.r.choice(UNARY_FLOAT)
        if op in ("atan2", "power"):
            a = self.emit(v.kind, v.dims, f"abs(%{v.name})", v.exact)
            return self.emit(v.kind, v.dims, f"{op}(%{a.name}, %{self.like(v).name})", False)
        return self.emit(v.kind, v.dims, f"{op}(%{v.name})", op in ("abs", "negate") and v.exact)

    def op_binary(self):
        v = self.pick()
        o = self.like(v)
        if v.kind == "pred":
            return self.emit("pred", v.dims, f"{self.r.choice(['and', 'or', 'xor'])}(%{v.name}, %{o.name})", True)
        op = self.r.choice(BINARY_INT if v.kind[0] in "su" else BINARY_FLOAT)
        exact = v.kind[0] in "su" or (op in ("maximum", "minimum") and v.exact and o.exact)
        return self.emit(v.kind, v.dims, f"{op}(%{v.name}, %{o.name})", exact)

    def op_compare(self):
        v = self.pick(lambda v: v.exact)
        o = self.like(v, True)
        extra = ", type=TOTALORDER" if v.kind[0] in "fb" and self.r.random() < 0.3 else ""
        return self.emit("pred", v.dims, f"compare(%{v.name}, %{o.name}), direction={self.r.choice(['EQ', 'NE', 'GE', 'GT', 'LE', 'LT'])}{extra}", True)

    def op_select(self):
        v = self.pick()
        p = self.find(lambda p: p.kind == "pred" and p.dims == v.dims) or self.constant("pred", v.dims)
        o = self.like(v)
        return self.emit(v.kind, v.dims, f"select(%{p.name}, %{v.name}, %{o.name})", v.exact and o.exact)

    def op_clamp(self):
        v = self.pick(lambda v: v.kind != "pred")
        lo, hi = self.constant(v.kind, v.dims), self.constant(v.kind, v.dims)
        return self.emit(v.kind, v.dims, f"clamp(%{lo.name}, %{v.name}, %{hi.name})", v.exact)

    def op_convert(self):
        v = self.pick(lambda v: v.exact)
        kind = self.r.choice(FLOATS + INTS)
        return self.emit(kind, v.dims, f"convert(%{v.name})", True)

    def op_reduce_precision(self):
        v = self.pick(lambda v: v.exact and v.kind in ("f32", "f64"))
        return self.emit(v.kind, v.dims, f"reduce-precision(%{v.name}), exponent_bits={self.r.randint(4, 8)}, mantissa_bits={self.r.randint(2, 20)}", True)

    def op_bitcast_convert(self):
        v = self.pick(lambda v: v.exact and v.kind in ("f32", "s32", "u32"))
        return self.emit({"f32": "u32", "s32": "u32", "u32": "s32"}[v.kind], v.dims, f"bitcast-convert(%{v.name})", True)

    def op_broadcast(self):
        v = self.pick(lambda v: len(v.dims) < 3)
        dims, where = list(v.dims), list(range(len(v.dims)))
        at = self.r.randint(0, len(dims))
        dims.insert(at, self.r.choice([1, 2, 3]))
        where = [d if d < at else d + 1 for d in where]
        return self.emit(v.kind, dims, f"broadcast(%{v.name}), dimensions={braces(where)}", v.exact)

    def op_reshape(self):
        v = self.pick(lambda v: len(v.dims) > 0)
        n = count(v.dims)
        dims = [n] if self.r.random() < 0.5 else [d for d in (2, 3, 4) if n % d == 0][:1]
        if dims != [n]:
            dims = dims + [n // dims[0]] if dims else [1, n]
        return self.emit(v.kind, dims, f"reshape(%{v.name})", v.exact)

    def op_transpose(self):
        v = self.pick(lambda v: len(v.dims) > 1)
        p = list(range(len(v.dims)))
        self.r.shuffle(p)
        return self.emit(v.kind, [v.dims[d] for d in p], f"transpose(%{v.name}), dimensions={braces(p)}", v.exact)

    def op_reverse(self):
        v = self.pick(lambda v: len(v.dims) > 0)
        return self.emit(v.kind, v.dims, f"reverse(%{v.name}), dimensions={{{self.r.randrange(len(v.dims))}}}", v.exact)

    def op_slice(self):
        v = self.pick(lambda v: len(v.dims) > 0)
        parts, dims = [], []
        for d in v.dims:
            a = self.r.randrange(d)
            b, s = self.r.randint(a + 1, d), self.r.randint(1, 2)
            parts.append(f"[{a}:{b}:{s}]")
            dims.append((b - a + s - 1) // s)
        return self.emit(v.kind, dims, f"slice(%{v.name}), slice={{{', '.join(parts)}}}", v.exact)

    def op_pad(self):
        v = self.pick(lambda v: len(v.dims) > 0)
        z = self.constant(v.kind, ())
        parts, dims = [], []
        for d in v.dims:
            lo, hi, inner = self.r.randint(-1 if d > 2 else 0, 2), self.r.randint(0, 2), self.r.randint(0, 1)
            parts.append(f"{lo}_{hi}_{inner}")
            dims.append(d + lo + hi + (d - 1) * inner)
        return self.emit(v.kind, dims, f"pad(%{v.name}, %{z.name}), padding={'x'.join(parts)}", v.exact)

    def op_concatenate(self):
        v = self.pick(lambda v: len(v.dims) > 0)
        o, d = self.like(v), self.r.randrange(len(v.dims))
        dims = list(v.dims)
        dims[d] *= 2
        return self.emit(v.kind, dims, f"concatenate(%{v.name}, %{o.name}), dimensions={{{d}}}", v.exact and o.exact)

    def op_iota(self):
        dims = self.dims(self.r.randint(1, 3))
        return self.emit(self.r.choice(FLOATS + INTS), dims, f"iota(), iota_dimension={self.r.randrange(len(dims))}", True)

    def op_dynamic(self):
        v = self.pick(lambda v: len(v.dims) > 0)
        at = [self.constant("s32", ()) for _ in v.dims]
        names = ", ".join("%" + a.name for a in at)
        sizes = [self.r.randint(1, d) for d in v.dims]
        s = self.emit(v.kind, sizes, f"dynamic-slice(%{v.name}, {names}), dynamic_slice_sizes={braces(sizes)}", v.exact)
        return self.emit(v.kind, v.dims, f"dynamic-update-slice(%{v.name}, %{s.name}, {', '.join('%' + a.name for a in reversed(at))})", v.exact)

    def op_reduce(self):
        v = self.pick(lambda v: len(v.dims) > 0)
        dims = sorted(self.r.sample(range(len(v.dims)), self.r.randint(1, len(v.dims))))
        kept = [v.dims[d] for d in range(len(v.dims)) if d not in dims]
        op = self.r.choice(["and", "or"] if v.kind == "pred" else ["add", "maximum", "minimum", "multiply"])
        z = self.identity(v.kind, op)
        exact = v.kind[0] not in "fb" or (v.exact and op in ("maximum", "minimum"))
        return self.emit(v.kind, kept, f"reduce(%{v.name}, %{z.name}), dimensions={braces(dims)}, to_apply=%{self.combiner(v.kind, op)}", exact)

    def op_reduce_window(self):
        v = self.pick(lambda v: len(v.dims) > 0 and v.kind in ("f32", "s32", "f64"))
        w, dims = [[], [], [], []], []
        for d in v.dims:
            size, stride, lo, hi, dil = self.r.randint(1, 3), self.r.randint(1, 2), self.r.randint(0, 1), self.r.randint(0, 2), self.r.randint(1, 2)
            span = (size - 1) * dil + 1
            if d + lo + hi < span:
                hi = span - d - lo
            w[0].append(size), w[1].append(stride), w[2].append(f"{lo}_{hi}"), w[3].append(dil)
            dims.append((d + lo + hi - span) // stride + 1)
        op = self.r.choice(["add", "maximum", "minimum"])
        z = self.identity(v.kind, op)
        x = ["x".join(map(str, l)) for l in w]
        return self.emit(v.kind, dims, f"reduce-window(%{v.name}, %{z.name}), window={{size={x[0]} stride={x[1]} pad={x[2]} rhs_dilate={x[3]}}}, to_apply=%{self.combiner(v.kind, op)}",
                         v.exact and (v.kind == "s32" or op != "add"))

    def op_dot(self):
        kind = self.r.choice(["f32", "f32", "f64", "s32", "bf16"])
        b, m, k, n = (self.r.randint(1, 4) for _ in range(4))
        x, y = self.constant(kind, (b, m, k)), self.constant(kind, (b, k, n))
        return self.emit(kind, (b, m, n), f"dot(%{x.name}, %{y.name}), lhs_batch_dims={{0}}, lhs_contracting_dims={{2}}, rhs_batch_dims={{0}}, rhs_contracting_dims={{1}}", kind == "s32")

    def op_convolution(self):
        kind = self.r.choice(["f32", "f64"])
        b, h, w, f, o, kh, kw = 1, self.r.randint(3, 5), self.r.randint(3, 5), self.r.choice([1, 2, 4]), self.r.choice([2, 4]), self.r.randint(1, 3), self.r.randint(1, 3)
        g = self.r.choice([1, 2]) if f % 2 == 0 else 1
        x, k = self.constant(kind, (b, h, w, f)), self.constant(kind, (kh, kw, f // g, o))
        s, p, ld, rd = self.r.randint(1, 2), self.r.randint(0, 2), self.r.randint(1, 2), 1

        def out(n, size):
            return ((n - 1) * ld + 1 + 2 * p - ((size - 1) * rd + 1)) // s + 1
        rev = " rhs_reversal=1x0" if self.r.random() < 0.3 else ""
        return self.emit(kind, (b, out(h, kh), out(w, kw), o),
                         f"convolution(%{x.name}, %{k.name}), window={{size={kh}x{kw} stride={s}x{s} pad={p}_{p}x{p}_{p} lhs_dilate={ld}x{ld}{rev}}}, dim_labels=b01f_01io->b01f, feature_group_count={g}", False)

    def op_gather(self):
        v = self.pick(lambda v: len(v.dims) == 2)
        i = self.constant("s32", (self.r.randint(1, 4),))
        return self.emit(v.kind, (i.dims[0], v.dims[1]), f"gather(%{v.name}, %{i.name}), offset_dims={{1}}, collapsed_slice_dims={{0}}, start_index_map={{0}}, index_vector_dim=1, slice_sizes={{1,{v.dims[1]}}}", v.exact)

    def op_scatter(self):
        v = self.pick(lambda v: len(v.dims) == 2 and v.kind in ("f32", "s32", "f64"))
        i = self.constant("s32", (self.r.randint(1, 4),))
        u = self.constant(v.kind, (i.dims[0], v.dims[1]))
        return self.emit(v.kind, v.dims, f"scatter(%{v.name}, %{i.name}, %{u.name}), update_window_dims={{1}}, inserted_window_dims={{0}}, scatter_dims_to_operand_dims={{0}}, index_vector_dim=1, to_apply=%{self.combiner(v.kind, 'add')}", v.kind == "s32")

    def op_sort(self):
        v = self.pick(lambda v: len(v.dims) > 0 and v.exact and v.kind in ("f32", "s32", "u8"))
        name = self.fresh("less")
        self.computations.append(f"%{name} (a: {v.kind}[], b: {v.kind}[]) -> pred[] {{\n  %a = {v.kind}[] parameter(0)\n  %b = {v.kind}[] parameter(1)\n"
                                 f"  ROOT %c = pred[] compare(%a, %b), direction=LT{', type=TOTALORDER' if v.kind == 'f32' else ''}\n}}\n")
        return self.emit(v.kind, v.dims, f"sort(%{v.name}), dimensions={{{self.r.randrange(len(v.dims))}}}, is_stable=true, to_apply=%{name}", True)

    def op_map(self):
        v = self.pick(lambda v: v.kind in ("f32", "s32"))
        o = self.like(v)
        return self.emit(v.kind, v.dims, f"map(%{v.name}, %{o.name}), dimensions={braces(range(len(v.dims)))}, to_apply=%{self.combiner(v.kind, self.r.choice(['add', 'maximum', 'subtract']))}", v.kind == "s32")

    def op_call(self):
        v = self.pick(lambda v: v.kind == "f32")
        name = self.fresh("callee")
        self.computations.append(f"%{name} (x: {v.kind}[{','.join(map(str, v.dims))}]) -> {v.kind}[{','.join(map(str, v.dims))}] {{\n  %x = {v.shape} parameter(0)\n  %t = {v.shape} tanh(%x)\n  ROOT %y = {v.shape} add(%t, %x)\n}}\n")
        return self.emit(v.kind, v.dims, f"call(%{v.name}), to_apply=%{name}", False)

    def op_while(self):
        v = self.pick(lambda v: v.kind in ("f32", "s32"))
        n, t = self.fresh("loop"), f"(s32[], {v.shape})"
        op = "add" if v.kind == "s32" else "multiply"
        self.computations.append(
            f"%{n}.cond (t: (s32[], {v.shape})) -> pred[] {{\n  %t = {t} parameter(0)\n  %i = s32[] get-tuple-element(%t), index=0\n  %l = s32[] constant({self.r.randint(0, 4)})\n  ROOT %c = pred[] compare(%i, %l), direction=LT\n}}\n\n"
            f"%{n}.body (t: (s32[], {v.shape})) -> (s32[], {v.shape}) {{\n  %t = {t} parameter(0)\n  %i = s32[] get-tuple-element(%t), index=0\n  %o = s32[] constant(1)\n  %j = s32[] add(%i, %o)\n"
            f"  %x = {v.shape} get-tuple-element(%t), index=1\n  %y = {v.shape} {op}(%x, %x)\n  ROOT %r = {t} tuple(%j, %y)\n}}\n")
        z = self.constant("s32", ())
        a = self.fresh("init")
        self.lines.append(f"  %{a} = {t} tuple(%{z.name}, %{v.name})")
        w = self.fresh("while")
        self.lines.append(f"  %{w} = {t} while(%{a}), condition=%{n}.cond, body=%{n}.body")
        return self.emit(v.kind, v.dims, f"get-tuple-element(%{w}), index=1", v.kind == "s32")

    def op_conditional(self):
        v = self.pick(lambda v: v.kind == "f32")
        names = []
        for op in ("negate", "tanh", "abs"):
            n = self.fresh("branch")
            names.append(n)
            self.computations.append(f"%{n} (x: {v.shape}) -> {v.shape} {{\n  %x = {v.shape} parameter(0)\n  ROOT %y = {v.shape} {op}(%x)\n}}\n")
        i = self.constant("s32", ())
        return self.emit(v.kind, v.dims, f"conditional(%{i.name}, %{v.name}, %{v.name}, %{v.name}), branch_computations={{{', '.join('%' + n for n in names)}}}", False)

    def op_select_and_scatter(self):
        h = self.r.choice([4, 6])
        x, s, z = self.constant("f32", (h, h)), self.constant("f32", (h // 2, h // 2)), self.identity("f32", "add")
        n = self.fresh("ge")
        self.computations.append(f"%{n} (a: f32[], b: f32[]) -> pred[] {{\n  %a = f32[] parameter(0)\n  %b = f32[] parameter(1)\n  ROOT %c = pred[] compare(%a, %b), direction=GE\n}}\n")
        return self.emit("f32", (h, h), f"select-and-scatter(%{x.name}, %{s.name}, %{z.name}), window={{size=2x2 stride=2x2}}, select=%{n}, scatter=%{self.combiner('f32', 'add')}", False)

    def op_complex(self):
        v = self.pick(lambda v: v.kind == "f32")
        o = self.like(v)
        c = self.fresh("c")
        self.lines.append(f"  %{c} = {shape('c64', v.dims)} complex(%{v.name}, %{o.name})")
        d = self.fresh("c")
        self.lines.append(f"  %{d} = {shape('c64', v.dims)} multiply(%{c}, %{c})")
        return self.emit("f32", v.dims, f"{self.r.choice(['real', 'imag'])}(%{d})", False)

    def op_batch_norm(self):
        x, g = self.constant("f32", (2, 3, 4)), [self.constant("f32", (4,)) for _ in range(4)]
        pos = self.emit("f32", (4,), f"abs(%{g[3].name})", True)
        return self.emit("f32", (2, 3, 4), f"batch-norm-inference(%{x.name}, %{g[0].name}, %{g[1].name}, %{g[2].name}, %{pos.name}), epsilon=0.01, feature_index=2", False)

    def op_rng_bits(self):
        k = self.constant("u64", (2,))
        t = self.fresh("bits")
        self.lines.append(f"  %{t} = (u64[2]{{0}}, u32[6]{{0}}) rng-bit-generator(%{k.name}), algorithm=rng_three_fry")
        return self.emit("u32", (6,), f"get-tuple-element(%{t}), index=1", True)

    def build(self):
        parameters = []
        for i in range(self.r.randint(1, 3)):
            kind = self.r.choice(FLOATS + INTS)
            parameters.append(self.emit(kind, self.dims(self.r.randint(1, 3)), f"parameter({i})", True))
        ops = [getattr(self, n) for n in sorted(dir(self)) if n.startswith("op_")]
        made = []
        for _ in range(self.r.randint(3, 14)):
            try:
                made.append(self.r.choice(ops)())
            except Nothing:
                pass
        if not made:
            made.append(self.constant("f32", (2,)))
        roots = made[-4:]
        text = "HloModule random\n\n" + "\n".join(self.computations) + "\nENTRY %main ("
        text += ", ".join(f"{p.name}: {p.shape}" for p in parameters)
        text += ") -> (" + ", ".join(v.shape for v in roots) + ") {\n" + "\n".join(self.lines)
        text += f"\n  ROOT %out = ({', '.join(v.shape for v in roots)}) tuple({', '.join('%' + v.name for v in roots)})\n}}\n"
        return text


def random_module(seed):
    return Generator(seed).build()
