"""Compares our protos and texts with XLA's (jaxlib, for development only):

    python tests/tools/compare_protos_with_xla.py PTXLA_OPT FILE.hlo...

For each file that XLA parses, and as XLA prints it (unique names, layouts
everywhere, large constants whole): its HloModuleProto, read by us, prints that
text; our proto of the text, read by XLA, prints it too. Prints the files that differ with the first line that does, and the
counts.
"""
import os
import subprocess
import sys
import tempfile

from jaxlib import _hlo


def options():
    o = _hlo.HloPrintOptions()
    o.print_large_constants = True
    o.print_metadata = True
    return o


def ours(program, path, *flags):
    return subprocess.run([program, *flags, path], check=True, capture_output=True).stdout


def first_difference(a, b):
    for x, y in zip(a.splitlines(), b.splitlines()):
        if x != y:
            at = next((i for i, (p, q) in enumerate(zip(x, y)) if p != q), min(len(x), len(y)))
            return f"{x[max(0, at - 60):at + 60]!r} vs {y[max(0, at - 60):at + 60]!r}"
    return "length"


def main():
    program, same, total = sys.argv[1], [0, 0], 0
    for path in sys.argv[2:]:
        try:
            module = _hlo.hlo_module_from_text(open(path).read())
        except Exception:
            continue
        total += 1
        with tempfile.TemporaryDirectory() as folder:
            theirs = os.path.join(folder, "theirs.pb")
            with open(theirs, "wb") as f:
                f.write(module.as_serialized_hlo_module_proto())
            path_of_text = os.path.join(folder, "theirs.hlo")
            with open(path_of_text, "w") as f:
                f.write(module.to_string(options()))
            try:
                direct = ours(program, path_of_text).decode()
                through = ours(program, theirs).decode()
                # XLA's proto has no replica counts.
                strip = lambda t: "\n".join(t.splitlines()[1:])
                # Its computations stand in another order there.
                blocks = lambda t: "\n\n".join(sorted(strip(t).strip().split("\n\n")))
                if blocks(through) == blocks(direct):
                    same[0] += 1
                else:
                    print(f"{path}: XLA's proto: {first_difference(strip(direct), strip(through))}")
                again = _hlo.HloModule.from_serialized_hlo_module_proto(ours(program, path_of_text, "--write=pb"))
                want, got = module.to_string(options()), again.to_string(options())
                if strip(want) == strip(got):
                    same[1] += 1
                else:
                    print(f"{path}: our proto: {first_difference(strip(want), strip(got))}")
            except subprocess.CalledProcessError as e:
                print(f"{path}: {e.stderr.decode()[:300]}")
            except Exception as e:
                print(f"{path}: {str(e)[:300]}")
    print(f"{total} files; XLA's protos read the same: {same[0]}, ours read the same: {same[1]}")


if __name__ == "__main__":
    main()
