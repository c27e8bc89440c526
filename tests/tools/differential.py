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
reached with which types; an opcode that was not is a failure. What differs on
purpose is listed in random_hlo/deliberate.py.
"""
import collections
import os
import pickle
import signal
import sys
import tempfile

import numpy as np

from judge import Judge
from random_hlo import coverage
from random_hlo.deliberate import explain


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
