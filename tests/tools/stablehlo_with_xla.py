"""Asks MLIR itself whether the StableHLO that ptxla-opt writes is StableHLO:

    python tests/tools/stablehlo_with_xla.py PTXLA_OPT FILE... [--xla-reads CSV ROOT]

Each file (HLO text, proto, StableHLO) is written with `--write=stablehlo`; MLIR
parses and verifies the text with the dialects that jaxlib registers, XLA makes an HLO module
of it again, and ptxla-opt reads it and must write the same text. With --xla-reads the files are those
of an xla_says.csv with parses=1, below ROOT. Prints one line for each file
that fails, then counts. Needs jax 0.10.2 (development only).
"""
import csv
import os
import subprocess
import sys

from jax._src.interpreters import mlir
from jaxlib import _jax
from jaxlib.mlir import ir


def write(program, path):
    done = subprocess.run([program, "--write=stablehlo", path], capture_output=True, text=True)
    return done.stdout if done.returncode == 0 else None, done.stderr.strip()


def judge(program, path, again):
    text, error = write(program, path)
    if text is None:
        return "refused", error.splitlines()[0][:300] if error else "no word"
    with mlir.make_ir_context():
        try:
            module = ir.Module.parse(text)
            module.operation.verify()
        except Exception as e:
            return "bad", str(e).replace("\n", " ")[:300]
        try:
            if "dense_resource<__elided__>" in text:
                raise StopIteration  # XLA wants the values
            _jax.mlir.mlir_module_to_xla_computation(mlir.module_to_bytecode(module), use_tuple_args=False, return_tuple=False)
        except StopIteration:
            pass
        except Exception as e:
            return "no HLO", str(e).replace("\n", " ")[:300]
    with open(again, "w") as f:
        f.write(text)
    second, error = write(program, again)
    if second is None:
        return "not read", error[:300]
    if second != text:
        a, b = text.splitlines(), second.splitlines()
        n = next((i for i in range(min(len(a), len(b))) if a[i] != b[i]), min(len(a), len(b)))
        return "differs", f"line {n + 1}: {a[n:n + 1]} became {b[n:n + 1]}"[-300:]
    return "ok", ""


def main():
    program, arguments = sys.argv[1], sys.argv[2:]
    files = arguments
    if "--xla-reads" in arguments:
        at = arguments.index("--xla-reads")
        table, root = arguments[at + 1:at + 3]
        files = arguments[:at] + [os.path.join(root, row["file"]) for row in csv.DictReader(open(table)) if row["parses"] == "1"]
    counts = {}
    for path in files:
        verdict, why = judge(program, path, f"/tmp/stablehlo_{os.getpid()}.mlir")
        counts[verdict] = counts.get(verdict, 0) + 1
        if verdict != "ok":
            print(f"{os.path.relpath(path)}: {verdict}: {why}", flush=True)
    print(", ".join(f"{n} {verdict}" for verdict, n in sorted(counts.items())), "of", len(files))


if __name__ == "__main__":
    main()
