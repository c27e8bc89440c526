"""Random valid HLO modules from a seed: every opcode, on small shapes, with
nested computations, layouts and attributes.

    m = random_module(seed)
    m.text          # under test
    m.plain         # means the same, in instructions that XLA's CPU runs
    m.runs          # False: has no values to compare (infeed, rng ...)
    m.reached       # [(opcode, type, "entry" or "nested")]

An operation is a function op_NAME(g) of one of the modules beside this one.
"""
import random
import re

from . import attributes, collectives, control, elementwise, movement, products, reductions, types
from .builder import Builder, Nothing, Shared

OPERATIONS = {name: f for part in (elementwise, movement, reductions, products, control, collectives)
              for name, f in sorted(vars(part).items()) if name.startswith("op_")}
# Texts only, so seldom: with one of them no values of the module are compared.
SILENT = {"op_mulhi", "op_stochastic_convert", "op_scaled_dot", "op_scan", "op_dynamic_reshape", "op_host", "op_rng", "op_rng_state",
          "op_custom_call_unknown"}
# Not inside computations that run on a part of the devices, or many times.
ENTRY_ONLY = {"op_host", "op_ids", "op_async", "op_copy_start", "op_domain"} | {n for n in vars(collectives) if n.startswith("op_")}


class Generator(Builder):
    def add(self, only=None, nested=True):
        """One operation of any kind, if one fits."""
        names = only or [n for n in OPERATIONS if (n in SILENT) == self.m.silent or n not in SILENT]
        names = [n for n in names if self.depth == 0 or n not in ENTRY_ONLY and n not in SILENT]
        if not nested:
            names = [n for n in names if n not in ("op_call", "op_while", "op_conditional", "op_fusion", "op_composite_call")]
        if self.m.silent and self.depth == 0 and self.r.random() < 0.3 and not only:
            names = sorted(SILENT)
        before = len(self.lines)
        try:
            return OPERATIONS[self.r.choice(names)](self)
        except Nothing:
            assert len(self.lines) == before or self.lines
            return None


def keep_layouts(lines, names):
    """Nor through tuples, whose elements' layouts are written as they were."""
    made = {line.name: line for line in lines}
    names, done = list(names), set()
    while names:
        line = made.get(names.pop())
        if line is None or line.name in done:
            continue
        done.add(line.name)
        line.layout = None
        if line.opcode in ("get-tuple-element", "opt-barrier", "tuple"):
            names += re.findall(r"%([\w.]+)", line.text)


class RandomModule:
    def __init__(self, seed):
        shared = Shared(seed)
        shared.silent = shared.r.random() < 0.15
        g = Generator(shared)
        r = shared.r
        parameters = []
        for i in range(r.randint(1, 3)):
            kind = r.choice(types.COMMON + (types.ARRAYS if r.random() < 0.5 else []))
            if shared.silent and r.random() < 0.1:
                kind, shared.runs = r.choice(types.ONE_BIT + types.F6), False
            parameters.append(g.emit(kind, g.dims(r.randint(0, 3)), f"parameter({i})", True))
        made = []
        for _ in range(r.randint(2, 9)):
            v = g.add()
            if v is not None:
                made.append(v)
        if not made:
            made.append(g.constant("f32", (2,)))
        self.roots = made[-4:]
        g.raw("(" + ", ".join(v.shape for v in self.roots) + ")", "tuple(" + ", ".join(v.ref for v in self.roots) + ")")
        self.computations = shared.computations + [("main", None, g.lines, g.lines[-1].name)]
        self.parameters, self.runs = parameters, shared.runs
        words = ("replica_groups", "source_target_pairs", "replica-id", "partition-id")
        self.one_device = any(w in line.text for _, _, lines, _ in self.computations for line in lines for w in words)
        # Another stream: what decorates does not change what is computed.
        a = random.Random(seed ^ 0x5EED)
        plain_text = a.random() < 0.2
        if not plain_text:
            casting = set()
            for name, _, lines, _ in self.computations:
                # A bitcast means something else with another layout of its operand, its caller's too.
                bound = [line for line in lines if line.opcode == "bitcast" or casting & set(re.findall(r"%([\w.]+)", line.text))]
                if bound:
                    casting.add(name)
                fixed = {n for line in bound for n in re.findall(r"%([\w.]+)", line.text)}
                # A fusion is packed as its root is.
                fixed |= {line.name for line in lines if line.opcode == "fusion"}
                for line in lines:
                    attributes.decorate(line, a, name == "main" and line.name not in fixed)
                keep_layouts(lines, fixed)
        self.header = "" if plain_text else attributes.header(a, parameters, self.roots, self.one_device)
        self.frames = any("stack_frame_id" in x for _, _, lines, _ in self.computations for line in lines for x in line.attributes)

    def _render(self, plain):
        blocks = []
        for name, thread, lines, root in self.computations:
            head = "ENTRY %main" if name == "main" else "%" + name
            out = []
            for line in lines:
                text = line.plain if plain and line.plain is not None else line.text
                if text == "":
                    continue
                where = line.shape if plain or line.layout is None else line.layout
                extra = "" if plain else "".join(", " + a for a in line.attributes)
                out.append(f"  {'ROOT ' if line.name == root else ''}%{line.name} = {where} {text}{extra}")
            end = f'}}, execution_thread="{thread}"' if thread and not plain else "}"
            blocks.append(head + " {\n" + "\n".join(out) + "\n" + end + "\n")
        head = "HloModule random" + ("" if plain else self.header) + "\n"
        if self.frames and not plain:
            head += attributes.STACK_FRAMES
        return head + "\n" + "\n".join(blocks)

    @property
    def text(self):
        return self._render(False)

    @property
    def plain(self):
        return self._render(True)

    @property
    def reached(self):
        found = []
        for name, _, lines, _ in self.computations:
            for line in lines:
                kind = "tuple" if line.shape.startswith("(") else line.shape.split("[")[0]
                found.append((line.opcode, kind, "entry" if name == "main" else "nested"))
        return found


def random_module(seed):
    return RandomModule(seed)
