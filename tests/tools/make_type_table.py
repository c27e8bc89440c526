"""Asks XLA (jaxlib, development only) which element types every opcode takes, and
which it gives:

    python tests/tools/make_type_table.py > tests/data/element_types.txt

One line for each form: its name; the parameters; the instruction, where T is
the type; the types that XLA takes, each with the result's type if that is
another. An instruction without a shape is judged by XLA's shape inference, one
with a shape by the verifier of StableHLO, which XLA's own agrees with.
"""
import os
import re

from jax._src.interpreters import mlir
from jax._src.lib import xla_client as xc
from jaxlib import _hlo
from jaxlib.mlir import ir

TYPES = ("pred s1 s2 s4 s8 s16 s32 s64 u1 u2 u4 u8 u16 u32 u64 f16 bf16 f32 f64 f8e5m2 f8e4m3 f8e4m3fn f8e4m3b11fnuz f8e3m4"
         " f8e5m2fnuz f8e4m3fnuz f4e2m1fn f8e8m0fnu f6e3m2fn f6e2m3fn c64 c128").split()
UNARY = ("abs acos acosh asin asinh atanh cbrt ceil copy cosine cosh count-leading-zeros erf exponential exponential-minus-one floor imag"
         " is-finite log log-plus-one logistic negate not popcnt real round-nearest-afz round-nearest-even rsqrt sign sine sinh sqrt tan tanh")
BINARY = ("add and atan2 complex divide maximum minimum mulhi multiply or power remainder shift-left shift-right-arithmetic"
          " shift-right-logical subtract xor")
ADD = "add { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT s = f32[] add(a, b) }\n"
FORMS = [(o, "T[4]", f"{o}(p0)") for o in UNARY.split()] + [(o, "T[4] T[4]", f"{o}(p0, p1)") for o in BINARY.split()] + [
    ("compare", "T[4] T[4]", "compare(p0, p1), direction=EQ"),
    ("clamp", "T[4]", "clamp(p0, p0, p0)"),
    ("select", "pred[4] T[4]", "select(p0, p1, p1)"),
    ("select", "T[4] f32[4]", "select(p0, p1, p1)"),
    ("dot", "T[4]", "dot(p0, p0), lhs_contracting_dims={0}, rhs_contracting_dims={0}"),
    ("convolution", "T[1,8,8,4] T[3,3,4,8]", "convolution(p0, p1), window={size=3x3}, dim_labels=b01f_01io->b01f"),
    ("pad", "T[4] T[]", "pad(p0, p1), padding=0_1"),
    ("topk", "T[4]", "topk(p0), k=2, largest=true"),
    ("cholesky", "T[4,4]", "cholesky(p0), lower=true"),
    ("triangular-solve", "T[4,4] T[4,4]", "triangular-solve(p0, p1), left_side=true, lower=true, transpose_a=NO_TRANSPOSE"),
    ("fft", "T[4]", "fft(p0), fft_type=FFT, fft_length={4}"),
    ("fft", "T[4]", "fft(p0), fft_type=IFFT, fft_length={4}"),
    ("fft", "T[4]", "fft(p0), fft_type=RFFT, fft_length={4}"),
    ("fft", "T[3]", "fft(p0), fft_type=IRFFT, fft_length={4}"),
    ("batch-norm-training", "T[4,6] T[6]", "batch-norm-training(p0, p1, p1), epsilon=0.1, feature_index=1"),
    ("batch-norm-inference", "T[4,6] T[6]", "batch-norm-inference(p0, p1, p1, p1, p1), epsilon=0.1, feature_index=1"),
    ("batch-norm-grad", "T[4,6] T[6]", "batch-norm-grad(p0, p1, p1, p1, p0), epsilon=0.1, feature_index=1"),
    ("gather", "f32[4] T[3]", "gather(p0, p1), offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1}"),
    ("scatter", "f32[4] T[3] f32[3]", "scatter(p0, p1, p2), update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0},"
     " index_vector_dim=1, to_apply=add"),
    ("set-dimension-size", "f32[4] T[]", "set-dimension-size(p0, p1), dimensions={0}"),
    ("iota", "", "T[4] iota(), iota_dimension=0"),
    ("reduce-precision", "T[4]", "T[4] reduce-precision(p0), exponent_bits=5, mantissa_bits=2"),
    ("dynamic-slice", "f32[4] T[]", "f32[2] dynamic-slice(p0, p1), dynamic_slice_sizes={2}"),
    ("dynamic-update-slice", "f32[4] T[]", "f32[4] dynamic-update-slice(p0, p0, p1)"),
    ("bitcast-convert", "T[4]", "c64[4] bitcast-convert(p0)"),
    ("bitcast-convert", "T[4]", "u64[4] bitcast-convert(p0)"),
    ("bitcast-convert", "T[4]", "f32[4] bitcast-convert(p0)"),
]


def module(form, kind):
    """The text of one question: element_types_test.cc makes the same."""
    _, parameters, instruction = form
    lines = [f"  p{i} = {p} parameter({i})\n" for i, p in enumerate(parameters.split())]
    return re.sub(r"\bT\[", kind + "[", f"HloModule t\n{ADD}ENTRY e {{\n{''.join(lines)}  ROOT r = {instruction}\n}}\n")


def answer(form, kind):
    """The result's element type, None if XLA refuses."""
    try:
        read = _hlo.hlo_module_from_text(module(form, kind))
        if re.match(r"\w+\[", form[2]):
            with mlir.make_ir_context():
                ir.Module.parse(xc._xla.mlir.hlo_to_stablehlo(read.as_serialized_hlo_module_proto()))
    except Exception:
        return None
    return re.search(r"ROOT %r = \(?(\w+)\[", read.to_string())[1]


def separate(form, kind):
    """In a process of its own: some errors end it."""
    out, into = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        os.write(into, (answer(form, kind) or "").encode())
        os._exit(0)
    os.close(into)
    said = os.read(out, 100).decode()
    os.close(out)
    os.waitpid(pid, 0)
    return said


def main():
    print("# made by tests/tools/make_type_table.py with jaxlib 0.10.2: what XLA takes. form; parameters; instruction; types")
    for form in FORMS:
        asked = [t for t in TYPES if t not in ("s1", "u1")] if re.match(r"\w+\[", form[2]) else TYPES
        taken = [(t, separate(form, t)) for t in asked]
        print("; ".join(form) + "; " + " ".join(t if r == t else f"{t}>{r}" for t, r in taken if r))


if __name__ == "__main__":
    main()
