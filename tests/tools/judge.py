"""Both sides of the differential test (differential.py): asks our program and XLA
about one random module, and tells what differs.

    judge = Judge("BUILD/tests/tools/judged", folder)
    for what, message in judge.check(seed): ...     # "text", "cost", "value" ...
"""
import collections
import os
import random
import re
import subprocess

from jaxlib import _hlo

import run_hlo
from compare_protos_with_xla import first_difference, options
from compare_with_xla import load
from random_hlo import coverage, random_module
from random_hlo.deliberate import normal
from value_comparison import inputs, values_differ

REFUSALS = 5  # every so many seeds a damaged module: a process of its own, so slow


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


def damaged(text, seed):
    """The module with one dimension of one result changed: mostly not valid."""
    r = random.Random(seed)
    places = [m for m in re.finditer(r"(?<= = )(\w+\[)(\d+)", text) if " parameter(" not in text[m.start():m.start() + 200].split("\n")[0]]
    if not places:
        return None
    m = r.choice(places)
    return text[:m.start(2)] + str(int(m[2]) + r.choice([1, 2])) + text[m.end(2):]


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
