"""Attributes that change no value: shardings, metadata, layouts, what the first
line of a module says."""

OPS = ["jit(f)/jit(main)/dot_general", "layer_1/mlp/add", "transpose(jvp(f))/mul", "a b [c=1]"]


def sharding(r, rank, tuple_size=0):
    if tuple_size:
        return "{" + ", ".join(sharding(r, 0) for _ in range(tuple_size)) + "}"
    plain = ["{replicated}", "{maximal device=0}", "{manual}", "{unknown}"]
    if rank == 0 or r.random() < 0.3:
        return r.choice(plain)
    a, b = r.choice([1, 2]), r.choice([1, 2, 4])
    b = b if a > 1 else 2  # more than one device
    dims = [1] * rank
    dims[r.randrange(rank)] = a
    n = a * b
    tail = ",".join(map(str, dims + [b]))
    devices = list(range(n))
    r.shuffle(devices)
    return r.choice([
        "{devices=[" + ",".join(map(str, dims)) + "]<=[" + str(a) + "]}",
        "{devices=[" + tail + "]" + ",".join(map(str, devices)) + " last_tile_dim_replicate}",
        "{devices=[" + tail + f"]<=[{n}] last_tile_dim_replicate}}",
        "{devices=[" + tail + f"]<=[{b},{a}]T(1,0) last_tile_dim_replicate}}",
        "{devices=[" + ",".join(map(str, dims + [a, b])) + f"]<=[{a * n}] last_tile_dims={{{r.choice(['manual', 'replicated'])}, replicated}}}}".replace("{replicated, replicated}", "{manual, replicated}"),
        "{devices=[" + tail + f"]<=[{n}] last_tile_dim_replicate shard_as {r.randint(1, 3)}}}",
        "{replicated shard_like 2}",
        "{replicated metadata={op_name=\"x\"}}",
        "{mesh['x'=" + str(a) + ",'y'=" + str(b) + "], [" + ", ".join(["{'x'}"] + ["{}"] * (rank - 1)) + "]}",
    ])


def metadata(r):
    fields = []
    if r.random() < 0.5:
        fields.append(f'op_type="{r.choice(["dot_general", "add"])}"')
    fields.append(f'op_name="{r.choice(OPS)}"')
    if r.random() < 0.5:
        fields.append(f'source_file="a/b.py" source_line={r.randint(1, 99)}')
        if r.random() < 0.3:
            fields.append(f"source_end_line={r.randint(100, 110)} source_column={r.randint(1, 9)} source_end_column={r.randint(10, 20)}")
    if r.random() < 0.2:
        fields.append(f"stack_frame_id={r.randint(1, 2)}")
    return "metadata={" + " ".join(fields) + "}"


def frontend(r):
    return "frontend_attributes={" + ",".join(r.sample(['a="1"', '_xla_compute_type="host"', 'k="x=y,z"', 'b="{\\"c\\":2}"'], r.randint(1, 2))) + "}"


def decorate(line, r, entry):
    """Attributes for one instruction, and a layout."""
    array = not line.shape.startswith("(") and "token" not in line.shape
    rank = 0 if not array else line.shape.split("]")[0].count(",") + (0 if "[]" in line.shape else 1)
    # XLA's long form of async-start takes a sharding for each element of its tuple.
    if "sharding=" not in line.text and not line.opcode.startswith("async") and "domain" not in line.text and r.random() < 0.06:
        members = line.shape.count("[") if line.shape.startswith("(") and "((" not in line.shape else 0
        if array or members:
            line.attributes.append("sharding=" + sharding(r, rank, members))
    if r.random() < 0.15:
        line.attributes.append(metadata(r))
    if "frontend_attributes=" not in line.text and r.random() < 0.05:
        line.attributes.append(frontend(r))
    if "backend_config" not in line.text and r.random() < 0.03:
        line.attributes.append(r.choice(['backend_config="abc"', 'backend_config={"n":"1"}', 'backend_config={"a":[1,{"b":"c"}]}']))
    if r.random() < 0.02:
        line.attributes.append(r.choice(['origin={{"a"}}', "statistics={visualizing_index=1,stat-1=33,stat-2=44}"]) if array else "")
    if entry and array and rank > 0 and "<=" not in line.shape and line.opcode not in ("bitcast", "parameter") and r.random() < 0.1:
        line.layout = layout(line.shape, rank, r)
    line.attributes = [a for a in line.attributes if a]


def layout(shape, rank, r):
    order = list(range(rank))
    r.shuffle(order)
    kind = shape.split("[")[0]
    tail = r.choice(["", ":T(8,128)", ":T(8,128)(2,1)", ":T(2,128)S(1)", ":S(1)", ":T(256)", ":T(8,128)S(5)"])
    if kind in ("s4", "u4", "s2", "u2") and r.random() < 0.5:
        tail = f":E({kind[1]})"
    return shape.split("{")[0] + "{" + ",".join(map(str, order)) + tail + "}"


def header(r, parameters, roots, one_device):
    """After `HloModule name`: what holds of the whole module."""
    parts = []
    if r.random() < 0.3:
        parts.append("is_scheduled=true")
    pairs = [(i, j) for i, p in enumerate(parameters) for j, v in enumerate(roots) if (p.kind, p.dims) == (v.kind, v.dims)]
    if pairs and r.random() < 0.5:
        i, j = r.choice(pairs)
        parts.append(f"input_output_alias={{ {{{j}}}: ({i}, {{}}, {r.choice(['may-alias', 'must-alias'])}) }}")
    elif r.random() < 0.1:
        parts.append("buffer_donor={ (0, {}) }")
    if r.random() < 0.2:
        parts.append("entry_computation_layout={(" + ", ".join(p.shape for p in parameters) + ")->(" + ", ".join(v.shape for v in roots) + ")}")
    if r.random() < 0.1:
        parts.append("allow_spmd_sharding_propagation_to_parameters={" + ",".join(r.choice(["true", "false"]) for _ in parameters) + "}")
    if r.random() < 0.1:
        parts.append("allow_spmd_sharding_propagation_to_output={true}")
    if not one_device and r.random() < 0.2:
        parts.append(r.choice(["num_partitions=2", "replica_count=2", "replica_count=2, num_partitions=4"]))
    if r.random() < 0.1:
        parts.append(frontend(r))
    return "".join(", " + p for p in parts)


STACK_FRAMES = '''
FileNames
1 "a/b.py"
2 "c.py"

FunctionNames
1 "main"
2 "f"

FileLocations
1 {file_name_id=1 function_name_id=1 line=3 end_line=3 column=1 end_column=9}
2 {file_name_id=2 function_name_id=2 line=7 end_line=7 column=2 end_column=5}

StackFrames
1 {file_location_id=1 parent_frame_id=1}
2 {file_location_id=2 parent_frame_id=2}

'''
