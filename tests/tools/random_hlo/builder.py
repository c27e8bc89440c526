"""What the generator's parts build with: values, instructions, computations.

An instruction has two texts. `text` is the one under test; `plain`, where it
differs, is another way to say the same that XLA's CPU backend runs (a fusion as
a call, `all-reduce-start` as `all-reduce`). Attributes that change no value
(layouts, shardings, metadata) are in the first only.

Values are exact (inputs, integers, moved data) or not: what turns a small
difference into a large one (compare, sort, floor, conversion to an integer)
gets exact values only, so that two right evaluators agree within a tolerance.
"""
import random
import re

from . import types


class Nothing(Exception):
    """No value fits."""


class Value:
    def __init__(self, name, kind, dims, exact):
        self.name, self.kind, self.dims, self.exact = name, kind, tuple(dims), exact

    @property
    def shape(self):
        return shape(self.kind, self.dims)

    @property
    def ref(self):
        return "%" + self.name

    @property
    def size(self):
        return count(self.dims)


class Line:
    def __init__(self, name, shape, text, plain):
        self.name, self.shape, self.text, self.plain = name, shape, text, plain
        self.attributes = []  # of `text` only
        self.layout = None  # the shape with another layout, in `text` only

    @property
    def opcode(self):
        return self.text[:self.text.index("(")]


def shape(kind, dims):
    order = ",".join(str(d) for d in reversed(range(len(dims))))
    return f"{kind}[{','.join(map(str, dims))}]{{{order}}}" if dims else f"{kind}[]"


def short(kind, dims):
    return f"{kind}[{','.join(map(str, dims))}]"


def count(dims):
    n = 1
    for d in dims:
        n *= d
    return n


def braces(values):
    return "{" + ",".join(map(str, values)) + "}"


def refs(values):
    return ", ".join(v.ref for v in values)


class Shared:
    """Of the whole module."""

    def __init__(self, seed):
        self.r = random.Random(seed)
        self.computations = []  # (name, header, [Line], root)
        self.n = 0
        self.runs = True  # False: no values are compared (infeed, rng, ...)


class Builder:
    """One computation."""

    def __init__(self, shared, depth=0):
        self.m, self.r, self.depth = shared, shared.r, depth
        self.lines, self.values = [], []

    def fresh(self, base="v"):
        self.m.n += 1
        return f"{base}.{self.m.n}"

    def raw(self, shape_text, text, plain=None, name=None):
        """An instruction that is no array; its name."""
        name = name or self.fresh()
        self.lines.append(Line(name, shape_text, text, plain))
        return "%" + name

    def emit(self, kind, dims, text, exact, plain=None):
        v = Value(self.fresh(), kind, dims, exact)
        self.lines.append(Line(v.name, v.shape, text, plain))
        self.values.append(v)
        return v

    def hidden(self, kind, dims, text, exact=True, plain=None):
        """An array that nothing else takes."""
        v = self.emit(kind, dims, text, exact, plain)
        self.values.remove(v)
        return v

    def dims(self, rank=None):
        rank = self.r.randint(0, 3) if rank is None else rank
        return [self.r.choice([1, 2, 3, 4, 5, 7]) for _ in range(rank)]

    def find(self, test):
        found = [v for v in self.values if test(v)]
        return self.r.choice(found) if found else None

    def pick(self, test=lambda v: True):
        found = self.find(test)
        if found is None:
            raise Nothing
        return found

    def array(self, kinds, rank=None, exact=None):
        """A value of one of the types: one there is, else a new constant."""
        v = self.find(lambda v: v.kind in kinds and (rank is None or len(v.dims) == rank)
                      and (exact is None or v.exact == exact) and v.size)
        if v is not None and self.r.random() < 0.6:
            return v
        return self.constant(self.r.choice(kinds), self.dims(rank))

    def constant(self, kind, dims, element=None):
        if kind in types.ONE_BIT + types.F6:
            raise Nothing  # XLA dies on those of f6, and does not read its own of s1 and u1
        element = element or (lambda: types.random_element(kind, self.r))

        def nest(d):
            return element() if not d else "{" + ", ".join(nest(d[1:]) for _ in range(d[0])) + "}"
        return self.emit(kind, dims, f"constant({nest(list(dims))})", True)

    def scalar(self, kind, value):
        if kind in types.ONE_BIT + types.F6:
            raise Nothing
        return self.hidden(kind, (), f"constant({value})")

    def like(self, v, exact=None):
        """Another value of the same shape."""
        other = self.find(lambda o: o.kind == v.kind and o.dims == v.dims and (exact is None or o.exact == exact))
        return other if other is not None and self.r.random() < 0.7 else self.constant(v.kind, v.dims)

    def identity(self, kind, op):
        """The initial value that a reduction must have."""
        if types.is_complex(kind):
            return self.scalar(kind, {"add": "(0, 0)", "multiply": "(1, 0)"}[op])
        low, high = ("-inf", "inf") if types.is_float(kind) else (0, 1) if kind == "pred" else types.integer_range(kind)
        return self.scalar(kind, {"add": 0, "multiply": 1, "maximum": low, "minimum": high, "and": "true", "or": "false",
                                  "xor": "false"}[op])

    def computation(self, base, parameters, build, thread=None):
        """A computation: parameters are (kind, dims, exact) or, for tuples,
        a shape text; build(child, names) returns the root's Value or (name,
        shape text). Its name and what build returned."""
        child = type(self)(self.m, self.depth + 1)
        names = []
        for i, p in enumerate(parameters):
            if isinstance(p, str):
                names.append(child.raw(p, f"parameter({i})"))
            else:
                names.append(child.emit(p[0], p[1], f"parameter({i})", p[2]))
        root = build(child, names)
        last = root.name if isinstance(root, Value) else root[0].lstrip("%")
        name = self.fresh(base)
        self.m.computations.append((name, thread, child.lines, last))
        return "%" + name, root

    def drop_unused(self, root):
        """Only what the root needs stays, and the parameters."""
        needed, kept = {root.name}, []
        for line in reversed(self.lines):
            if line.name in needed or line.opcode == "parameter":
                kept.append(line)
                needed.update(re.findall(r"%([\w.]+)", line.text))
        self.lines = kept[::-1]

    def combiner(self, kind, op):
        def build(c, p):
            return c.emit(kind, (), f"{op}({refs(p)})", False)
        return self.computation("combine", [(kind, (), False)] * 2, build)[0]

    def tuple(self, values):
        text = "(" + ", ".join(v.shape for v in values) + ")"
        return self.raw(text, f"tuple({refs(values)})"), text

    def element(self, name, index, kind, dims, exact):
        return self.emit(kind, dims, f"get-tuple-element({name}), index={index}", exact)
