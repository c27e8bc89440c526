"""What calls other computations or orders instructions, and what moves values
between memories, hosts and shapes."""
from . import types
from .builder import braces, refs, shape

KINDS = ["f32", "s32", "f64", "bf16", "u8", "pred", "c64", "s64"]


def body(c, values):
    """A few instructions on the parameters."""
    for _ in range(c.r.randint(1, 3)):
        c.add(nested=c.depth < 3)
    mine = [v for v in c.values if v not in values] or values
    return c.r.choice(mine)


def arguments(g, kinds=KINDS, exact=None):
    return [g.array(kinds) for _ in range(g.r.randint(1, 3))]


def describe(values, exact=True):
    return [(v.kind, v.dims, v.exact and exact) for v in values]


def op_call(g):
    a = arguments(g)
    f, root = g.computation("callee", describe(a), body)
    return g.emit(root.kind, root.dims, f"call({refs(a)}), to_apply={f}", root.exact)


def op_composite_call(g):
    a = arguments(g)
    f, root = g.computation("composite", describe(a), body)
    text = f"call({refs(a)}), to_apply={f}"
    return g.emit(root.kind, root.dims, text + ", is_composite=true, frontend_attributes={composite.attributes={n = 1 : i64},"
                  "composite.name=\"foo.bar\",composite.version=\"1\"}", root.exact, plain=text)


def op_fusion(g):
    a = arguments(g)

    def simple(c, values):
        for _ in range(c.r.randint(1, 3)):
            c.add(only=FUSED)
        mine = [v for v in c.values if v not in values] or values
        root = c.r.choice(mine)
        c.drop_unused(root)
        return root
    f, root = g.computation("fused", describe(a), simple)
    return g.emit(root.kind, root.dims, f"fusion({refs(a)}), kind={g.r.choice(['kLoop', 'kInput', 'kOutput', 'kCustom'])}, calls={f}", root.exact,
                  plain=f"call({refs(a)}), to_apply={f}")


FUSED = ["op_unary_float", "op_binary", "op_broadcast", "op_transpose", "op_reshape", "op_slice", "op_dynamic_slices", "op_reduce", "op_pad",
         "op_select", "op_gather_rows", "op_concatenate", "op_compare", "op_convert"]


def op_while(g):
    v = g.pick(lambda v: v.kind in ("f32", "s32", "u8", "f64"))
    t, start, step, trips = f"(s32[], {v.shape})", g.r.randint(-2, 2), g.r.choice([1, 1, 2]), g.r.randint(0, 4)
    # Steps that reach the limit: where they jump over it XLA's CPU backend counts
    # the trips wrongly (i = 0; i < 1; i += 2 does not run, i = 1; i <= 0; i += 2
    # runs once).
    step = step if trips else 1
    direction = g.r.choice(["LT", "LT", "LE"])
    n = start + step * trips - (direction == "LE")

    def condition(c, p):
        i = c.element(p[0], 0, "s32", (), True)
        return c.emit("pred", (), f"compare({refs([i, c.scalar('s32', n)])}), direction={direction}", True)

    def loop(c, p):
        i = c.element(p[0], 0, "s32", (), True)
        j = c.emit("s32", (), f"add({refs([i, c.scalar('s32', step)])})", True)
        x = c.element(p[0], 1, v.kind, v.dims, types.is_int(v.kind))
        if c.depth < 3 and g.r.random() < 0.5:
            c.add(nested=True)
        y = c.find(lambda o: o is not x and o.kind == v.kind and o.dims == v.dims) or x
        if types.is_int(v.kind):
            return c.tuple([j, c.emit(v.kind, v.dims, f"{g.r.choice(['add', 'xor', 'multiply'])}({refs([x, y])})", True)])
        half = c.emit(v.kind, v.dims, f"tanh({y.ref})", False)
        return c.tuple([j, c.emit(v.kind, v.dims, f"{g.r.choice(['maximum', 'subtract'])}({refs([x, half])})", False)])
    cond, b = g.computation("cond", [t], condition)[0], g.computation("body", [t], loop)[0]
    z = g.scalar("s32", start)
    w = g.raw(t, f"while({g.tuple([z, v])[0]}), condition={cond}, body={b}")
    g.element(w, 0, "s32", (), True)
    return g.element(w, 1, v.kind, v.dims, types.is_int(v.kind))


