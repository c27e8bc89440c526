"""Hands an HLO module to the TPU compiler, ahead of time: no TPU is needed.

python3 libtpu_compile.py versions
    prints what is installed: "libtpu 0.0.42.1, jax 0.10.2"
python3 libtpu_compile.py compile CHIP SHAPE IN.hlo OUT.hlo
    CHIP is v2 v3 v4 v5e v5p v6e or tpu7x, SHAPE that of the slice in chips
    (2x4). OUT.hlo gets the optimised, scheduled module.

Exit codes: 0; 3 if a package is missing; 4 if the compiler refuses the module.
The last line of standard error says what is wrong.
"""
import importlib.metadata
import os
import sys

# What libtpu wants to be told of a machine that is not there.
ACCELERATOR = {"v2": "v2-8", "v3": "v3-8", "v4": "v4-8", "v5e": "v5litepod-8",
               "v5p": "v5p-8", "v6e": "v6e-8", "tpu7x": "tpu7x-8"}
MISSING, REFUSED = 3, 4


def fail(code, words):
    print(words, file=sys.stderr)
    sys.exit(code)


def versions():
    found = []
    for package in ("libtpu", "jax"):
        try:
            found.append(package + " " + importlib.metadata.version(package))
        except importlib.metadata.PackageNotFoundError:
            fail(MISSING, package)
    return ", ".join(found)


def first_line(error):
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__


def compile_module(chip, shape, text):
    if chip not in ACCELERATOR:
        fail(REFUSED, f"it does not know the chip {chip}")
    # The result follows from the module alone, whatever the shell asks for.
    for name in ("LIBTPU_INIT_ARGS", "XLA_FLAGS"):
        os.environ.pop(name, None)
    os.environ.update(
        # Several runs may ask at a time; nobody holds a device.
        ALLOW_MULTIPLE_LIBTPU_LOAD="1",
        JAX_PLATFORMS="cpu", TPU_SKIP_MDS_QUERY="1", TPU_WORKER_ID="0",
        TPU_WORKER_HOSTNAMES="localhost", TPU_STDERR_LOG_LEVEL="3",
        TPU_MIN_LOG_LEVEL="3", TPU_ACCELERATOR_TYPE=ACCELERATOR[chip])
    import numpy as np
    from jax._src.interpreters import mlir
    from jax._src.lib import xla_client as xc
    from jax.experimental import topologies
    from jaxlib import _hlo
    from jaxlib.mlir import ir

    # A slice of one chip is compiled for a host of one chip.
    one = all(size == "1" for size in shape.split("x"))
    where = {"chips_per_host_bounds": [1, 1, 1]} if one else {}
    if chip == "v4":  # one device of both cores, as v5p has by itself
        where["chip_config_name"] = "megacore"
    devices = topologies.get_topology_desc(
        topology_name=f"{chip}:{shape}", platform="tpu", **where).devices
    module = _hlo.hlo_module_from_text(text)
    proto = module.as_serialized_hlo_module_proto()
    header = text.split("\n", 1)[0]
    count = {"replica_count": 1, "num_partitions": 1}
    for field in header.split(", "):
        key, _, value = field.partition("=")
        if key in count:
            count[key] = int(value)
    replicas, partitions = count["replica_count"], count["num_partitions"]
    wanted = replicas * partitions
    if wanted > len(devices):
        fail(REFUSED, f"{wanted} devices are more than the {len(devices)} of {chip}:{shape}")
    options = xc.CompileOptions()
    options.num_replicas, options.num_partitions = replicas, partitions
    options.device_assignment = xc.DeviceAssignment.create(
        np.arange(wanted).reshape(replicas, partitions))
    with mlir.make_ir_context():
        parsed = ir.Module.parse(xc._xla.mlir.hlo_to_stablehlo(proto))
        done = devices[0].client.compile(
            parsed, xc.DeviceList(tuple(devices[:wanted])), options)
    form = _hlo.HloPrintOptions()
    form.print_large_constants = True
    return done.hlo_modules()[0].to_string(form)


def main(words):
    installed = versions()
    if words == ["versions"]:
        print(installed)
        return
    _, chip, shape, source, target = words
    with open(source) as file:
        text = file.read()
    try:
        scheduled = compile_module(chip, shape, text)
    except Exception as error:  # whatever jaxlib throws
        fail(REFUSED, first_line(error))
    with open(target, "w") as file:
        file.write(scheduled)


main(sys.argv[1:])
