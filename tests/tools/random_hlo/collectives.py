"""Collectives of one device: what they give is known, and every form of their
attributes is read."""
from . import types
from .builder import braces, refs, shape

KINDS = ["f32", "s32", "bf16", "f64", "u8"]


def groups(g):
    return g.r.choice(["{{0}}", "{{0}}", "{}", "[1,1]<=[1]"])


def channel(g, global_ids=True):
    if g.r.random() < 0.5:
        return ""
    g.m.n += 1
    return f", channel_id={g.m.n}" + (", use_global_device_ids=true" if global_ids and g.r.random() < 0.5 else "")


def all_reduce(g, v, kind="all-reduce"):
    op = g.r.choice(["add", "maximum", "minimum", "multiply"])
    c = channel(g)
    how = groups(g) if "use_global" not in c else "{{0}}"
    return f"{kind}({v.ref}){c}, replica_groups={how}, to_apply={g.combiner(v.kind, op)}"


def op_all_reduce(g):
    v = g.array(KINDS)
    return g.emit(v.kind, v.dims, all_reduce(g, v), v.exact, plain=f"copy({v.ref})")


def op_all_reduce_two(g):
    v, o = g.array(["f32"]), g.array(["f32"])
    t = g.raw(f"({v.shape}, {o.shape})", f"all-reduce({refs([v, o])}), replica_groups={groups(g)}, to_apply={g.combiner('f32', 'add')}",
              plain=f"tuple({refs([v, o])})")
    return g.element(t, 1, "f32", o.dims, o.exact)


def op_all_reduce_start(g):
    v = g.array(KINDS)
    s = g.hidden(v.kind, v.dims, all_reduce(g, v, "all-reduce-start"), v.exact, plain=f"copy({v.ref})")
    return g.emit(v.kind, v.dims, f"all-reduce-done({s.ref})", v.exact, plain=f"copy({s.ref})")


def op_gather_scatter(g):
    v = g.pick(lambda v: len(v.dims) > 0 and v.kind in KINDS)
    d = g.r.randrange(len(v.dims))
    if g.r.random() < 0.5:
        return g.emit(v.kind, v.dims, f"all-gather({v.ref}){channel(g)}, replica_groups={{{{0}}}}, dimensions={{{d}}}", v.exact, plain=f"copy({v.ref})")
    return g.emit(v.kind, v.dims, f"reduce-scatter({v.ref}){channel(g)}, replica_groups={{{{0}}}}, dimensions={{{d}}}, "
                  f"to_apply={g.combiner(v.kind, 'add')}", v.exact, plain=f"copy({v.ref})")


def op_all_gather_start(g):
    v = g.pick(lambda v: len(v.dims) > 0 and v.kind in KINDS)
    t = g.raw(f"({v.shape}, {v.shape})", f"all-gather-start({v.ref}){channel(g)}, replica_groups={{{{0}}}}, dimensions={{0}}", plain="")
    return g.emit(v.kind, v.dims, f"all-gather-done({t})", v.exact, plain=f"copy({v.ref})")


def op_all_to_all(g):
    v = g.pick(lambda v: len(v.dims) > 0 and v.kind in KINDS)
    if g.r.random() < 0.5:
        return g.emit(v.kind, v.dims, f"all-to-all({v.ref}){channel(g, False)}, replica_groups={{{{0}}}}, dimensions={{{g.r.randrange(len(v.dims))}}}", v.exact,
                      plain=f"copy({v.ref})")
    t = g.raw(f"({v.shape})", f"all-to-all({v.ref}){channel(g, False)}, replica_groups={{{{0}}}}", plain=f"tuple({v.ref})")
    return g.element(t, 0, v.kind, v.dims, v.exact)


def op_permute(g):
    v = g.array(KINDS)
    here = g.r.random() < 0.7
    pairs = "{{0,0}}" if here else "{}"
    zero = "" if here else g.hidden(v.kind, v.dims, f"broadcast({g.scalar(v.kind, 0).ref}), dimensions={{}}").ref
    plain = f"copy({v.ref if here else zero})"
    if g.r.random() < 0.5:
        return g.emit(v.kind, v.dims, f"collective-permute({v.ref}){channel(g, False)}, source_target_pairs={pairs}", v.exact, plain=plain)
    t = g.raw(f"({v.shape}, {v.shape}, u32[], u32[])", f"collective-permute-start({v.ref}){channel(g, False)}, source_target_pairs={pairs}", plain="")
    return g.emit(v.kind, v.dims, f"collective-permute-done({t})", v.exact, plain=plain)


def op_collective_broadcast(g):
    v = g.array(KINDS)
    return g.emit(v.kind, v.dims, f"collective-broadcast({v.ref}){channel(g, False)}, replica_groups={{{{0}}}}", v.exact, plain=f"copy({v.ref})")


def op_ragged_all_to_all(g):
    n, m = g.r.randint(2, 5), g.r.randint(2, 6)
    x, y = g.constant("f32", (n, 2)), g.constant("f32", (m, 2))
    size = g.r.randint(0, min(n, m))
    a, b = g.r.randint(0, n - size), g.r.randint(0, m - size)
    offsets = [g.hidden("s32", (1,), f"constant({{{i}}})") for i in (a, size, b, size)]
    part = g.hidden("f32", (size, 2), f"slice({x.ref}), slice={{[{a}:{a + size}], [0:2]}}")
    at = [g.scalar("s32", b), g.scalar("s32", 0)]
    return g.emit("f32", (m, 2), f"ragged-all-to-all({refs([x, y] + offsets)}), replica_groups={{{{0}}}}", True,
                  plain=f"dynamic-update-slice({refs([y, part] + at)})")


def op_ids(g):
    return g.emit("u32", (), f"{g.r.choice(['replica-id', 'partition-id'])}()", True, plain="constant(0)")
