"""Makes tests/data/frameworks/hlo_cases.txt and .npz: small HLO modules, their
inputs, and what XLA's CPU backend computes for them. Run by hand when a case is
added:

    python tests/tools/make_evaluator_cases.py tests/data/frameworks [FILTER]

A line `// case NAME tolerance=R [devices=REPLICASxPARTITIONS]` starts a module;
R is the largest error, relative to the largest magnitude of the output, that
the evaluator may have; with 0 outputs must be equal. Arrays are named
NAME/arg0 ..., NAME/out0 ...; those of device d NAME/d/arg0 ... With FILTER only
cases with that in their name are run, and nothing is written.
"""
import os
import sys
import zlib

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"

import numpy as np  # noqa: E402

import hlo_cases_arrays  # noqa: E402,F401
import hlo_cases_devices  # noqa: E402,F401
import hlo_cases_elements  # noqa: E402,F401
import hlo_cases_flow  # noqa: E402,F401
import hlo_cases_products  # noqa: E402,F401
import hlo_cases_types  # noqa: E402,F401
import run_hlo  # noqa: E402
from hlo_case import CASES, make  # noqa: E402


def compute(name, text, specs, xla, devices, xla_devices):
    """({array name: array}, why it was not made)."""
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    arrays = {}
    if devices == (1, 1):
        args = [make(s, rng) for s in specs]
        outs = [np.asarray(o) for o in xla(*args)] if callable(xla) else run_hlo.run(xla or text, args)
        all_args, all_outs, names = [args], [outs], [name]
    else:
        all_args = [[make(s, rng) for s in device] for device in specs]
        all_outs = run_hlo.run_devices(xla or text, all_args, *(xla_devices or devices))
        names = [f"{name}/{d}" for d in range(len(specs))]
    for n, args, outs in zip(names, all_args, all_outs):
        arrays.update({f"{n}/arg{i}": a for i, a in enumerate(args)})
        arrays.update({f"{n}/out{i}": o for i, o in enumerate(outs)})
    return arrays


def main():
    folder, wanted = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else ""
    texts, arrays = [], {}
    for name, (text, specs, tolerance, xla, devices, xla_devices) in CASES.items():
        if wanted not in name:
            continue
        try:
            arrays.update(compute(name, text, specs, xla, devices, xla_devices))
        except Exception as e:  # XLA's CPU backend cannot run everything
            print("not made:", name, " ".join(str(e).split("\n"))[:400], flush=True)
            continue
        where = "" if devices == (1, 1) else " devices=%dx%d" % devices
        texts.append("// case %s tolerance=%g%s\n%s" % (name, tolerance, where, text))
    print(len(texts), "cases")
    if wanted:
        for name, array in arrays.items():
            if "/out" in name:
                print(name, array.dtype, array)
        return
    with open(os.path.join(folder, "hlo_cases.txt"), "w") as f:
        f.write("\n".join(texts))
    run_hlo.save(os.path.join(folder, "hlo_cases.npz"), arrays)


if __name__ == "__main__":
    main()
