"""Evaluates HLO files with ptxla-opt and with XLA's CPU backend and compares:

    python tests/tools/compare_with_xla.py PTXLA_OPT FILE.hlo...

PTXLA_OPT is the program (its `eval` is called). Inputs are seeded random ones:
floats normal / 16 (variances and the like, by name or shape, cannot be told:
scalars are in [0.5, 1)), integers in [0, 9]. rng_default, whose bits are the
hardware's, is replaced by rng_three_fry. Prints, per output with the largest disagreement, the
largest and the root mean square difference relative to the largest magnitude.
With --f32 every bf16 becomes f32 first: what is left of a difference then is no
rounding of bf16. Magnitudes below 1e-6 of the module's largest count as that:
gradients that are zero but for rounding would otherwise differ widely.
"""
import os
import re
import subprocess
import sys
import tempfile

import ml_dtypes
import numpy as np

import run_hlo
from hlo_case import TYPES


def entry_parameters(text):
    entry = text[text.index("ENTRY"):]
    found = {}
    for m in re.finditer(r"= (\w+)\[([\d,]*)\]\S* parameter\((\d+)\)", entry):
        dims = tuple(int(d) for d in m[2].split(",") if d)
        found[int(m[3])] = (m[1], dims)
    return [found[i] for i in range(len(found))]


def random_inputs(text, seed=0):
    rng = np.random.default_rng(seed)
    args = []
    for name, dims in entry_parameters(text):
        dtype = TYPES[name]
        if name == "pred":
            args.append(rng.integers(0, 2, dims).astype(np.bool_))
        elif name[0] in "su":
            args.append(rng.integers(0, 10, dims).astype(dtype))
        elif dims == ():
            args.append(np.asarray(rng.uniform(0.5, 1)).astype(dtype))
        else:
            args.append(np.abs(rng.normal(size=dims) / 16).astype(dtype))
    return args


def load(path):
    names = {v: k for k, v in run_hlo.RAW.items()}
    out = {}
    for name, a in np.load(path).items():
        base, _, kind = name.partition(".")
        out[base] = a.view(getattr(ml_dtypes, names[kind])) if kind else a
    return out


def compare(program, path, extra):
    text = open(path).read().replace("rng_default", "rng_three_fry")
    if "--f32" in extra:
        text = text.replace("bf16[", "f32[")
    args = random_inputs(text)
    with tempfile.TemporaryDirectory() as folder:
        source, target = os.path.join(folder, "in.npz"), os.path.join(folder, "out.npz")
        module = os.path.join(folder, os.path.basename(path))
        with open(module, "w") as f:
            f.write(text)
        run_hlo.save(source, {f"arg{i}": a for i, a in enumerate(args)})
        subprocess.run([program, "eval", module, "--inputs", source, "--out", target] + [e for e in extra if e != "--f32"], check=True,
                       stdout=subprocess.DEVNULL)
        ours = load(target)
    theirs = run_hlo.run(text, args)
    worst = (-1, "")
    sizes = [np.nanmax(np.abs(np.nan_to_num(w.astype(np.float64), posinf=0, neginf=0)), initial=0)
             for w in theirs if w.dtype.kind not in "biu"]
    least = 1e-6 * max(sizes, default=0)
    for i, want in enumerate(theirs):
        got = ours[f"out{i}"]
        assert got.shape == want.shape and got.dtype == want.dtype, (i, got.dtype, want.dtype)
        if want.dtype.kind in "biu":
            error = float(np.mean(got != want))
            worst = max(worst, (error, f"out{i} {want.dtype.name}{list(want.shape)}: {error:.2%} of elements differ"))
            continue
        g, w = got.astype(np.float64), want.astype(np.float64)
        scale = max(np.nanmax(np.abs(np.where(np.isfinite(w), w, 0)), initial=0), least) or 1.0
        both = np.isfinite(g) & np.isfinite(w)
        odd = int(np.sum(np.isfinite(g) != np.isfinite(w)))
        d = np.abs(g - w)[both] / scale
        error = float(d.max()) if d.size else 0.0
        worst = max(worst, (error + odd, f"out{i} {want.dtype.name}{list(want.shape)}: max {error:.2e}, rms {np.sqrt(np.mean(d * d)) if d.size else 0:.2e}, {odd} finite in one only"))
    print(f"{os.path.basename(path)}: {len(theirs)} outputs, worst {worst[1]}")


def main():
    extra = [a for a in sys.argv[2:] if a.startswith("--")]
    for path in (a for a in sys.argv[2:] if not a.startswith("--")):
        try:
            compare(sys.argv[1], path, extra)
        except Exception as e:
            print(f"{os.path.basename(path)}: {str(e)[:300]}")


if __name__ == "__main__":
    main()
