"""Feeds random modules to ptxla-opt and to XLA (jaxlib, development only):

    python tests/tools/differential.py PTXLA_OPT FIRST_SEED COUNT

Compared for each: that both accept it, the text that both print of it, the
text through each other's proto, and the values that both compute from the same
inputs. Prints what differs, with the seed, and at the end the counts. What
differs on purpose: nothing so far.
"""
import collections
import os
import subprocess
import sys
import tempfile

import numpy as np
from jaxlib import _hlo

import run_hlo
from compare_protos_with_xla import first_difference, options
from compare_with_xla import load, random_inputs
from random_hlo import random_module

# Sums in another order, functions that differ in the last bits, several times
# over.
TOLERANCE = {"float64": 1e-4, "float32": 1e-4, "bfloat16": 0.1, "float16": 0.03}


def values_differ(ours, theirs):
    for i, want in enumerate(theirs):
        got = ours[f"out{i}"]
        if got.shape != want.shape or got.dtype != want.dtype:
            return f"out{i}: {got.dtype}{got.shape} vs {want.dtype}{want.shape}"
        if want.dtype.kind in "biu":
            if not np.array_equal(got, want):
                return f"out{i} {want.dtype}: {got.ravel()[:6]} vs {want.ravel()[:6]}"
            continue
        g, w = got.astype(np.float64), want.astype(np.float64)
        finite = np.isfinite(w) & np.isfinite(g)
        same = (g == w) | (np.isnan(g) & np.isnan(w))
        scale = max(np.abs(w[np.isfinite(w)]).max(initial=0), 1e-3)
        near = finite & (np.abs(np.where(finite, g - w, 0)) <= TOLERANCE[want.dtype.name] * np.maximum(scale, 1))
        if not np.all(same | near):
            k = np.flatnonzero(~(same | near).ravel())[0]
            return f"out{i} {want.dtype}[{k}]: {g.ravel()[k]} vs {w.ravel()[k]} (scale {scale:.3g})"
    return None


def check(program, seed, folder):
    text = random_module(seed)
    path = os.path.join(folder, "m.hlo")
    with open(path, "w") as f:
        f.write(text)
    printed = subprocess.run([program, path], capture_output=True, text=True)
    try:
        module = _hlo.hlo_module_from_text(text)
    except Exception as e:
        return "accept", f"XLA: {str(e)[:300]}; we: {printed.returncode}"
    if printed.returncode != 0:
        return "accept", printed.stderr[:300]
    # What XLA prints, we read and print to the same bytes.
    theirs = module.to_string(options())
    with open(path, "w") as f:
        f.write(theirs)
    ours = subprocess.run([program, path], capture_output=True, text=True)
    if ours.stdout.strip() != theirs.strip():
        return "text", ours.stderr[:200] or first_difference(theirs.strip(), ours.stdout.strip())
    with open(path, "w") as f:
        f.write(text)
    args = random_inputs(text, seed)
    source, target = os.path.join(folder, "in.npz"), os.path.join(folder, "out.npz")
    run_hlo.save(source, {f"arg{i}": a for i, a in enumerate(args)})
    ran = subprocess.run([program, "eval", path, "--inputs", source, "--out", target], capture_output=True, text=True)
    if ran.returncode != 0:
        return "eval", ran.stderr[:300]
    try:
        theirs = run_hlo.run(text, args)
    except Exception as e:
        return "xla", str(e)[:200]
    difference = values_differ(load(target), theirs)
    return ("value", difference) if difference else ("same", None)


def main():
    program, first, many = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    counts = collections.Counter()
    with tempfile.TemporaryDirectory() as folder, np.errstate(all="ignore"):
        for seed in range(first, first + many):
            kind, message = check(program, seed, folder)
            counts[kind] += 1
            if message:
                print(f"seed {seed}: {kind}: {message}", flush=True)
    print(dict(counts))


if __name__ == "__main__":
    main()
