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


def cost(module):
    """XLA's HloCostAnalysis of an HloModule: {"flops": ...}."""
    return xc._xla.hlo_module_cost_analysis(jax.devices("cpu")[0].client, module)


def compile_text(text, replicas=1, partitions=1, quick=False, unfused=False):
    """(executable, its devices). `quick`: compiled with little optimisation, for
    modules that run once. `unfused`: without fusions."""
    proto = _hlo.hlo_module_from_text(text).as_serialized_hlo_module_proto()
    blob = xc._xla.mlir.hlo_to_stablehlo(proto)
    devices = jax.devices("cpu")[:replicas * partitions]
    options = xc.CompileOptions()
    options.num_replicas, options.num_partitions = replicas, partitions
    build = options.executable_build_options
    build.num_replicas, build.num_partitions = replicas, partitions
    build.use_spmd_partitioning = partitions > 1
    build.device_assignment = xc.DeviceAssignment.create(np.arange(len(devices)).reshape(replicas, partitions))
    # Every instruction rounds to its type, as the text says.
    # Its folding of constants is another evaluator, wrong for some integers
    # (count-leading-zeros of negative ones, popcnt of s2).
    options.env_option_overrides = [("xla_allow_excess_precision", False), ("xla_disable_hlo_passes", "constant_folding,fusion" if unfused else "constant_folding")]
    if quick:
        options.env_option_overrides += [("xla_backend_optimization_level", 0), ("xla_llvm_disable_expensive_passes", True),
                                         ("xla_cpu_use_fusion_emitters", False), ("xla_cpu_parallel_codegen_split_count", 1)]
    with mlir.make_ir_context():
        module = ir.Module.parse(blob)
        return devices[0].client.compile_and_load(module, xc.DeviceList(tuple(devices)), options), devices


def run(text, args, quick=False, unfused=False):
    executable, devices = compile_text(text, quick=quick, unfused=unfused)
    buffers = [jax.device_put(a, devices[0]) for a in args]
    return [np.asarray(o) for o in executable.execute(buffers)]


def run_devices(text, args, replicas, partitions):
    """args and result: a list for each device; no argument is a scalar."""
    executable, devices = compile_text(text, replicas, partitions)
    mesh = jax.sharding.Mesh(np.array(devices), ("d",))
    sharding = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("d"))
    arrays = []
    for k in range(len(args[0])):
        shards = [jax.device_put(args[d][k], device) for d, device in enumerate(devices)]
        shape = (shards[0].shape[0] * len(devices),) + shards[0].shape[1:]
        arrays.append(jax.make_array_from_single_device_arrays(shape, sharding, shards))
    results = executable.execute_sharded(arrays).disassemble_into_single_device_arrays()
    # [output][device] to [device][output].
    return [[np.asarray(output[d]) for output in results] for d in range(len(devices))]


# numpy has no name for these: stored as raw bits, the type in the array's name.
RAW = {"bfloat16": "bf16", "float8_e5m2": "f8e5m2", "float8_e4m3fn": "f8e4m3fn",
       "float8_e4m3b11fnuz": "f8e4m3b11fnuz", "float8_e4m3": "f8e4m3", "float8_e3m4": "f8e3m4",
       "float8_e5m2fnuz": "f8e5m2fnuz", "float8_e4m3fnuz": "f8e4m3fnuz",
       "float8_e8m0fnu": "f8e8m0fnu", "float4_e2m1fn": "f4e2m1fn",
       "int4": "s4", "uint4": "u4", "int2": "s2", "uint2": "u2"}


def save(path, arrays):
    """arrays: {"arg0": ..., "out0": ...} as ptxla-opt's .npz."""
    plain = {}
    for name, a in arrays.items():
        kind = RAW.get(a.dtype.name)
        if kind in ("s2", "u2", "s4", "u4"):
            a = a.astype(np.int8 if kind[0] == "s" else np.uint8)
        elif kind:
            a = a.view(np.uint16 if kind == "bf16" else np.uint8)
        plain[name + ("." + kind if kind else "")] = a
    np.savez_compressed(path, **plain)
