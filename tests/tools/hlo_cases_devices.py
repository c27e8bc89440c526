"""Programs of several devices: collectives, replica-id, partition-id."""
from hlo_case import case, reducer

ADD = reducer("add", "f32")
R4 = "replica_groups={{0,2},{1,3}}"


def program(name, devices, lines, args, tolerance=0, before="", xla=None, xla_devices=None):
    """Lines of the entry, the last its root; `xla` runs instead. Every device
    has other values of the same arguments."""
    def text(body, where):
        root = [("  ROOT " if k == len(body) - 1 else "  ") + line for k, line in enumerate(body)]
        return "HloModule m, replica_count=%d, num_partitions=%d\n%sENTRY main {\n%s\n}\n" % (*where, before, "\n".join(root))
    case(name, text(lines, devices), [args] * (devices[0] * devices[1]), tolerance, xla and text(xla, xla_devices or devices), devices, xla_devices)


X = "x = f32[4] parameter(0)"
A = ["f32[4]"]
# One operation, its start and done, and over partitions: XLA's CPU backend
# takes the form that is not asynchronous; partitions are replicas there.
OPS = [("all-reduce", "f32[4]", f"{R4}, to_apply=f", "f32[4]"),
       ("all-gather", "f32[8]", f"{R4}, dimensions={{0}}", "(f32[4], f32[8])"),
       ("reduce-scatter", "f32[2]", f"{R4}, dimensions={{0}}, to_apply=f", None),
       ("all-to-all", "f32[4]", f"{R4}, dimensions={{0}}", None),
       ("collective-permute", "f32[4]", "source_target_pairs={{0,1},{1,2},{3,0}}", "(f32[4], f32[4], u32[], u32[])")]
for op, shape, attrs, start in OPS:
    name = op.replace("-", "_")
    sync = [X, f"r = {shape} {op}(x), {attrs}"]
    program(name, (4, 1), sync, A, 1e-6, ADD)
    ids = "" if op in ("all-to-all", "collective-permute") else ", use_global_device_ids=true"
    program(name + "_partitions", (1, 4), [X, f"r = {shape} {op}(x), channel_id=1, {attrs}{ids}"], A, 1e-6, ADD, sync, (4, 1))
    program(name + "_thrice", (4, 1), [X, f"y = {shape} {op}(x), {attrs}", f"z = {shape} add(y, y)", f"r = {shape} {op}(x), {attrs}", f"s = {shape} subtract(z, r)"], A, 1e-6, ADD)
    if start:
        rest = ["n = f32[4] negate(x)", f"d = {shape} {op}-done(s)", f"t = ({shape}, f32[4]) tuple(d, n)"]
        after = ["n = f32[4] negate(x)", f"d = {shape} {op}(x), {attrs}", f"t = ({shape}, f32[4]) tuple(d, n)"]
        program(name + "_start", (4, 1), [X, f"s = {start} {op}-start(x), {attrs}"] + rest, A, 1e-6, ADD, [X] + after)
        program(name + "_start_partitions", (1, 4), [X, f"s = {start} {op}-start(x), channel_id=1, {attrs}{ids}"] + rest, A, 1e-6, ADD, [X] + after, (4, 1))
        program(name + "_start_last", (4, 1), [X, f"s = {start} {op}-start(x), {attrs}", f"d = {shape} {op}-done(s)"], A, 1e-6, ADD, sync)
program("all_reduce_maximum", (4, 1), ["x = s32[3] parameter(0)", "r = s32[3] all-reduce(x), replica_groups={}, to_apply=f"], ["s32[3]:-99,99"], 0, reducer("maximum", "s32"))
program("all_reduce_two", (2, 1), [X, "y = f32[3] parameter(1)", "r = (f32[4], f32[3]) all-reduce(x, y), replica_groups={{0,1}}, to_apply=f"], ["f32[4]", "f32[3]"], 1e-6, ADD)
program("all_reduce_in_replicas", (2, 2), [X, "r = f32[4] all-reduce(x), channel_id=1, replica_groups={{0,1},{2,3}}, use_global_device_ids=true, to_apply=f"], A, 1e-6, ADD,
        [X, "r = f32[4] all-reduce(x), replica_groups={{0,1},{2,3}}, to_apply=f"], (4, 1))
program("all_reduce_across_replicas", (2, 2), [X, "r = f32[4] all-reduce(x), replica_groups={{0,1}}, to_apply=f"], A, 1e-6, ADD,
        [X, "r = f32[4] all-reduce(x), replica_groups={{0,2},{1,3}}, to_apply=f"], (4, 1))
program("all_reduce_across_all", (2, 2), [X, "r = f32[4] all-reduce(x), channel_id=1, replica_groups={{0,1}}, to_apply=f"], A, 1e-6, ADD,
        [X, "r = f32[4] all-reduce(x), replica_groups={{0,1,2,3}}, to_apply=f"], (4, 1))
program("all_gather_columns", (2, 1), ["x = f32[3,2] parameter(0)", "r = f32[3,4] all-gather(x), replica_groups={{1,0}}, dimensions={1}"], ["f32[3,2]"])
program("all_to_all_tuple", (2, 1), [X, "y = f32[4] parameter(1)", "r = (f32[4], f32[4]) all-to-all(x, y), replica_groups={{0,1}}"], ["f32[4]", "f32[4]"], 0, "",
        [X, "y = f32[4] parameter(1)", "a = f32[1,4] reshape(x)", "b = f32[1,4] reshape(y)", "c = f32[2,4] concatenate(a, b), dimensions={0}",
         "d = f32[2,4] all-to-all(c), replica_groups={{0,1}}, dimensions={0}", "e = f32[1,4] slice(d), slice={[0:1],[0:4]}", "f = f32[1,4] slice(d), slice={[1:2],[0:4]}",
         "g = f32[4] reshape(e)", "h = f32[4] reshape(f)", "r = (f32[4], f32[4]) tuple(g, h)"])
