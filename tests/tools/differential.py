"""Feeds random modules to the readers, printers, cost analysis and evaluator of
this tree and to XLA (jaxlib, development only), and compares:

    python tests/tools/differential.py BUILD/tests/tools/judged FIRST_SEED COUNT [--no-values]

- accept: both read the module, and both refuse it with one shape changed;
- text: what XLA prints of it, we print to the same bytes; what we print of it,
  XLA prints as it prints the original;
- proto: XLA's proto, read by us, prints that text; ours, read by XLA, too;
- cost: XLA's flops, transcendentals and bytes accessed;
- value: what XLA's CPU backend computes from the same inputs. Of instructions
  that it does not run (random_hlo/builder.py: `plain`) from a module that says
  the same in others. Modules with infeed, rng and the like have no values.

Prints what differs, with the seed, then the counts, then which opcodes were
reached with which types; an opcode that was not is a failure. DELIBERATE
below lists what differs on purpose.
"""
import collections
import os
import pickle
import random
import re
import signal
import subprocess
import sys
import tempfile

import numpy as np
from jaxlib import _hlo

import run_hlo
from compare_protos_with_xla import first_difference, options
from compare_with_xla import load
from hlo_case import TYPES
from random_hlo import coverage, random_module
from random_hlo.deliberate import explain, normal

# Sums in another order, functions that differ in the last bits, several times
# over: about 25 units in the last place of the largest element.
TOLERANCE = {"float64": 1e-8, "float32": 1e-4, "bfloat16": 0.1, "float16": 0.03, "complex64": 1e-4, "complex128": 1e-8}
REFUSALS = 5  # every so many seeds a damaged module: a process of its own, so slow
NARROW = 0.5  # fp8: one unit is an eighth or a quarter


def inputs(module, seed):
    rng = np.random.default_rng(seed)
    made = []
    for p in module.parameters:
        dtype = TYPES[p.kind]
        if p.kind == "pred":
            made.append(rng.integers(0, 2, p.dims).astype(np.bool_))
        elif p.kind[0] in "su":
            low, high = (-2 ** (int(p.kind[1:]) - 1), 2 ** (int(p.kind[1:]) - 1)) if p.kind[0] == "s" else (0, 2 ** int(p.kind[1:]))
            made.append(rng.integers(max(low, -9), min(high, 10), p.dims).astype(dtype))
        elif p.kind[0] == "c":
            made.append((rng.normal(size=p.dims) + 1j * rng.normal(size=p.dims)).astype(dtype))
        elif p.kind == "f8e8m0fnu":
            made.append((2.0 ** rng.integers(-3, 4, p.dims)).astype(dtype))
        else:
            made.append(np.asarray(rng.normal(size=p.dims)).astype(dtype))
    return made


def values_differ(ours, theirs):
    for i, want in enumerate(theirs):
        got = ours[f"out{i}"]
        if got.shape != want.shape or got.dtype != want.dtype:
            return f"out{i}: {got.dtype}{got.shape} vs {want.dtype}{want.shape}"
        if want.dtype.kind in "biu" or want.dtype.name.startswith(("int", "uint")):
            if not np.array_equal(got, want):
                k = np.flatnonzero((got != want).ravel())[0]
                return f"out{i} {want.dtype}[{k}]: {got.ravel()[k]} vs {want.ravel()[k]}"
            continue
        wide = np.complex128 if want.dtype.kind == "c" else np.float64
        g, w = got.astype(wide), want.astype(wide)
        finite = np.isfinite(w) & np.isfinite(g)
        same = (g == w) | (np.isnan(g) & np.isnan(w))
        scale = np.abs(w[np.isfinite(w)]).max(initial=0)
        tolerance = TOLERANCE.get(want.dtype.name, NARROW)
        near = finite & (np.abs(np.where(finite, g - w, 0)) <= tolerance * np.maximum(scale, 1))
        if not np.all(same | near):
            k = np.flatnonzero(~(same | near).ravel())[0]
            return f"out{i} {want.dtype}[{k}]: {g.ravel()[k]} vs {w.ravel()[k]} (scale {scale:.3g})"
    return None


