"""Writes tests/data/frameworks/: programs that JAX prints, their inputs and
what they give on XLA's CPU backend. They are lowered for TPUs.

    python tests/tools/make_framework_cases.py tests/data/frameworks

Needs jax 0.10.2 (development only). Each case is NAME.mlir (StableHLO, as
jax.jit(f).lower(x).as_text() prints it, every third in generic form), NAME.hlo
(HLO text), NAME.pb or NAME.pb.gz (HloModuleProto) and NAME.npz (arg0 ..., out0
...). Small on purpose: a few KiB each.
"""
import gzip
import os
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

import run_hlo

# Files as a stranger finds them.
jax.config.update("jax_hlo_source_file_canonicalization_regex", r".*(?=tests/tools/)|.*site-packages/")
R = np.random.default_rng(7)


def f32(*shape):
    return R.normal(size=shape).astype(np.float32)


def ints(high, *shape):
    return R.integers(0, high, shape).astype(np.int32)


CASES = {}


def case(*args):
    def add(f):
        CASES[f.__name__] = (f, args)
        return f
    return add


@case(f32(4, 8), f32(8, 6))
def matmul(x, w): return x @ w


@case(f32(2, 3, 4), f32(2, 4, 5))
def batch_matmul(x, w): return jnp.einsum("bij,bjk->bki", x, w)


@case(f32(3, 8))
def softmax(x): return jax.nn.softmax(x)


@case(f32(3, 8), f32(8), f32(8))
def layer_norm(x, g, b):
    m = x.mean(-1, keepdims=True)
    v = ((x - m) ** 2).mean(-1, keepdims=True)
    return (x - m) * lax.rsqrt(v + 1e-5) * g + b


@case(f32(3, 5))
def gelu(x): return jax.nn.gelu(x, approximate=False)


@case(f32(4, 4))
def activations(x): return jax.nn.silu(x), jnp.tanh(x), jax.nn.softplus(x), jax.nn.relu(x)


@case(np.clip(f32(16) / 3, -0.95, 0.95))
def inverse_functions(x): return lax.erf_inv(x), jnp.arcsin(x), jnp.arccos(x), jnp.arctanh(x), jnp.arcsinh(x)


@case(np.abs(f32(6)) + 1)
def more_functions(x): return jnp.cosh(x), jnp.sinh(x), jnp.tan(x), jnp.cbrt(x), jnp.log1p(x), jnp.expm1(x), jnp.arccosh(x)