# A broadcast from the first of a group is a permutation that copies it.
for name, groups in [("pair", "{{1,0},{2,3}}"), ("all", "{{2,0,1,3}}"), ("alone", "{{0},{1},{3,2}}")]:
    gather = [X, "g = f32[16] all-gather(x), replica_groups={{0,1,2,3}}, dimensions={0}", "i = u32[] replica-id()",
              "m = s32[4] constant({%s})" % {"pair": "1, 1, 2, 2", "all": "2, 2, 2, 2", "alone": "0, 1, 3, 3"}[name],
              "s = s32[1] dynamic-slice(m, i), dynamic_slice_sizes={1}", "q = s32[] reshape(s)", "four = s32[] constant(4)", "at = s32[] multiply(q, four)", "r = f32[4] dynamic-slice(g, at), dynamic_slice_sizes={4}"]
    program("collective_broadcast_" + name, (4, 1), [X, f"r = f32[4] collective-broadcast(x), replica_groups={groups}"], A, 0, "", gather)
# The rows of a ragged exchange, gathered and put in their places.
OFFSETS = ["o = f32[6] parameter(1)"]
for name, send, offsets, to in [("even", ["2, 1", "1, 2"], ["0, 2", "1, 0"], ["0, 0", "3, 2"]), ("none", ["0, 3", "2, 0"], ["0, 1", "0, 0"], ["0, 0", "1, 0"]), ("same", ["1, 1", "1, 1"], ["3, 0", "0, 3"], ["0, 1", "5, 5"])]:
    def table(label, rows):
        return [f"{label}t = s32[2,2] constant({{{{{rows[0]}}}, {{{rows[1]}}}}})"]
    own = ["i = u32[] replica-id()", "z = u32[] constant(0)"]
    tables = table("b", offsets) + table("c", send) + table("t", to)
    mine = [line for k in "bct" for line in (f"{k}r = s32[1,2] dynamic-slice({k}t, i, z), dynamic_slice_sizes={{1,2}}", f"{k}v = s32[2] reshape({k}r)")]
    body = [X] + OFFSETS + own + tables + mine + ["r = f32[6] ragged-all-to-all(x, o, bv, cv, tv, cv), replica_groups={{0,1}}"]
    # XLA: every row of the result looks for the sender's row that goes there.
    xla = [X] + OFFSETS + own + tables + ["g = f32[8] all-gather(x), replica_groups={{0,1}}, dimensions={0}"]
    value = "o"
    for sender in (0, 1):
        p = f"s{sender}"
        for k in "bct":
            xla += [f"{p}{k}0 = u32[] constant({sender})", f"{p}{k}1 = s32[1,1] dynamic-slice({k}t, {p}{k}0, i), dynamic_slice_sizes={{1,1}}", f"{p}{k}2 = s32[] reshape({p}{k}1)", f"{p}{k} = s32[6] broadcast({p}{k}2), dimensions={{}}"]
        xla += [f"{p}n = s32[6] iota(), iota_dimension=0", f"{p}d = s32[6] subtract({p}n, {p}t)", f"{p}zero = s32[] constant(0)", f"{p}zeros = s32[6] broadcast({p}zero), dimensions={{}}",
                f"{p}ge = pred[6] compare({p}d, {p}zeros), direction=GE", f"{p}lt = pred[6] compare({p}d, {p}c), direction=LT", f"{p}in = pred[6] and({p}ge, {p}lt)",
                f"{p}f = s32[6] add({p}d, {p}b)", f"{p}k = s32[] constant({4 * sender})", f"{p}ks = s32[6] broadcast({p}k), dimensions={{}}", f"{p}at = s32[6] add({p}f, {p}ks)", f"{p}i2 = s32[6,1] reshape({p}at)",
                f"{p}v = f32[6] gather(g, {p}i2), offset_dims={{}}, collapsed_slice_dims={{0}}, start_index_map={{0}}, index_vector_dim=1, slice_sizes={{1}}",
                f"{p}r = f32[6] select({p}in, {p}v, {value})"]
        value = f"{p}r"
    program("ragged_all_to_all_" + name, (2, 1), body, ["f32[4]", "f32[6]"], 0, "", xla)
program("replica_id", (4, 1), [X, "i = u32[] replica-id()", "f = f32[] convert(i)", "b = f32[4] broadcast(f), dimensions={}", "r = f32[4] add(x, b)"], A)
program("replica_id_of_two", (2, 2), [X, "i = u32[] replica-id()", "f = f32[] convert(i)", "b = f32[4] broadcast(f), dimensions={}", "r = f32[4] add(x, b)"], A, 0, "",
        [X, "j = u32[] replica-id()", "two = u32[] constant(2)", "i = u32[] divide(j, two)", "f = f32[] convert(i)", "b = f32[4] broadcast(f), dimensions={}", "r = f32[4] add(x, b)"], (4, 1))
for devices in [(1, 4), (2, 2), (1, 2)]:
    many = devices[0] * devices[1]
    program("partition_id_%dx%d" % devices, devices, [X, "i = u32[] partition-id()", "f = f32[] convert(i)", "b = f32[4] broadcast(f), dimensions={}", "r = f32[4] add(x, b)"], A, 0, "",
            [X, "j = u32[] replica-id()", f"two = u32[] constant({devices[1]})", "i = u32[] remainder(j, two)", "f = f32[] convert(i)", "b = f32[4] broadcast(f), dimensions={}", "r = f32[4] add(x, b)"], (many, 1))
