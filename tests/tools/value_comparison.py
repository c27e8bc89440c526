"""Random arguments for a module (random_hlo/) and whether two sides have computed
the same from them, up to the rounding of its types:

    args = inputs(module, seed)
    values_differ(ours, theirs)     # None, or the first element that differs
"""
import numpy as np

from hlo_case import TYPES

# Sums in another order, functions that differ in the last bits, several times
# over: about 25 units in the last place of the largest element.
TOLERANCE = {"float64": 1e-8, "float32": 1e-4, "bfloat16": 0.1, "float16": 0.03, "complex64": 1e-4, "complex128": 1e-8}
NARROW = 0.5  # fp8: one unit is an eighth or a quarter


def inputs(module, seed):
    rng = np.random.default_rng(seed)
    made = []
    for p in module.parameters:
        dtype = TYPES[p.kind]
        if p.kind == "pred":
            made.append(rng.integers(0, 2, p.dims).astype(np.bool_))
        elif p.kind[0] in "su":
            low, high = (-2 ** (int(p.kind[1:]) - 1), 2 ** (int(p.kind[1:]) - 1)) if p.kind[0] == "s" else (0, 2 ** int(p.kind[1:]))
            made.append(rng.integers(max(low, -9), min(high, 10), p.dims).astype(dtype))
        elif p.kind[0] == "c":
            made.append((rng.normal(size=p.dims) + 1j * rng.normal(size=p.dims)).astype(dtype))
        elif p.kind == "f8e8m0fnu":
            made.append((2.0 ** rng.integers(-3, 4, p.dims)).astype(dtype))
        else:
            made.append(np.asarray(rng.normal(size=p.dims)).astype(dtype))
    return made


def values_differ(ours, theirs):
    for i, want in enumerate(theirs):
        got = ours[f"out{i}"]
        if got.shape != want.shape or got.dtype != want.dtype:
            return f"out{i}: {got.dtype}{got.shape} vs {want.dtype}{want.shape}"
        if want.dtype.kind in "biu" or want.dtype.name.startswith(("int", "uint")):
            if not np.array_equal(got, want):
                k = np.flatnonzero((got != want).ravel())[0]
                return f"out{i} {want.dtype}[{k}]: {got.ravel()[k]} vs {want.ravel()[k]}"
            continue
        wide = np.complex128 if want.dtype.kind == "c" else np.float64
        g, w = got.astype(wide), want.astype(wide)
        finite = np.isfinite(w) & np.isfinite(g)
        same = (g == w) | (np.isnan(g) & np.isnan(w))
        scale = np.abs(w[np.isfinite(w)]).max(initial=0)
        tolerance = TOLERANCE.get(want.dtype.name, NARROW)
        near = finite & (np.abs(np.where(finite, g - w, 0)) <= tolerance * np.maximum(scale, 1))
        if not np.all(same | near):
            k = np.flatnonzero(~(same | near).ravel())[0]
            return f"out{i} {want.dtype}[{k}]: {g.ravel()[k]} vs {w.ravel()[k]} (scale {scale:.3g})"
    return None
