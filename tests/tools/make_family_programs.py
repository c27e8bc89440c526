"""Writes tests/data/families/: programs of operations that are no products.

    python tests/tools/make_family_programs.py tests/data/families

Needs jax 0.10.2 (development only). Each is FAMILY/NAME.hlo, the HLO text of
the function as JAX lowers it for TPU, before optimisation; small/ has the same
functions over ragged shapes of a few thousand elements, for `--verify`. What
the TPU compiler makes of them (numbers) is in tpu_compiler/CHIP.csv.
"""
import os
import re
import sys

import jax
import jax.numpy as jnp
from jax import lax

BF, F32, S32 = jnp.bfloat16, jnp.float32, jnp.int32
CASES = {}


def case(family, big, small, dtype=F32, name=None):
    """`big` and `small`: shapes of the arguments, or (shape, type)."""
    def add(f):
        CASES[family + "/" + (name or f.__name__)] = (f, big, small, dtype)
        return f
    return add


def activation(name, big=(4096, 4096), small=(129, 200), dtype=F32):
    return case("activation", [big], [small], dtype, name)


@activation("sigmoid_f32")
def sigmoid(x): return jax.nn.sigmoid(x)


activation("sigmoid_bf16", (8192, 2048), dtype=BF)(sigmoid)
activation("sigmoid_1m_f32", (1024, 1024), (7, 1000))(sigmoid)


@activation("tanh_f32")
def tanh(x): return jnp.tanh(x)


activation("tanh_bf16_1d", (1 << 25,), (5000,), BF)(tanh)


@activation("elu_f32")
def elu(x): return jax.nn.elu(x)


@activation("selu_f32")
def selu(x): return jax.nn.selu(x)


activation("selu_bf16", (16, 1024, 1024), (3, 17, 130), BF)(selu)


@activation("leaky_relu_f32")
def leaky_relu(x): return jax.nn.leaky_relu(x)


@case("activation", [(4096, 4096), (4096,)], [(129, 200), (200,)], name="prelu_f32")
def prelu(x, a): return jnp.where(x >= 0, x, a * x)


@activation("step_f32")
def step(x): return jnp.heaviside(x, 0.5)


@activation("linear_f32")
def linear(x): return 1.5 * x + 0.25


activation("linear_128m_f32", (1 << 27,), (5000,))(linear)


@activation("gelu_erf_f32", (2048, 4096))
def gelu(x): return jax.nn.gelu(x, approximate=False)


@activation("silu_1k_bf16", (1024,), (1000,), BF)
def silu(x): return jax.nn.silu(x)


@case("elementwise", [(4096, 4096)] * 2, [(129, 200)] * 2, name="multiply_f32")
def multiply(x, y): return x * y


case("elementwise", [(1 << 24,)] * 2, [(5000,)] * 2, BF, "multiply_1d_bf16")(multiply)
case("elementwise", [(1024,)] * 2, [(1000,)] * 2, F32, "multiply_1k_f32")(multiply)


@case("elementwise", [(1 << 24,)] * 2, [(5000,)] * 2, name="triad_f32")
def triad(b, c): return b + 3.0 * c


case("elementwise", [(1 << 27,)] * 2, [(5000,)] * 2, name="triad_128m_f32")(triad)


@case("elementwise", [(1 << 24,)], [(5000,)], name="copy_f32")
def copy(x): return jnp.copy(x)


@case("elementwise", [(4096, 4096)], [(129, 200)], name="convert_f32_bf16")
def convert(x): return x.astype(BF)


@case("gated", [(4096, 11008)] * 2, [(129, 200)] * 2, BF, "swiglu_bf16")
def swiglu(a, b): return jax.nn.silu(a) * b


case("gated", [(4096, 11008)] * 2, [(129, 200)] * 2, F32, "swiglu_f32")(swiglu)


@case("gated", [(4096, 4096)] * 2, [(129, 200)] * 2, BF, "geglu_bf16")
def geglu(a, b): return jax.nn.gelu(a, approximate=True) * b


@case("gated", [(4096, 8192)] * 3, [(129, 200)] * 3, BF, "swiglu_backward_bf16")
def swiglu_backward(a, b, dc):
    return jax.vjp(swiglu, a, b)[1](dc)


@case("norm", [(4096, 4096), (4096,), (4096,)], [(129, 200), (200,), (200,)], name="layer_norm_f32")
def layer_norm(x, g, b):
    m = x.mean(-1, keepdims=True)
    v = jnp.square(x - m).mean(-1, keepdims=True)
    return (x - m) * lax.rsqrt(v + 1e-5) * g + b


case("norm", [(8192, 1024), (1024,), (1024,)], [(70, 128), (128,), (128,)], BF, "layer_norm_bf16")(layer_norm)


@case("norm", [(4096, 4096), (4096,)], [(129, 200), (200,)], BF, "rms_norm_bf16")
def rms_norm(x, g):
    h = x.astype(F32)
    return (h * lax.rsqrt(jnp.square(h).mean(-1, keepdims=True) + 1e-6) * g.astype(F32)).astype(x.dtype)


case("norm", [(4096, 16384), (16384,)], [(70, 128), (128,)], F32, "rms_norm_wide_f32")(rms_norm)


