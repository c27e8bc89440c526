"""Random programs from a seed: loops that carry tuples, branches in loops, and
parameters that are given away, around arrays of several tiles. What goes wrong
there is where values lie and how long they live, which modules of single
operations (random_module) do not ask.

    p = random_program(seed)
    p.text
"""
from . import RandomModule
from . import program_arrays, program_flow
from .builder import Builder, Nothing, Shared

ARRAYS = {name: f for name, f in sorted(vars(program_arrays).items()) if name.startswith("op_")}
FLOW = {name: f for name, f in sorted(vars(program_flow).items()) if name.startswith("op_")}
KINDS = ["f32"] * 4 + ["bf16"] * 3 + ["s32"] * 2 + ["f16", "s8", "u8", "s16", "f8e4m3fn", "f8e5m2"]
SIZES = [1, 3, 8, 16, 40, 64, 128, 128, 130, 256]


class Program(Builder):
    """One computation, whose values are arrays of one type and shape."""

    def take(self):
        """A value; most often the last, so that chains become long."""
        return self.values[-1] if self.r.random() < 0.5 else self.r.choice(self.values)

    def array(self, text):
        """Another array of the program's type and shape."""
        return self.emit(self.m.kind, self.m.dims, text, False)

    def part(self, dims, text, kind=None):
        """An array of another shape or type: nothing else takes it."""
        return self.hidden(kind or self.m.kind, dims, text, False)

    def steps(self, count):
        """So many operations, fewer where none fits."""
        for _ in range(count):
            names = list(ARRAYS)
            if self.depth < 3:
                names += list(FLOW) * (3 if self.depth == 0 else 1)
            try:
                name = self.r.choice(names)
                (ARRAYS.get(name) or FLOW[name])(self)
            except Nothing:
                pass


def given_away(r, parameters, roots):
    """The header's words: results that take the place of parameters."""
    if r.random() < 0.3:
        return ""
    pairs = list(zip(r.sample(range(roots), roots), r.sample(range(parameters), parameters)))
    pairs = pairs[:r.randint(1, len(pairs))]
    return ", input_output_alias={ " + ", ".join(
        f"{{{j}}}: ({i}, {{}}, {r.choice(['may', 'must'])}-alias)" for j, i in pairs) + " }"


class RandomProgram(RandomModule):
    def __init__(self, seed):
        shared = Shared(seed)
        r = shared.r
        shared.kind = r.choice(KINDS)
        rows = r.choice(SIZES)
        shared.dims = (rows, rows if r.random() < 0.5 else r.choice(SIZES))
        g = Program(shared)
        parameters = [g.array(f"parameter({i})") for i in range(r.randint(1, 4))]
        shared.number = len(parameters)
        g.hidden("s32", (), f"parameter({shared.number})")
        shared.position = g.lines[-1].name  # data decides what is asked of it
        g.steps(r.randint(3, 10))
        roots = [g.values[-1]] + [r.choice(g.values) for _ in range(r.randint(0, 3))]
        r.shuffle(roots)
        g.tuple(roots)
        self.computations = shared.computations + [("main", None, g.lines, g.lines[-1].name)]
        self.header, self.frames = given_away(r, len(parameters), len(roots)), False


def random_program(seed):
    return RandomProgram(seed)
