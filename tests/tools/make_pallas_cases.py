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

BF16, F32, I32 = jnp.bfloat16, jnp.float32, jnp.int32
HBM = pl.BlockSpec(memory_space=pl.ANY)


def array(*dims, dtype=BF16):
    return jax.ShapeDtypeStruct(dims, dtype)


def semantics(*names):
    return pltpu.CompilerParams(dimension_semantics=names)


def product(m, n, k, bm, bn, bk, dtype=BF16, sum_dtype=F32):
    """Blocks of a product, accumulated over the innermost dimension."""

    def body(x, w, out, sums):
        @pl.when(pl.program_id(2) == 0)
        def _():
            sums[...] = jnp.zeros_like(sums)

        sums[...] += jnp.dot(x[...], w[...], preferred_element_type=sum_dtype)

        @pl.when(pl.program_id(2) == k // bk - 1)
        def _():
            out[...] = sums[...].astype(out.dtype)

    call = pl.pallas_call(
        body, grid=(m // bm, n // bn, k // bk), out_shape=array(m, n), name="block_product",
        in_specs=[pl.BlockSpec((bm, bk), lambda i, j, l: (i, l)), pl.BlockSpec((bk, bn), lambda i, j, l: (l, j))],
        out_specs=pl.BlockSpec((bm, bn), lambda i, j, l: (i, j)), scratch_shapes=[pltpu.VMEM((bm, bn), sum_dtype)],
        compiler_params=semantics("parallel", "parallel", "arbitrary"))
    return call, (array(m, k, dtype=dtype), array(k, n, dtype=dtype))


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


def grouped_product(rows, groups, k, n, bm, bk, bn):
    """Blocks of rows and groups of weights stand in arrays; how many of them, too."""
    entries = rows // bm + groups - 1

    def body(which_group, which_rows, x, w, out, sums):
        @pl.when(pl.program_id(2) == 0)
        def _():
            sums[...] = jnp.zeros_like(sums)

        sums[...] += jnp.dot(x[...], w[0], preferred_element_type=F32)

        @pl.when(pl.program_id(2) == k // bk - 1)
        def _():
            out[...] = sums[...].astype(out.dtype)

    def call(count, which_group, which_rows, x, w):
        return pl.pallas_call(
            body, out_shape=array(rows, n), name="grouped_product",
            grid_spec=pltpu.PrefetchScalarGridSpec(
                num_scalar_prefetch=2, grid=(n // bn, count, k // bk),
                in_specs=[pl.BlockSpec((bm, bk), lambda j, i, l, g, r: (r[i], l)),
                          pl.BlockSpec((1, bk, bn), lambda j, i, l, g, r: (g[i], l, j))],
                out_specs=pl.BlockSpec((bm, bn), lambda j, i, l, g, r: (r[i], j)),
                scratch_shapes=[pltpu.VMEM((bm, bn), F32)]))(which_group, which_rows, x, w)

    return call, (array(dtype=I32), array(entries, dtype=I32), array(entries, dtype=I32), array(rows, k), array(groups, k, n))


def sum_of_pages(sequences, pages_each, page):
    """Sequences of lengths that are data, in pages that a table names."""

    def body(lengths, table, pages, out, buffer, arrived):
        sequence = pl.program_id(0)
        out[...] = jnp.zeros_like(out)

        def add(i, _):
            copy = pltpu.make_async_copy(pages.at[table[sequence * pages_each + i]], buffer, arrived)
            copy.start()
            copy.wait()
            out[0] += buffer[...]
            return 0

        jax.lax.fori_loop(0, pl.cdiv(lengths[sequence], page), add, 0)

    call = pl.pallas_call(
        body, out_shape=array(sequences, page, 128, dtype=F32), name="sum_of_pages",
        grid_spec=pltpu.PrefetchScalarGridSpec(
            num_scalar_prefetch=2, grid=(sequences,), in_specs=[HBM],
            out_specs=pl.BlockSpec((1, page, 128), lambda i, *_: (i, 0, 0)),
            scratch_shapes=[pltpu.VMEM((page, 128), F32), pltpu.SemaphoreType.DMA]))
    pages = sequences * pages_each
    return call, (array(sequences, dtype=I32), array(pages, dtype=I32), array(pages, page, 128, dtype=F32))


def sum_of_blocks(blocks, rows, ahead):
    """Copies that are waited for at once, or while the block before them is added."""

    def body(x, out, buffers, arrived):
        def copy(i):
            return pltpu.make_async_copy(x.at[i], buffers.at[i % 2], arrived.at[i % 2])

        out[...] = jnp.zeros_like(out)
        if ahead:
            copy(0).start()

        def add(i):
            if ahead:
                pl.when(i + 1 < blocks)(lambda: copy(i + 1).start())
            else:
                copy(i).start()
            copy(i).wait()
            out[...] += jnp.exp(buffers[i % 2])
            return i + 1

        jax.lax.while_loop(lambda i: i < blocks, add, 0)

    call = pl.pallas_call(
        body, out_shape=array(rows, 1024, dtype=F32), in_specs=[HBM], name="sum_of_blocks",
        scratch_shapes=[pltpu.VMEM((2, rows, 1024), F32), pltpu.SemaphoreType.DMA((2,))])
    return call, (array(blocks, rows, 1024, dtype=F32),)


def windows_and_copies(steps, rows):
    """Half of what is added comes as blocks of a window, half by copies of its own."""

    def body(x, y, out, buffers, arrived):
        i = pl.program_id(0)

        def copy(k):
            return pltpu.make_async_copy(y.at[pl.ds(k * rows, rows)], buffers.at[k % 2], arrived.at[k % 2])

        pl.when(i == 0)(lambda: copy(0).start())
        pl.when(i + 1 < steps)(lambda: copy(i + 1).start())
        copy(i).wait()
        out[...] = x[...] + buffers[i % 2]

    whole, block = array(steps * rows, 1024, dtype=F32), pl.BlockSpec((rows, 1024), lambda i: (i, 0))
    call = pl.pallas_call(
        body, grid=(steps,), out_shape=whole, in_specs=[block, HBM], out_specs=block, name="windows_and_copies",
        scratch_shapes=[pltpu.VMEM((2, rows, 1024), F32), pltpu.SemaphoreType.DMA((2,))])
    return call, (whole, whole)


def send_right(devices, rows, width):
    """Each device copies its part to the next one of a ring."""

    def body(x, out, sent, came):
        right = jax.lax.rem(jax.lax.axis_index("x") + 1, devices)
        copy = pltpu.make_async_remote_copy(
            x, out, sent, came, device_id=(right,), device_id_type=pltpu.DeviceIdType.MESH)
        copy.start()
        copy.wait()

    call = pl.pallas_call(
        body, out_shape=array(rows, width, dtype=F32), in_specs=[HBM], out_specs=HBM, name="send_right",
        scratch_shapes=[pltpu.SemaphoreType.DMA, pltpu.SemaphoreType.DMA])
    mesh = jax.sharding.AbstractMesh((devices,), ("x",))
    part = jax.sharding.PartitionSpec("x")
    whole = jax.ShapeDtypeStruct((devices * rows, width), F32, sharding=jax.sharding.NamedSharding(mesh, part))
    return jax.shard_map(call, mesh=mesh, in_specs=part, out_specs=part, check_vma=False), (whole,)


def rows_of_heads(rows, heads):
    """Divides row numbers by a number that everybody knows."""

    def body(out):
        row = jax.lax.broadcasted_iota(I32, out.shape, 0)
        out[...] = jax.lax.div(row, heads) + jax.lax.rem(row, heads)

    return pl.pallas_call(body, out_shape=array(rows, 128, dtype=I32), name="rows_of_heads"), ()


CASES = {
    "product_s8": lambda: product(2048, 2048, 2048, 512, 512, 512, jnp.int8, I32),
    "product_f8": lambda: product(2048, 2048, 2048, 512, 512, 512, jnp.float8_e4m3fn),
    "grouped_product": lambda: grouped_product(1024, 4, 512, 512, 128, 256, 256),
    "sum_of_pages": lambda: sum_of_pages(4, 8, 16),
    "copies_at_once": lambda: sum_of_blocks(16, 256, False),
    "copies_ahead": lambda: sum_of_blocks(16, 256, True),
    "windows_and_copies": lambda: windows_and_copies(16, 256),
    "send_right": lambda: send_right(8, 1024, 1024),
    "rows_of_heads": lambda: rows_of_heads(256, 4),
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