def op_conditional(g):
    v = g.array(KINDS)

    def same_shape(c, p):
        for _ in range(c.r.randint(0, 2)):
            c.add(nested=c.depth < 3)
        o = c.find(lambda o: o is not p[0] and o.kind == v.kind and o.dims == v.dims)
        if o is not None:
            return o
        return c.emit(v.kind, v.dims, f"{'not' if v.kind == 'pred' else 'negate'}({p[0].ref})", v.exact)
    many = g.r.randint(1, 3)
    two = g.r.random() < 0.4
    made = [g.computation("branch", describe([v]), same_shape) for _ in range(2 if two else many)]
    exact = all(root.exact for _, root in made)
    names = [f for f, _ in made]
    if two:
        p = g.constant("pred", ())
        return g.emit(v.kind, v.dims, f"conditional({refs([p, v, v])}), true_computation={names[0]}, false_computation={names[1]}", exact)
    i = g.constant("s32", ())
    return g.emit(v.kind, v.dims, f"conditional({refs([i] + [v] * many)}), branch_computations={{{', '.join(names)}}}", exact)


def op_scan(g):
    """Running sums along a dimension."""
    n, m = g.r.randint(1, 4), g.r.randint(1, 3)
    x, c0 = g.constant("f32", (n, m)), g.constant("f32", (m,))

    def step(c, p):
        y = c.emit("f32", (m,), f"add({refs(p)})", False)
        return c.tuple([y, y])
    f, _ = g.computation("step", [("f32", (m,), False)] * 2, step)
    g.m.runs = False  # XLA's CPU has no such instruction
    t = g.raw(f"({x.shape}, {c0.shape})", f"scan({refs([x, c0])}), dimensions={{0}}, num_carries=1, to_apply={f}"
              + (", is_reverse=true" if g.r.random() < 0.3 else ""))
    return g.element(t, 0, "f32", (n, m), False)


def op_tuple_nested(g):
    a, b = g.pick(), g.pick()
    inner, text = g.tuple([a, b])
    outer = g.raw(f"({text}, {a.shape})", f"tuple({inner}, {a.ref})")
    again = g.raw(text, f"get-tuple-element({outer}), index=0")
    return g.element(again, 1, b.kind, b.dims, b.exact)


def op_barrier(g):
    a, b = g.pick(), g.pick()
    t, text = g.tuple([a, b])
    o = g.raw(text, f"opt-barrier({t})")
    return g.element(o, 0, a.kind, a.dims, a.exact)


def op_tokens(g):
    v = g.pick()
    t = g.raw("token[]", "after-all()")
    u = g.raw("token[]", f"after-all({t}, {t})")
    return g.emit(v.kind, v.dims, f"add-dependency({v.ref}, {u})", v.exact, plain=f"copy({v.ref})")


def op_copy_start(g):
    v = g.pick()
    t = g.raw(f"({v.shape}, {v.shape}, u32[])", f"copy-start({v.ref})", plain="")
    return g.emit(v.kind, v.dims, f"copy-done({t})", v.exact, plain=f"copy({v.ref})")


def op_async(g):
    a = arguments(g)[:1]  # XLA's short form takes what the operation takes
    thread = g.r.choice([None, None, "sparsecore"])

    def one(c, values):
        x = values[0]
        op = c.r.choice([f"negate({x.ref})", f"reverse({x.ref}), dimensions={{}}", f"custom-call({x.ref}), custom_call_target=\"Sharding\""])
        if x.kind == "pred":
            op = f"not({x.ref})"
        return c.emit(x.kind, x.dims, op, x.exact, plain=f"copy({x.ref})" if "custom" in op else None)
    f, root = g.computation("async", describe(a), one, thread)
    text = f"(({', '.join(v.shape for v in a)}), {root.shape}, s32[])"
    extra = f', async_execution_thread="{thread}"' if thread else ""
    t = g.raw(text, f"async-start({refs(a)}){extra}, calls={f}", plain="")
    if g.r.random() < 0.3:
        t = g.raw(text, f"async-update({t})", plain="")
    return g.emit(root.kind, root.dims, f"async-done({t})", root.exact, plain=f"call({refs(a)}), to_apply={f}")