@case(f32(2, 8, 8, 3), f32(3, 3, 3, 4))
def conv2d(x, k):
    return lax.conv_general_dilated(x, k, (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


@case(f32(1, 4, 7), f32(4, 2, 3))
def conv1d_grouped_dilated(x, k):
    return lax.conv_general_dilated(x, k, (1,), [(2, 1)], rhs_dilation=(2,), dimension_numbers=("NCH", "OIH", "NCH"), feature_group_count=2)


@case(f32(1, 5, 5, 2), f32(3, 3, 2, 3))
def conv_transpose(x, k): return lax.conv_transpose(x, k, (2, 2), "SAME")


@case(f32(1, 6, 6, 2))
def max_pool(x): return lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")


@case(f32(1, 6, 6, 2))
def max_pool_gradient(x):
    return jax.grad(lambda y: (lax.reduce_window(y, -jnp.inf, lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME") ** 2).sum())(x)


@case(f32(4, 6))
def cumulative(x): return jnp.cumsum(x, 1), jnp.cumprod(x, 0), lax.cummax(x, 1)


@case(f32(5, 7))
def sorting(x): return jnp.sort(x, 1), jnp.argsort(x, 1), jnp.argmax(x, 1)


@case(f32(3, 9))
def top_k(x): return lax.top_k(x, 4)


@case(f32(10, 4), ints(10, 5))
def embedding(table, i): return table[i]


@case(f32(10, 4), ints(10, 5), f32(5, 4))
def embedding_gradient(table, i, g): return table.at[i].add(g), table.at[i[0]].set(g[0])


@case(f32(4, 5, 6), ints(5, 4, 2))
def take_along(x, i): return jnp.take_along_axis(x[:, :, 0], i, 1), x[1:3, ::2, -2:], x.transpose(2, 0, 1)[::-1]


@case(f32(6, 8), np.int32(2))
def dynamic_slices(x, i):
    y = lax.dynamic_slice(x, (i, i), (2, 3))
    return y, lax.dynamic_update_slice(x, y * 2, (i + 1, np.int32(0)))


@case(f32(3, 4))
def shaping(x):
    return jnp.pad(x, ((1, 2), (0, 1)), constant_values=3), jnp.concatenate([x, x * 2], 1), x.reshape(2, 6), jnp.broadcast_to(x[:, :1], (3, 5)), jnp.tile(x, (2, 1))


@case(f32(6))
def while_loop(x):
    return lax.while_loop(lambda c: c[0] < 5, lambda c: (c[0] + 1, c[1] * 0.5 + x), (0, x))


@case(f32(5, 3), f32(3))
def scan(xs, h):
    return lax.scan(lambda c, x: (jnp.tanh(c + x), c * x), h, xs)


@case(f32(4), np.int32(1))
def branches(x, i):
    a = lax.switch(i, [lambda y: y + 1, lambda y: y * x[0], lambda y: -y], x)
    return a, lax.cond(x[0] > 0, lambda y: y * 2, lambda y: y - 3, a)


@case(f32(4))
def nested_calls(x):
    inner = jax.jit(lambda y: jnp.sin(y) + jnp.cos(y))
    return inner(x) * inner(x + 1)


@case(np.arange(12, dtype=np.int32))
def integers(x): return x % 5, x // 3, x & 6, x | 1, x ^ 3, ~x, x << 2, lax.population_count(x), lax.clz(x), x.astype(jnp.float32)


@case(f32(6), f32(6))
def comparisons(x, y): return x < y, jnp.where(x > y, x, y), jnp.isfinite(x), jnp.sign(x), jnp.maximum(x, y), jnp.clip(x, -0.5, 0.5)


@case(f32(6))
def rounding(x): return jnp.round(x), jnp.floor(x), jnp.ceil(x), lax.round(x), jnp.abs(x), lax.reduce_precision(x, 5, 10)


@case(f32(8))
def random_bits(x):
    key = jax.random.key_data(jax.random.key(3))
    return jax.random.uniform(jax.random.wrap_key_data(key), (8,)) + x


@case(f32(16))
def random_normal(x): return jax.random.normal(jax.random.key(5), (16,)) + x


@case(f32(8), f32(8))
def complex_numbers(x, y):
    z = lax.complex(x, y)
    return jnp.real(z * z), jnp.imag(z * jnp.conj(z)), jnp.abs(z)


@case(f32(4, 8))
def fourier(x): return jnp.real(jnp.fft.fft(x)), jnp.abs(jnp.fft.rfft(x)), jnp.fft.irfft(jnp.fft.rfft(x))


@case((lambda a: a @ a.T + 4 * np.eye(4, dtype=np.float32))(f32(4, 4)), f32(4, 2))
def linear_algebra(a, b):
    c = lax.linalg.cholesky(a)
    return c, lax.linalg.triangular_solve(c, b, left_side=True, lower=True)


@case(f32(4, 8).astype(jnp.bfloat16), f32(8, 4).astype(jnp.bfloat16))
def bfloat16_matmul(x, w): return jnp.dot(x, w, preferred_element_type=jnp.float32), x * 2


@case(f32(8))
def float8(x): return x.astype(jnp.float8_e4m3fn).astype(jnp.float32), x.astype(jnp.float8_e5m2).astype(jnp.float32)


@case(f32(3, 4))
def reductions(x): return x.sum(), x.max(0), x.min(1), x.prod(), (x > 0).any(), (x > -9).all(1), jnp.var(x, 0)


@case(f32(6, 6), f32(6))
def solver_gradient(a, b):
    return jax.grad(lambda w: ((jnp.tanh(a @ w) - b) ** 2).mean())(b)


@case(f32(2, 4, 8), f32(2, 4, 8), f32(2, 4, 8))
def attention(q, k, v):
    s = jnp.einsum("btd,bsd->bts", q, k) / 8 ** 0.5
    s = jnp.where(jnp.tril(jnp.ones((4, 4), bool)), s, -1e9)
    return jnp.einsum("bts,bsd->btd", jax.nn.softmax(s), v)


@case(f32(4, 3), f32(3, 5), f32(5), ints(5, 4, 1))
def train_step(x, w, b, y):
    def loss(p):
        logits = x @ p[0] + p[1]
        return -jnp.take_along_axis(jax.nn.log_softmax(logits), y, 1).mean()
    value, g = jax.value_and_grad(loss)((w, b))
    return value, w - 0.1 * g[0], b - 0.1 * g[1]


@case(f32(5), f32(5))
def donated(x, y): return x + y, y * 2


@case(f32(6))
def bit_casts(x): return lax.bitcast_convert_type(x, jnp.int32), lax.bitcast_convert_type(x, jnp.uint8)


@case(f32(4, 4))
def barrier(x):
    a, b = lax.optimization_barrier((x, x + 1))
    return a * b, jnp.linalg.norm(x), jnp.trace(x), jnp.diag(x)


@case(f32(16) * 3, np.abs(f32(16)) * 4 + 0.1)
def gamma_functions(x, y): return lax.lgamma(x), lax.digamma(x), lax.lgamma(y * 20), lax.igamma(y, y)


@case(np.array([2, 3, 4, 7.5, 1, 0.5, 2], np.float32), np.array([0.5, 1, 3.3, 20, 2, 2, -1.5], np.float32),
      np.array([0, 1, 2, 3, 4, 1.5, -1], np.float32))
def zeta_functions(x, q, n): return lax.zeta(x, q), lax.polygamma(n, jnp.abs(q))


@case(f32(24) * 3)
def error_and_bessel(x): return lax.erfc(x), lax.bessel_i1e(x * 4), lax.bessel_i0e(x), lax.erf_inv(jnp.tanh(x / 6)), lax.atan(x)


@case(np.array([0, -0.0, 1, -1, 3.5, np.inf, -np.inf, 1e-45, np.nan, 2], np.float32),
      np.array([1, -1, 2, 0, 3.5, 0, 0, 0, 1, np.nan], np.float32))
def next_after(x, y): return lax.nextafter(x, y), lax.nextafter(x.astype(jnp.bfloat16), y.astype(jnp.bfloat16)).astype(jnp.float32), jnp.isposinf(x), jnp.isinf(y), jnp.square(y)


@case(f32(5), f32(5))
def conjugates(x, y):
    z = lax.complex(x, y)
    return jnp.real(jnp.conj(z) * z), jnp.abs(z), jnp.angle(z)


def main():
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    for n, (name, (f, args)) in enumerate(CASES.items()):
        jitted = jax.jit(f, donate_argnums=(0,)) if name == "donated" else jax.jit(f)
        lowered = jitted.trace(*args).lower(lowering_platforms=("tpu",))
        if n % 3 == 2:
            text = lowered.compiler_ir("stablehlo").operation.get_asm(print_generic_op_form=True)
        else:
            text = lowered.as_text(debug_info=n % 3 == 1)
        with open(os.path.join(folder, name + ".mlir"), "w") as out:
            out.write(text)
        # The same as HLO text and proto; every fourth proto is compressed.
        hlo = lowered.compiler_ir("hlo")
        with open(os.path.join(folder, name + ".hlo"), "w") as out:
            out.write(hlo.as_hlo_text(print_large_constants=True))
        proto = hlo.as_serialized_hlo_module_proto()
        if n % 4 == 3:
            proto = gzip.compress(proto, mtime=0)
        with open(os.path.join(folder, name + (".pb.gz" if n % 4 == 3 else ".pb")), "wb") as out:
            out.write(proto)
        results = jax.tree_util.tree_leaves(jax.jit(f)(*args))
        arrays = {f"arg{i}": np.asarray(a) for i, a in enumerate(args)}
        arrays.update({f"out{i}": np.asarray(r) for i, r in enumerate(results)})
        run_hlo.save(os.path.join(folder, name + ".npz"), arrays)


if __name__ == "__main__":
    main()