def damaged(text, seed):
    """The module with one dimension of one result changed: mostly not valid."""
    r = random.Random(seed)
    places = [m for m in re.finditer(r"(?<= = )(\w+\[)(\d+)", text) if " parameter(" not in text[m.start():m.start() + 200].split("\n")[0]]
    if not places:
        return None
    m = r.choice(places)
    return text[:m.start(2)] + str(int(m[2]) + r.choice([1, 2])) + text[m.end(2):]


class Side:
    """Our side: one process for all modules."""

    def __init__(self, program):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, path):
        self.process.stdin.write(path + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().rstrip("\n")
        if not answer:
            raise RuntimeError(f"judged died at {path}")
        return answer


def body(text):
    """Without the first line, whose replica counts XLA's proto does not have."""
    return "\n".join(text.strip().splitlines()[1:])


def blocks(text):
    """XLA's proto has its computations in another order."""
    return "\n\n".join(sorted(b.strip() for b in body(text).split("\n\n")))


def without_frames(text):
    """XLA leaves out frames that no printed instruction names, and its short
    forms print of what they wrap some attributes, as if of the whole."""
    text = re.sub(r"(-start\(.*?), (sharding|frontend_attributes|statistics|origin|metadata|backend_config)=.*", r"\1", text)
    return re.sub(r"\nFileNames\n.*?\n(?=(ENTRY )?%)", "\n", text.strip(), flags=re.DOTALL)


def windows_cover_all(text):
    """Whether XLA takes a reduce-window for one that sees its whole operand at
    every place: along one dimension of n results, 2n-1 in the window, n-1 of
    padding. With strides or dilation it is another window, counted alike."""
    for line in text.split("\n"):
        found = re.search(r"= \(?\w+\[([\d,]*)\].* reduce-window\(.*?window={size=(\S+?)(?: stride=\S+)? pad=([^\s}]+)", line)
        if not found:
            continue
        of = list(zip(map(int, found[1].split(",")), map(int, found[2].split("x")), found[3].split("x")))
        if all(w == 1 or (w == 2 * n - 1 and p == f"{n - 1}_{n - 1}") for n, w, p in of):
            return True
    return False


def read(path):
    with open(path) as f:
        return f.read()


def write(path, content):
    with open(path, "wb" if isinstance(content, bytes) else "w") as f:
        f.write(content)


class Judge:
    def __init__(self, program, folder, values=True):
        self.side, self.folder, self.values = Side(program), folder, values
        self.coverage, self.not_run = coverage.Coverage(), collections.Counter()
        self.pass_ = collections.Counter()

    def check(self, seed):
        """(what, message) of each difference."""
        module = random_module(seed)
        text, path = module.text, os.path.join(self.folder, "m")
        self.coverage.add(module)
        for name in os.listdir(self.folder):
            os.unlink(os.path.join(self.folder, name))
        write(path + ".hlo", text)
        try:
            xla = _hlo.hlo_module_from_text(text)
        except Exception as e:
            yield "accept", f"XLA refuses: {str(e)[:300]}; we: {self.side.ask(path)}"
            return
        theirs = xla.to_string(options())
        write(path + ".xla.hlo", theirs)
        write(path + ".xla.pb", xla.as_serialized_hlo_module_proto())
        run = self.values and module.runs
        if run:
            args = inputs(module, seed)
            run_hlo.save(path + ".in.npz", {f"arg{i}": a for i, a in enumerate(args)})
        answer = self.side.ask(path)
        numbers = re.fullmatch(r"(\S+) (\S+) (\S+) (\d+)", answer)
        if not numbers and not answer.startswith("eval:"):
            yield answer.split(":")[0], answer
            return
        yield from self.compare_texts(xla, theirs, path)
        if numbers:
            yield from self.compare_costs(xla, [float(n) for n in numbers.groups()[:3]])
        else:
            yield "eval", answer
        if run and numbers:
            yield from self.compare_values(module, args, path)
        if seed % REFUSALS == 0:
            yield from self.compare_refusals(text, seed)

    def compare_texts(self, xla, theirs, path):
        self.pass_["text"] += 1
        again = read(path + ".again.hlo")
        short = "async-start" in again and blocks(without_frames(self.as_xla_prints(again))) == blocks(without_frames(theirs))
        if short:
            yield "text", "XLA prints async-start in its short form"
        elif again.strip() != theirs.strip():
            yield "text", first_difference(theirs.strip(), again.strip())
        try:
            ours = _hlo.hlo_module_from_text(read(path + ".ours.hlo")).to_string(options())
            if normal(ours) != normal(theirs):
                yield "ours", first_difference(normal(theirs), normal(ours))
        except Exception as e:
            yield "ours", f"XLA refuses what we print: {str(e)[:300]}"
        through = read(path + ".through.hlo")
        if short and blocks(without_frames(self.as_xla_prints(through))) == blocks(without_frames(theirs)):
            pass  # the computation's name is lost in the short form only
        elif blocks(through) != blocks(again):
            yield "proto", "XLA's: " + first_difference(blocks(again), blocks(through))
        try:
            want = _hlo.hlo_module_from_text(theirs).as_serialized_hlo_module_proto()
            want = _hlo.HloModule.from_serialized_hlo_module_proto(want).to_string(options())
        except Exception as e:
            yield "proto", f"XLA refuses its own: {str(e)[:100]}"
            return
        try:
            with open(path + ".ours.pb", "rb") as f:
                back = _hlo.HloModule.from_serialized_hlo_module_proto(f.read()).to_string(options())
            # XLA orders what it reads by ids: as XLA's proto of that text has them.
            if body(back) != body(want):
                yield "proto", "ours: " + first_difference(body(want), body(back))
        except Exception as e:
            yield "proto", f"XLA refuses ours: {str(e)[:300]}"

    def as_xla_prints(self, text):
        try:
            return _hlo.hlo_module_from_text(text).to_string(options()).strip()
        except Exception as e:
            return str(e)

    def compare_costs(self, xla, ours):
        theirs = run_hlo.cost(xla)
        self.pass_["cost"] += 1
        for name, got in zip(("flops", "transcendentals", "bytes accessed"), ours):
            want = theirs.get(name, 0.0)
            if abs(got - want) > 1e-6 * abs(want):
                text = xla.to_string()
                gathers = any(b.lstrip().startswith("%fused") and " gather(" in b for b in text.split("\n\n"))
                hint = " (a fusion gathers)" if gathers else " (windows cover all)" if windows_cover_all(text) else ""
                yield "cost", f"{name}: {got} vs {want}{hint}"

    def compare_values(self, module, args, path):
        try:
            theirs = run_hlo.run(module.plain, args, quick=True)
        except Exception as e:
            self.not_run[re.sub(r"[\d.]+", "N", str(e).split("\n")[0])[:110]] += 1
            return
        self.pass_["value"] += 1
        difference = values_differ(load(path + ".out.npz"), theirs)
        if difference:
            ours = load(path + ".out.npz")
            if values_differ(ours, run_hlo.run(module.plain, args)) is None:
                difference = f"XLA differs from itself when it optimises: {difference}"
            elif values_differ(ours, run_hlo.run(module.plain, args, quick=True, unfused=True)) is None:
                difference = f"XLA differs from itself when it fuses: {difference}"
        if difference:
            yield "value", difference

    def compare_refusals(self, text, seed):
        broken = damaged(text, seed)
        if broken is None:
            return
        path = os.path.join(self.folder, "broken")
        write(path + ".hlo", broken)
        answer = self.side.ask(path)
        said = refusal(broken)
        if said:
            self.pass_["refused"] += 1
            if answer == "valid":
                yield "refuse", f"only XLA: {said[:400]}"


def refusal(text):
    """What XLA has against a module, in a process of its own: some errors end
    it. Empty: nothing."""
    out, into = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        try:
            _hlo.hlo_module_from_text(text)
        except Exception as e:
            os.write(into, str(e)[:4000].encode())
        os._exit(0)
    os.close(into)
    said = b""
    while part := os.read(out, 4096):
        said += part
    os.close(out)
    status = os.waitpid(pid, 0)[1]
    return said.decode() or ("it dies" if status else "")


def work(program, seeds, values, path):
    """Judges seeds in this process; what is known after each goes to `path`."""
    state = {"counts": collections.Counter(), "deliberate": collections.Counter(), "at": None}
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder, np.errstate(all="ignore"):
        judge = Judge(program, folder, values)
        state.update(coverage=judge.coverage, not_run=judge.not_run, passed=judge.pass_)
        for seed in seeds:
            state["at"] = seed
            with open(path, "wb") as f:
                pickle.dump(state, f)
            same = True
            for kind, message in judge.check(seed):
                reason = explain(kind, message)
                if reason:
                    state["deliberate"][reason] += 1
                    continue
                same = False
                state["counts"][kind] += 1
                print(f"seed {seed}: {kind}: {message}", flush=True)
            state["counts"]["same"] += same
        state["at"] = None
        with open(path, "wb") as f:
            pickle.dump(state, f)


BATCH = 500
# How XLA's compiler of the CPU ends its process; ours is another one.
COMPILER_DIES = {signal.SIGFPE: "SIGFPE: seen at integer divisions of constants by 0",
                 signal.SIGABRT: "SIGABRT: its check of bit_offset, seen at arrays of 2 and 4 bits"}


class Totals:
    """The sums over all batches, each judged in a process of its own: XLA's
    compiler ends its process on some modules."""

    def __init__(self, program, folder):
        self.program, self.path = program, os.path.join(folder, "state")
        self.sums = {k: collections.Counter() for k in ("counts", "deliberate", "not_run", "passed")}
        self.table = coverage.Coverage()

    def judge(self, seeds, values):
        """(the exit status, the seed at which it ended early or None)."""
        pid = os.fork()
        if pid == 0:
            work(self.program, seeds, values, self.path)
            os._exit(0)
        status = os.waitpid(pid, 0)[1]
        with open(self.path, "rb") as f:
            state = pickle.load(f)
        for k, counter in self.sums.items():
            counter.update(state[k])
        self.table.update(state["coverage"])
        return status, state["at"]

    def judge_all(self, seeds, values):
        while seeds:
            batch = seeds[:BATCH]
            status, ended = self.judge(batch, values)
            seeds = seeds[len(batch):] if ended is None else seeds[seeds.index(ended) + 1:]
            if ended is not None:
                # Without values it must not.
                again, ended_again = self.judge([ended], False)
                if status in COMPILER_DIES and ended_again is None:
                    self.sums["deliberate"][f"XLA's compiler dies, {COMPILER_DIES[status]}; all but values compared"] += 1
                else:
                    print(f"seed {ended}: died: status {status}, without values {again}", flush=True)
                    self.sums["counts"]["died"] += 1
            print(f"{len(seeds)} left: {dict(self.sums['counts'])}", file=sys.stderr, flush=True)


def main():
    program, first, many = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    with tempfile.TemporaryDirectory() as folder:
        totals = Totals(program, folder)
        totals.judge_all(list(range(first, first + many)), "--no-values" not in sys.argv)
    table, total = totals.table, totals.sums
    table.print()
    for reason, n in total["not_run"].most_common():
        print(f"not run by XLA: {n} x {reason}")
    for reason, n in total["deliberate"].most_common():
        print(f"on purpose: {n} x {reason}")
    print(f"compared: {dict(total['passed'])}")
    print(f"result: {dict(total['counts'])}")
    missing = table.missing()
    if missing:
        print(f"not reached: {', '.join(missing)}")
    return 1 if missing or set(total["counts"]) - {"same"} else 0


if __name__ == "__main__":
    sys.exit(main())
