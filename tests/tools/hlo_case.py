"""How the HLO cases of make_evaluator_cases.py are written down."""
import ml_dtypes
import numpy as np

TYPES = {"pred": np.bool_, "s4": ml_dtypes.int4, "u4": ml_dtypes.uint4, "s8": np.int8,
         "s16": np.int16, "s32": np.int32, "s64": np.int64, "u8": np.uint8, "u16": np.uint16,
         "u32": np.uint32, "u64": np.uint64, "f16": np.float16, "bf16": ml_dtypes.bfloat16,
         "f32": np.float32, "f64": np.float64, "c64": np.complex64, "c128": np.complex128,
         "f8e5m2": ml_dtypes.float8_e5m2, "f8e4m3fn": ml_dtypes.float8_e4m3fn,
         "f8e4m3b11fnuz": ml_dtypes.float8_e4m3b11fnuz, "f8e4m3": ml_dtypes.float8_e4m3,
         "f8e3m4": ml_dtypes.float8_e3m4, "f8e5m2fnuz": ml_dtypes.float8_e5m2fnuz,
         "f8e4m3fnuz": ml_dtypes.float8_e4m3fnuz, "f8e8m0fnu": ml_dtypes.float8_e8m0fnu,
         "f4e2m1fn": ml_dtypes.float4_e2m1fn, "s2": ml_dtypes.int2, "u2": ml_dtypes.uint2}
CASES = {}


def parse(shape):
    name, dims = shape.split("[")
    dims = dims.rstrip("]")
    return name, tuple(int(d) for d in dims.split(",") if d)


def make(spec, rng):
    """'f32[2,3]' normal; 'f32[2,3]:0.1,4' uniform; 's32[4]:0,9'; '=..' literal."""
    if not isinstance(spec, str):
        return spec
    shape, _, span = spec.partition(":")
    name, dims = parse(shape)
    dtype = TYPES[name]
    if name == "pred":
        return rng.integers(0, 2, dims).astype(np.bool_)
    if name[0] in "su":
        low, high = (int(v) for v in span.split(",")) if span else ((-5 if name[0] == "s" else 0), 6)
        return rng.integers(low, high, dims, dtype=np.int64 if low < 0 or high < 2**63 else np.uint64).astype(dtype)
    if name[0] == "c":
        return (rng.normal(size=dims) + 1j * rng.normal(size=dims)).astype(dtype)
    if span:
        low, high = (float(v) for v in span.split(","))
        return rng.uniform(low, high, dims).astype(dtype)
    return rng.normal(size=dims).astype(dtype)


def case(name, text, args, tolerance=0, xla=None, devices=(1, 1), xla_devices=None):
    """`xla`: what XLA runs instead, where its CPU backend has no such
    instruction: a text of the same meaning, or a function of the arguments that
    is written in JAX. devices: (replicas, partitions); `args` is then a list of
    arguments for each device. xla_devices: those of `xla`."""
    assert name not in CASES, name
    CASES[name] = (text, args, tolerance, xla, devices, xla_devices)


def expr(name, args, result, op, tolerance=0, before="", xla=None):
    """One instruction on parameters p0, p1, ..."""
    lines = [f"  p{i} = {(a if isinstance(a, str) else spec_of(a)).partition(':')[0]} parameter({i})" for i, a in enumerate(args)]
    case(name, "HloModule %s\n%s\nENTRY main {\n%s\n  ROOT r = %s %s\n}\n" % (name, before, "\n".join(lines), result, op), args, tolerance, xla)


def spec_of(array):
    for name, dtype in TYPES.items():
        if array.dtype == dtype:
            return "%s[%s]" % (name, ",".join(map(str, array.shape)))
    raise ValueError(array.dtype)


SPECIAL = np.array([0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 1.5, 3.5, 1e-20, 80.0, -80.0, 3e5, np.inf, -np.inf, np.nan, 0.9999, 1.0001, 7.25], np.float32)
REDUCER = "%s {\n  a = %s[] parameter(0)\n  b = %s[] parameter(1)\n  ROOT c = %s[] %s(a, b)\n}\n"


def reducer(op, t, name="f"):
    return REDUCER % (name, t, t, t, op)
