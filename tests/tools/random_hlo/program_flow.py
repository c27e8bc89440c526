"""Loops and conditionals over tuples of a program's arrays."""
from .builder import braces, refs, shape


def state(g, count):
    return "(s32[], " + ", ".join([shape(g.m.kind, g.m.dims)] * count) + ")"


def starts(g, count):
    """What a loop begins with: often one value for several elements."""
    if g.r.random() < 0.3:
        return [g.r.choice(g.values) for _ in range(count)]
    different = g.r.sample(g.values, min(count, len(g.values)))
    return different + [g.r.choice(g.values) for _ in range(count - len(different))]


def op_while(g):
    """Elements are computed, passed on as they are, or swapped."""
    count, trips = g.r.randint(1, 4), g.r.randint(0, 3)
    t = state(g, count)

    def condition(c, p):
        i = c.hidden("s32", (), f"get-tuple-element({p[0]}), index=0")
        return c.hidden("pred", (), f"compare({refs([i, c.scalar('s32', trips)])}), direction=LT")

    def loop(c, p):
        i = c.hidden("s32", (), f"get-tuple-element({p[0]}), index=0")
        carried = [c.array(f"get-tuple-element({p[0]}), index={k + 1}") for k in range(count)]
        c.counter = i
        c.steps(c.r.randint(1, 4))
        after = [c.r.choice(c.values[-2:] + carried) for _ in range(count)]
        after[c.r.randrange(count)] = c.values[-1]
        return c.tuple([c.hidden("s32", (), f"add({refs([i, c.scalar('s32', 1)])})")] + after)
    cond, body = g.computation("cond", [t], condition)[0], g.computation("body", [t], loop)[0]
    start = g.tuple([g.scalar("s32", 0)] + starts(g, count))[0]
    w = g.raw(t, f"while({start}), condition={cond}, body={body}")
    for k in range(count):
        g.array(f"get-tuple-element({w}), index={k + 1}")


def op_conditional(g):
    """Branches take and give tuples; what chooses is data in the entry, the
    count of iterations in a loop."""
    count = g.r.randint(1, 3)
    branches = g.r.randint(2, 3)
    a = [g.take() for _ in range(count)]
    t = "(" + ", ".join(v.shape for v in a) + ")"

    def branch(c, p):
        for k in range(count):
            c.array(f"get-tuple-element({p[0]}), index={k}")
        c.steps(c.r.randint(0, 3))
        return c.tuple([c.r.choice(c.values) for _ in range(count - 1)] + [c.values[-1]])
    names = [g.computation("branch", [t], branch)[0] for _ in range(branches)]
    chosen = getattr(g, "counter", None)
    chosen = chosen.ref if chosen else "%" + g.m.position if g.depth == 0 else g.scalar("s32", g.r.randint(-1, branches)).ref
    operands = [g.tuple(a if g.r.random() < 0.7 else [g.take() for _ in a])[0] for _ in names]
    w = g.raw(t, f"conditional({', '.join([chosen] + operands)}), branch_computations={braces(names)}")
    for k in range(count):
        g.array(f"get-tuple-element({w}), index={k}")


def op_barrier(g):
    t, text = g.tuple([g.take(), g.take()])
    o = g.raw(text, f"opt-barrier({t})")
    g.array(f"get-tuple-element({o}), index={g.r.randint(0, 1)}")