def op_domain(g):
    v = g.pick()
    return g.emit(v.kind, v.dims, f'domain({v.ref}), domain={{kind="sharding", entry={{maximal device=0}}, exit={{maximal device=1}}}}', v.exact,
                  plain=f"copy({v.ref})")


def op_custom_call(g):
    """The ones with a meaning: markers of shardings, pass-through."""
    v = g.pick()
    target = g.r.choice(["Sharding", "SPMDFullToShardShape", "SPMDShardToFullShape", "annotate_device_placement", "MoveToDevice"])
    extra = g.r.choice(["", ", custom_call_has_side_effect=true", ', backend_config="x=1"', ", backend_config={\"a\":{\"b\":[1,2]}}"])
    if target == "annotate_device_placement" or target == "MoveToDevice":
        extra = ', frontend_attributes={_xla_buffer_placement="device"}'
    return g.emit(v.kind, v.dims, f'custom-call({v.ref}), custom_call_target="{target}"{extra}', v.exact, plain=f"copy({v.ref})")


def op_custom_call_unknown(g):
    v, o = g.pick(), g.pick()
    g.m.runs = False
    extra = g.r.choice(["", f", operand_layout_constraints={{{v.shape}, {o.shape}}}", ", api_version=API_VERSION_STATUS_RETURNING",
                        ", schedule=SCHEDULE_LATEST", f", output_to_operand_aliasing={{{{}}: (0, {{}})}}", ", custom_call_has_side_effect=true"])
    return g.emit(v.kind, v.dims, f'custom-call({refs([v, o])}), custom_call_target="somebody\'s"{extra}', v.exact)


def op_dynamic_size(g):
    """An array that is shorter than it could be; its sum counts what is there."""
    v = g.array(["f32", "s32"])
    if not v.dims or not v.size:
        return op_barrier(g)
    d = g.r.randrange(len(v.dims))
    n = g.hidden("s32", (), f"constant({g.r.randint(0, v.dims[d])})")
    dims = [f"<={k}" if i == d else k for i, k in enumerate(v.dims)]
    cut = g.hidden(v.kind, dims, f"set-dimension-size({refs([v, n])}), dimensions={{{d}}}", v.exact)
    g.emit("s32", (), f"get-dimension-size({cut.ref}), dimensions={{{d}}}", True)
    z = g.identity(v.kind, "add")
    return g.emit(v.kind, (), f"reduce({refs([cut, z])}), dimensions={braces(range(len(v.dims)))}, to_apply={g.combiner(v.kind, 'add')}", v.kind == "s32")


def op_dynamic_reshape(g):
    v = g.array(["f32", "s32"])
    n = g.hidden("s32", (), f"constant({v.size})")
    g.m.runs = False  # XLA's CPU has no such instruction
    flat = g.hidden(v.kind, [f"<={v.size}"], f"dynamic-reshape({refs([v, n])})", v.exact)
    return g.emit("s32", (), f"get-dimension-size({flat.ref}), dimensions={{0}}", True)


def op_host(g):
    """infeed, outfeed, send, recv: texts only."""
    v = g.pick()
    g.m.runs = False
    t = g.raw("token[]", "after-all()")
    c = g.m.n
    if g.r.random() < 0.5:
        i = g.raw(f"(({v.shape}), token[])", f'infeed({t}), infeed_config="a"')
        e = g.raw(f"({v.shape})", f"get-tuple-element({i}), index=0")
        g.raw("token[]", f"outfeed({e}, {t}), outfeed_shape=({v.shape})" + g.r.choice(["", ', outfeed_config="b"']))
        return g.element(e, 0, v.kind, v.dims, v.exact)
    host = g.r.choice(["", ", is_host_transfer=true"])
    s = g.raw(f"({v.shape}, u32[], token[])", f"send({v.ref}, {t}), channel_id={c}{host}")
    g.raw("token[]", f"send-done({s}), channel_id={c}{host}")
    r = g.raw(f"({v.shape}, u32[], token[])", f"recv({t}), channel_id={c + 1}{host}")
    done = g.raw(f"({v.shape}, token[])", f"recv-done({r}), channel_id={c + 1}{host}")
    g.m.n += 2
    return g.element(done, 0, v.kind, v.dims, v.exact)
