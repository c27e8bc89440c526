"""Runs HLO text on XLA's CPU backend (jaxlib, for development only).

    outputs = run(text, [numpy arrays])      # tuples flattened

pip install jax==0.10.2 (Python 3.11). Nothing of it is needed to build or test.
"""
import numpy as np
import jax
from jaxlib import _hlo
from jax._src.lib import xla_client as xc
from jax._src.interpreters import mlir
from jaxlib.mlir import ir

jax.config.update("jax_platforms", "cpu")
jax.config.update("jax_enable_x64", True)


def run(text, args):
    proto = _hlo.hlo_module_from_text(text).as_serialized_hlo_module_proto()
    blob = xc._xla.mlir.hlo_to_stablehlo(proto)
    client = jax.devices("cpu")[0].client
    options = xc.CompileOptions()
    # Every instruction rounds to its type, as the text says.
    options.env_option_overrides = [("xla_allow_excess_precision", False)]
    with mlir.make_ir_context():
        module = ir.Module.parse(blob)
        devices = xc.DeviceList((jax.devices("cpu")[0],))
        executable = client.compile_and_load(module, devices, options)
    buffers = [jax.device_put(a, jax.devices("cpu")[0]) for a in args]
    outs = executable.execute(buffers)
    return [np.asarray(o) for o in outs]


# numpy has no name for these: stored as raw bits, the type in the array's name.
RAW = {"bfloat16": "bf16", "float8_e5m2": "f8e5m2", "float8_e4m3fn": "f8e4m3fn",
       "float8_e4m3b11fnuz": "f8e4m3b11fnuz", "float8_e4m3": "f8e4m3", "float8_e3m4": "f8e3m4",
       "float8_e5m2fnuz": "f8e5m2fnuz", "float8_e4m3fnuz": "f8e4m3fnuz",
       "int4": "s4", "uint4": "u4"}


def save(path, arrays):
    """arrays: {"arg0": ..., "out0": ...} as ptxla-opt's .npz."""
    plain = {}
    for name, a in arrays.items():
        kind = RAW.get(a.dtype.name)
        if kind in ("s4", "u4"):
            a = a.astype(np.int8 if kind == "s4" else np.uint8)
        elif kind:
            a = a.view(np.uint16 if kind == "bf16" else np.uint8)
        plain[name + ("." + kind if kind else "")] = a
    np.savez_compressed(path, **plain)
