"""Writes tests/data/pallas/NAME.hlo: small Pallas kernels as JAX hands them to
the TPU compiler. Needs jax 0.10.2 and libtpu 0.0.42.1; no TPU.

    python tests/tools/make_pallas_cases.py tests/data/pallas
"""
import functools
import os
import re
import sys

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

BF16, F32 = jnp.bfloat16, jnp.float32


def array(*dims, dtype=BF16):
    return jax.ShapeDtypeStruct(dims, dtype)


def semantics(*names):
    return pltpu.CompilerParams(dimension_semantics=names)


def product(m, n, k, bm, bn, bk):
    """Blocks of a product, accumulated in f32 over the innermost dimension."""

    def body(x, w, out, sums):
        @pl.when(pl.program_id(2) == 0)
        def _():
            sums[...] = jnp.zeros_like(sums)

        sums[...] += jnp.dot(x[...], w[...], preferred_element_type=F32)

        @pl.when(pl.program_id(2) == k // bk - 1)
        def _():
            out[...] = sums[...].astype(out.dtype)

    call = pl.pallas_call(
        body, grid=(m // bm, n // bn, k // bk), out_shape=array(m, n), name="block_product",
        in_specs=[pl.BlockSpec((bm, bk), lambda i, j, l: (i, l)), pl.BlockSpec((bk, bn), lambda i, j, l: (l, j))],
        out_specs=pl.BlockSpec((bm, bn), lambda i, j, l: (i, j)), scratch_shapes=[pltpu.VMEM((bm, bn), F32)],
        compiler_params=semantics("parallel", "parallel", "arbitrary"))
    return call, (array(m, k), array(k, n))


def attention(heads, length, depth, bq, bk, causal):
    """Attention that keeps the maximum and the sum of a row while it goes over the keys."""

    def body(q, k, v, out, top, total, acc):
        i, j = pl.program_id(1), pl.program_id(2)

        @pl.when(j == 0)
        def _():
            top[...] = jnp.full_like(top, -1e30)
            total[...] = jnp.zeros_like(total)
            acc[...] = jnp.zeros_like(acc)

        def block():
            s = jax.lax.dot_general(q[0], k[0], (((1,), (1,)), ((), ())), preferred_element_type=F32)
            if causal:
                row = i * bq + jax.lax.broadcasted_iota(jnp.int32, (bq, bk), 0)
                column = j * bk + jax.lax.broadcasted_iota(jnp.int32, (bq, bk), 1)
                s = jnp.where(row >= column, s, -1e30)
            high = jnp.maximum(top[:, :1], jnp.max(s, axis=1, keepdims=True))
            p = jnp.exp(s - high)
            scale = jnp.exp(top[:, :1] - high)
            total[...] = total[...] * scale + jnp.sum(p, axis=1, keepdims=True)
            acc[...] = acc[...] * scale + jnp.dot(p.astype(BF16), v[0], preferred_element_type=F32)
            top[...] = jnp.broadcast_to(high, top.shape)

        if causal:
            pl.when(j * bk < (i + 1) * bq)(block)
        else:
            block()

        @pl.when(j == length // bk - 1)
        def _():
            out[0] = (acc[...] / total[:, :1]).astype(out.dtype)

    rows = pl.BlockSpec((1, bq, depth), lambda h, i, j: (h, i, 0))
    columns = pl.BlockSpec((1, bk, depth), lambda h, i, j: (h, j, 0))
    call = pl.pallas_call(
        body, grid=(heads, length // bq, length // bk), out_shape=array(heads, length, depth), name="attention",
        in_specs=[rows, columns, columns], out_specs=rows,
        scratch_shapes=[pltpu.VMEM((bq, 128), F32), pltpu.VMEM((bq, 128), F32), pltpu.VMEM((bq, depth), F32)],
        compiler_params=semantics("parallel", "parallel", "arbitrary"))
    return call, (array(heads, length, depth),) * 3


def normalise(rows, columns, block):
    def body(x, gain, out):
        v = x[...].astype(F32)
        scale = jax.lax.rsqrt(jnp.mean(v * v, axis=1, keepdims=True) + 1e-6)
        out[...] = (v * scale * gain[...]).astype(out.dtype)

    call = pl.pallas_call(
        body, grid=(rows // block,), out_shape=array(rows, columns), name="rms_norm",
        in_specs=[pl.BlockSpec((block, columns), lambda i: (i, 0)), pl.BlockSpec((1, columns), lambda i: (0, 0))],
        out_specs=pl.BlockSpec((block, columns), lambda i: (i, 0)), compiler_params=semantics("parallel"))
    return call, (array(rows, columns), array(1, columns, dtype=F32))


def pick_rows(table, width, count):
    """Which block is read stands in an array that is prefetched."""

    def body(which, row, out):
        out[...] = row[...] * 2

    call = pl.pallas_call(
        body, out_shape=array(count * 8, width, dtype=F32), name="pick_rows",
        grid_spec=pltpu.PrefetchScalarGridSpec(
            num_scalar_prefetch=1, grid=(count,), in_specs=[pl.BlockSpec((8, width), lambda i, which: (which[i], 0))],
            out_specs=pl.BlockSpec((8, width), lambda i, which: (i, 0))))
    return call, (array(count, dtype=jnp.int32), array(table, width, dtype=F32))


def steps_of_rows(rows, width, chunk):
    """One grid step with a loop over pieces of it."""

    def body(x, out):
        def piece(i, _):
            out[pl.ds(i * chunk, chunk), :] = jnp.tanh(x[pl.ds(i * chunk, chunk), :])
            return 0

        jax.lax.fori_loop(0, rows // chunk, piece, 0)

    return pl.pallas_call(body, out_shape=array(rows, width, dtype=F32), name="tanh_in_pieces"), (array(rows, width, dtype=F32),)


CASES = {
    "product_512": lambda: product(2048, 2048, 2048, 512, 1024, 512),
    "attention_causal": lambda: attention(8, 2048, 128, 512, 512, True),
    "attention_full": lambda: attention(8, 2048, 128, 256, 1024, False),
    "rms_norm": lambda: normalise(4096, 2048, 256),
    "pick_rows": lambda: pick_rows(8192, 1024, 64),
    "tanh_in_pieces": lambda: steps_of_rows(1024, 1024, 64),
}


def main(folder):
    # Where this file lies is nobody's business.
    jax.config.update("jax_hlo_source_file_canonicalization_regex", ".*/")
    os.makedirs(folder, exist_ok=True)
    for name, make in CASES.items():
        call, shapes = make()
        text = jax.jit(call).trace(*shapes).lower(lowering_platforms=("tpu",)).as_text("hlo")
        text = re.sub(r", metadata=\{[^}]*\}", "", text)
        with open(os.path.join(folder, name + ".hlo"), "w") as f:
            f.write(text)


if __name__ == "__main__":
    main(sys.argv[1])