@case("norm", [(4096, 4096), (4096,), (4096, 4096)], [(129, 200), (200,), (129, 200)], BF, "rms_norm_backward_bf16")
def rms_norm_backward(x, g, dy): return jax.vjp(rms_norm, x, g)[1](dy)


@case("norm", [(4096, 4096), (4096,), (4096,), (4096, 4096)], [(129, 200), (200,), (200,), (129, 200)], name="layer_norm_backward_f32")
def layer_norm_backward(x, g, b, dy): return jax.vjp(layer_norm, x, g, b)[1](dy)


@case("softmax", [(4096, 4096)], [(129, 200)], name="softmax_f32")
def softmax(x): return jax.nn.softmax(x, axis=-1)


case("softmax", [(4096, 32768)], [(20, 1000)], BF, "softmax_wide_bf16")(softmax)
case("softmax", [(1024, 256)], [(33, 100)], F32, "softmax_small_f32")(softmax)


@case("softmax", [(8192, 1024)], [(129, 200)], name="log_softmax_f32")
def log_softmax(x): return jax.nn.log_softmax(x, axis=-1)


@case("reduce", [(4096, 4096)], [(129, 200)], name="sum_rows_f32")
def sum_rows(x): return x.sum(-1)


@case("reduce", [(4096, 4096)], [(129, 200)], name="sum_columns_f32")
def sum_columns(x): return x.sum(0)


@case("reduce", [(1 << 24,)], [(5000,)], name="sum_all_f32")
def sum_all(x): return x.sum()


@case("reduce", [(4096, 8192)], [(129, 200)], BF, name="max_rows_bf16")
def max_rows(x): return x.max(-1)


@case("reduce", [(64, 512, 1024)], [(3, 17, 130)], name="mean_middle_f32")
def mean_middle(x): return x.mean(1)


@case("reduce", [(8192, 1024)], [(129, 200)], name="argmax_rows_f32")
def argmax_rows(x): return jnp.argmax(x, -1)


@case("reduce", [(4096, 1024)], [(33, 200)], name="cumsum_rows_f32")
def cumsum_rows(x): return jnp.cumsum(x, -1)


def cross_entropy(x, w, labels):
    logits = (x @ w).astype(F32)
    top = lax.stop_gradient(logits.max(-1, keepdims=True))
    total = jnp.log(jnp.exp(logits - top).sum(-1)) + top[:, 0]
    picked = jnp.take_along_axis(logits, labels[:, None], -1)[:, 0]
    return (total - picked).mean()


@case("cross_entropy", [(2048, 1024), (1024, 131072), ((2048,), S32)], [(17, 40), (40, 300), ((17,), S32)], BF, "forward_128k_bf16")
def cross_entropy_forward(x, w, labels): return cross_entropy(x, w, labels)


@case("cross_entropy", [(1024, 1024), (1024, 262144), ((1024,), S32)], [(17, 40), (40, 300), ((17,), S32)], BF, "backward_262k_bf16")
def cross_entropy_backward(x, w, labels): return jax.grad(cross_entropy, (0, 1))(x, w, labels)


@case("pool", [(32, 112, 112, 64)], [(2, 9, 11, 7)], BF, "max_3x3s2_bf16")
def max_pool(x): return lax.reduce_window(x, -jnp.inf, lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME")


@case("pool", [(32, 56, 56, 128)], [(2, 9, 11, 7)], name="average_2x2_f32")
def average_pool(x): return lax.reduce_window(x, 0.0, lax.add, (1, 2, 2, 1), (1, 2, 2, 1), "VALID") / 4


@case("pool", [(32, 56, 56, 64)], [(2, 9, 11, 7)], name="max_backward_f32")
def max_pool_backward(x):
    return jax.grad(lambda y: lax.reduce_window(y, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID").sum())(x)


@case("sort", [(64, 4096)], [(5, 200)], name="sort_rows_f32")
def sort_rows(x): return jnp.sort(x, -1)


@case("sort", [(1 << 16,)], [(1000,)], name="argsort_f32")
def argsort(x): return jnp.argsort(x)


@case("sort", [(256, 32768)], [(5, 300)], name="top_k_f32")
def top_k(x): return lax.top_k(x, 8)


@case("transpose", [(4096, 4096)], [(129, 200)], name="matrix_f32")
def transpose(x): return x.T


case("transpose", [(8192, 4096)], [(129, 200)], BF, "matrix_bf16")(transpose)


@case("transpose", [(8, 2048, 16, 128)], [(2, 33, 3, 40)], BF, "heads_bf16")
def heads(x): return x.transpose(0, 2, 1, 3)


def lowered(f, shapes, dtype):
    args = [jax.ShapeDtypeStruct(*(s if isinstance(s[0], tuple) else (s, dtype))) for s in shapes]
    text = jax.jit(f).trace(*args).lower(lowering_platforms=("tpu",)).as_text("hlo")
    text = re.sub(r", metadata=\{[^}]*\}", "", text)
    text = re.sub(r"(?ms)^(FileNames|FunctionNames|FileLocations|StackFrames)\n.*?\n\n", "", text)
    return text


def main():
    folder = sys.argv[1]
    for name, (f, big, little, dtype) in CASES.items():
        for path, shapes in ((name, big), (os.path.join("small", name), little)):
            path = os.path.join(folder, path + ".hlo")
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w") as out:
                out.write(lowered(f, shapes, dtype))


main()
