"""Control flow, calls, plumbing, asynchronous forms, dynamic dimensions, random
numbers: programs of one device."""
from hlo_case import case, reducer

HEAD = "HloModule m\n"
TWICE = "twice {\n  a = f32[6] parameter(0)\n  ROOT b = f32[6] add(a, a)\n}\n"
ADD = reducer("add", "f32", "add")


def main(*lines):
    """The entry: the last line is its root."""
    return "ENTRY main {\n%s\n}\n" % "\n".join("  " + ("ROOT " if k == len(lines) - 1 else "") + line for k, line in enumerate(lines))


def program(name, lines, args, tolerance=0, before="", xla=None):
    """`xla`: the lines that XLA runs instead."""
    case(name, HEAD + before + main(*lines), args, tolerance, xla and HEAD + before + main(*xla))


X = "x = f32[6] parameter(0)"

# Loops.
COUNT = """below {
  s = (s32[], f32[6]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(%d)
  ROOT c = pred[] compare(i, n), direction=LT
}
"""
program("while_nested", [X, "z = s32[] constant(0)", "t = (s32[], f32[6]) tuple(z, x)", "w = (s32[], f32[6]) while(t), condition=below, body=outer",
                         "r = f32[6] get-tuple-element(w), index=1"], ["f32[6]"], 1e-6, COUNT % 3 + """below4 {
  s = (s32[], f32[6]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(4)
  ROOT c = pred[] compare(i, n), direction=LT
}
inner {
  s = (s32[], f32[6]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[6] get-tuple-element(s), index=1
  one = s32[] constant(1)
  j = s32[] add(i, one)
  half = f32[] constant(0.5)
  h = f32[6] broadcast(half), dimensions={}
  y = f32[6] multiply(x, h)
  f = f32[] convert(i)
  b = f32[6] broadcast(f), dimensions={}
  v = f32[6] add(y, b)
  ROOT t = (s32[], f32[6]) tuple(j, v)
}
outer {
  s = (s32[], f32[6]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[6] get-tuple-element(s), index=1
  z = s32[] constant(0)
  t = (s32[], f32[6]) tuple(z, x)
  w = (s32[], f32[6]) while(t), condition=below4, body=inner
  y = f32[6] get-tuple-element(w), index=1
  one = s32[] constant(1)
  j = s32[] add(i, one)
  ROOT u = (s32[], f32[6]) tuple(j, y)
}
""")
program("while_on_data", ["x = f32[] parameter(0)", "w = f32[] while(x), condition=small, body=grow"], ["f32[]:0.3,0.9"], 1e-6, """small {
  a = f32[] parameter(0)
  l = f32[] constant(100)
  ROOT c = pred[] compare(a, l), direction=LT
}
grow {
  a = f32[] parameter(0)
  k = f32[] constant(1.7)
  ROOT b = f32[] multiply(a, k)
}
""")
program("while_never", [X, "w = f32[6] while(x), condition=no, body=twice"], ["f32[6]"], 0, TWICE + "no {\n  a = f32[6] parameter(0)\n  ROOT c = pred[] constant(false)\n}\n")

# Scans: what is carried, what is given, in both directions.
STEP = """step {
  x = f32[3] parameter(0)
  c = f32[3] parameter(1)
  s = f32[3] subtract(c, x)
  p = f32[3] multiply(c, x)
  ROOT t = (f32[3], f32[3]) tuple(p, s)
}
"""
for name, dims, reverse in [("scan_forward", "5,3", False), ("scan_reverse", "5,3", True)]:
    program(name, [f"x = f32[{dims}] parameter(0)", "i = f32[3] parameter(1)",
                   f"r = (f32[{dims}], f32[3]) scan(x, i), dimensions={{0}}, num_carries=1{', is_reverse=true' if reverse else ''}, to_apply=step"],
            [f"f32[{dims}]", "f32[3]"], 1e-6, STEP)
program("scan_second_dimension", ["x = f32[3,5] parameter(0)", "i = f32[3] parameter(1)",
                                  "r = (f32[3,5], f32[3]) scan(x, i), dimensions={1}, num_carries=1, to_apply=step"], ["f32[3,5]", "f32[3]"], 1e-6, STEP)
program("scan_two", ["x = f32[4] parameter(0)", "y = s32[4] parameter(1)", "i = f32[] parameter(2)", "j = s32[] parameter(3)",
                     "r = (f32[4], s32[4], f32[], s32[]) scan(x, y, i, j), dimensions={0}, num_carries=2, to_apply=both"],
        ["f32[4]", "s32[4]", "f32[]", "s32[]"], 1e-6, """both {
  x = f32[] parameter(0)
  y = s32[] parameter(1)
  c = f32[] parameter(2)
  d = s32[] parameter(3)
  e = f32[] add(c, x)
  f = s32[] maximum(d, y)
  ROOT t = (f32[], s32[], f32[], s32[]) tuple(e, f, e, f)
}
""")

# Branches, calls, fusions.
for value in ("true", "false"):
    program("conditional_" + value, [X, f"p = pred[] constant({value})", "r = f32[6] conditional(p, x, x), true_computation=twice, false_computation=back"],
            ["f32[6]"], 0, TWICE + "back {\n  a = f32[6] parameter(0)\n  ROOT b = f32[6] reverse(a), dimensions={0}\n}\n")
program("call", [X, "r = f32[6] call(x), to_apply=twice"], ["f32[6]"], 0, TWICE)
program("call_of_call", [X, "a = f32[6] call(x), to_apply=four", "r = f32[6] call(a), to_apply=twice"], ["f32[6]"], 0,
        TWICE + "four {\n  a = f32[6] parameter(0)\n  b = f32[6] call(a), to_apply=twice\n  ROOT c = f32[6] call(b), to_apply=twice\n}\n")
program("call_with_tuples", [X, "t = (f32[6], f32[6]) call(x), to_apply=two", "a = f32[6] get-tuple-element(t), index=0", "b = f32[6] get-tuple-element(t), index=1", "r = f32[6] subtract(b, a)"],
        ["f32[6]"], 1e-6, "two {\n  a = f32[6] parameter(0)\n  b = f32[6] multiply(a, a)\n  ROOT t = (f32[6], f32[6]) tuple(a, b)\n}\n")
for kind in ("kLoop", "kInput", "kOutput"):
    program("fusion_" + kind.lower(), [X, f"r = f32[6] fusion(x), kind={kind}, calls=twice"], ["f32[6]"], 0, TWICE, [X, "r = f32[6] call(x), to_apply=twice"])
program("fusion_of_reduce", ["x = f32[4,6] parameter(0)", "r = f32[4] fusion(x), kind=kInput, calls=sum"], ["f32[4,6]"], 1e-6,
        ADD + "sum {\n  a = f32[4,6] parameter(0)\n  z = f32[] constant(0)\n  e = f32[4,6] exponential(a)\n  ROOT b = f32[4] reduce(e, z), dimensions={1}, to_apply=add\n}\n",
        ["x = f32[4,6] parameter(0)", "r = f32[4] call(x), to_apply=sum"])
program("fusion_two_outputs", [X, "t = (f32[6], f32[6]) fusion(x), kind=kLoop, calls=two", "a = f32[6] get-tuple-element(t), index=0", "b = f32[6] get-tuple-element(t), index=1", "r = f32[6] subtract(b, a)"],
        ["f32[6]"], 1e-6, "two {\n  a = f32[6] parameter(0)\n  b = f32[6] multiply(a, a)\n  ROOT t = (f32[6], f32[6]) tuple(a, b)\n}\n",
        [X, "t = (f32[6], f32[6]) call(x), to_apply=two", "a = f32[6] get-tuple-element(t), index=0", "b = f32[6] get-tuple-element(t), index=1", "r = f32[6] subtract(b, a)"])

# What orders, marks and copies.
for k, shape in enumerate(["f32[6]", "s32[2,3]", "bf16[4]"]):
    x = f"x = {shape} parameter(0)"
    program(f"add_dependency_{k}", [x, "t = token[] after-all()", f"r = {shape} add-dependency(x, t)"], [shape])
    program(f"barrier_{k}", [x, f"y = {shape} add(x, x)", f"t = ({shape}, {shape}) tuple(x, y)", f"b = ({shape}, {shape}) opt-barrier(t)", f"r = {shape} get-tuple-element(b), index=1"], [shape])
    program(f"domain_{k}", [x, f'r = {shape} domain(x), domain={{kind="sharding", entry={{replicated}}, exit={{maximal device=0}}}}'], [shape], xla=[x, f"r = {shape} copy(x)"])
    program(f"after_all_{k}", [x, "t = token[] after-all()", "u = token[] after-all()", "v = token[] after-all(t, u)", f"r = {shape} add-dependency(x, v)"], [shape])
    program(f"copy_{k}", [x, f"y = {shape} copy(x)", f"r = {shape} add(y, x)"], [shape])
    program(f"copy_start_{k}", [x, f"s = ({shape}, {shape}, u32[]) copy-start(x)", f"y = {shape} add(x, x)", f"d = {shape} copy-done(s)", f"r = {shape} subtract(y, d)"], [shape],
            xla=[x, f"y = {shape} add(x, x)", f"r = {shape} subtract(y, x)"])
    program(f"sharding_call_{k}", [x, f'r = {shape} custom-call(x), custom_call_target="Sharding", sharding={{replicated}}'], [shape])
    body = f"f {{\n  a = {shape} parameter(0)\n  ROOT b = {shape} multiply(a, a)\n}}\n"
    program(f"async_{k}", [x, f"s = (({shape}), {shape}, u32[]) async-start(x), calls=f", f"u = (({shape}), {shape}, u32[]) async-update(s)", f"r = {shape} async-done(u)"], [shape],
            0, body, [x, f"r = {shape} call(x), to_apply=f"])
program("async_of_two", ["x = f32[6] parameter(0)", "y = f32[6] parameter(1)", "s = ((f32[6], f32[6]), (f32[6], f32[6]), s32[]) async-start(x, y), calls=f",
                         "d = (f32[6], f32[6]) async-done(s)", "a = f32[6] get-tuple-element(d), index=0", "b = f32[6] get-tuple-element(d), index=1", "r = f32[6] divide(a, b)"],
        ["f32[6]", "f32[6]:1,2"], 0, "f {\n  a = f32[6] parameter(0)\n  b = f32[6] parameter(1)\n  c = f32[6] add(a, b)\n  d = f32[6] multiply(b, b)\n  ROOT t = (f32[6], f32[6]) tuple(c, d)\n}\n",
        ["x = f32[6] parameter(0)", "y = f32[6] parameter(1)", "d = (f32[6], f32[6]) call(x, y), to_apply=f", "a = f32[6] get-tuple-element(d), index=0", "b = f32[6] get-tuple-element(d), index=1", "r = f32[6] divide(a, b)"])
program("nested_tuples", [X, "y = f32[6] negate(x)", "a = (f32[6], f32[6]) tuple(x, y)", "b = ((f32[6], f32[6]), f32[6]) tuple(a, y)", "c = (f32[6], f32[6]) get-tuple-element(b), index=0",
                          "d = f32[6] get-tuple-element(c), index=1", "e = f32[6] get-tuple-element(b), index=1", "r = f32[6] multiply(d, e)"], ["f32[6]"])
program("constants", ["a = f32[2,3] constant({{1, -2.5, inf}, {nan, 1e-30, -0}})", "b = s4[4] constant({-8, 7, 0, 1})", "c = bf16[3] constant({1.5, -3, 0.1})", "d = pred[2] constant({true, false})",
                      "e = c64[2] constant({(1, 2), (-3, 0.5)})", "f = f8e4m3fn[3] constant({1, 448, -0.5})", "g = u64[1] constant({18446744073709551615})",
                      "t = (f32[2,3], s4[4], bf16[3], pred[2], c64[2], f8e4m3fn[3], u64[1]) tuple(a, b, c, d, e, f, g)"], [])

# Dynamic dimensions: what lies beyond the size takes no part.
SIZES = ["x = f32[8] parameter(0)", "n = s32[] parameter(1)", "y = f32[<=8] set-dimension-size(x, n), dimensions={0}"]
N = "s32[]:3,6"
program("dynamic_size", SIZES + ["r = s32[] get-dimension-size(y), dimensions={0}"], ["f32[8]", N])
program("dynamic_sum", SIZES + ["z = f32[] constant(0)", "r = f32[] reduce(y, z), dimensions={0}, to_apply=add"], ["f32[8]", N], 1e-6, ADD)
program("dynamic_maximum", SIZES + ["y2 = f32[<=8] add(y, y)", "z = f32[] constant(-inf)", "m = f32[] reduce(y2, z), dimensions={0}, to_apply=max", "s = s32[] get-dimension-size(y2), dimensions={0}", "r = (f32[], s32[]) tuple(m, s)"],
        ["f32[8]", N], 0, reducer("maximum", "f32", "max"))
program("dynamic_rows", ["x = f32[8,3] parameter(0)", "n = s32[] parameter(1)", "y = f32[<=8,3] set-dimension-size(x, n), dimensions={0}", "e = f32[<=8,3] exponential(y)", "z = f32[] constant(0)",
                         "r = f32[3] reduce(e, z), dimensions={0}, to_apply=add"], ["f32[8,3]", N], 1e-6, ADD)
program("dynamic_dot", SIZES + ["b = f32[8] parameter(2)", "c = f32[<=8] set-dimension-size(b, n), dimensions={0}", "r = f32[] dot(y, c), lhs_contracting_dims={0}, rhs_contracting_dims={0}"], ["f32[8]", N, "f32[8]"], 1e-6)
program("dynamic_broadcast", SIZES + ["b = f32[2,<=8] broadcast(y), dimensions={1}", "z = f32[] constant(0)", "r = f32[2] reduce(b, z), dimensions={1}, to_apply=add"], ["f32[8]", N], 1e-6, ADD)
program("dynamic_reset", SIZES + ["m = s32[] constant(8)", "w = f32[8] set-dimension-size(y, m), dimensions={0}", "s = s32[] get-dimension-size(w), dimensions={0}", "r = (s32[]) tuple(s)"], ["f32[8]", N])
program("dynamic_reshape", SIZES + ["one = s32[] constant(1)", "v = f32[<=8,1] dynamic-reshape(y, n, one)", "z = f32[] constant(0)", "t = f32[] reduce(v, z), dimensions={0,1}, to_apply=add",
                                    "s = s32[] get-dimension-size(v), dimensions={0}", "r = (f32[], s32[]) tuple(t, s)"], ["f32[8]", N], 1e-6, ADD)
program("dynamic_reshape_back", ["x = f32[1,6] parameter(0)", "n = s32[] parameter(1)", "y = f32[1,<=6] set-dimension-size(x, n), dimensions={1}", "v = f32[<=6] dynamic-reshape(y, n)", "z = f32[] constant(1)",
                                 "r = f32[] reduce(v, z), dimensions={0}, to_apply=mul"], ["f32[1,6]", N], 1e-6, reducer("multiply", "f32", "mul"))
program("dynamic_reshape_static", ["x = f32[2,6] parameter(0)", "a = s32[] constant(3)", "b = s32[] constant(4)", "r = f32[3,4] dynamic-reshape(x, a, b)"], ["f32[2,6]"])

# Random numbers, where every generator must give the same.
program("rng_bounds", ["a = f32[] constant(0)", "b = f32[] constant(2)", "u = f32[50] rng(a, b), distribution=rng_uniform", "c = f32[50] broadcast(a), dimensions={}", "d = f32[50] broadcast(b), dimensions={}",
                       "e = pred[50] compare(u, c), direction=GE", "f = pred[50] compare(u, d), direction=LT", "r = pred[50] and(e, f)"], [])
program("rng_one_integer", ["a = s32[] constant(3)", "b = s32[] constant(4)", "r = s32[20] rng(a, b), distribution=rng_uniform"], [])
program("rng_normal_is_finite", ["a = f32[] constant(5)", "b = f32[] constant(1)", "u = f32[50] rng(a, b), distribution=rng_normal", "r = pred[50] is-finite(u)"], [])
# Where XLA's CPU backend begins; and what comes of it.
for delta in (1, 3, 16):
    program(f"rng_state_{delta}", [f"a = u64[2] rng-get-and-update-state(), delta={delta}", "r = (u64[2], u32[4]) rng-bit-generator(a), algorithm=rng_philox"], [])

# What leaves the module: XLA runs the rest of it.
T = "t = token[] after-all()"
for k, (data, shape) in enumerate([("x", "f32[6]"), ("p", "(f32[6], s32[2])"), ("y", "f32[6]")]):
    rest = [X, "c = s32[2] constant({4, 5})", "p = (f32[6], s32[2]) tuple(x, c)", "y = f32[6] multiply(x, x)"]
    program(f"outfeed_{k}", rest + [T, f"o = token[] outfeed({data}, t), outfeed_shape={shape}", "r = f32[6] add-dependency(y, o)"], ["f32[6]"],
            xla=rest + ["r = f32[6] add(y, y)", "h = f32[6] subtract(r, y)"])
for k, more in enumerate(["", ", is_host_transfer=true", ", frontend_attributes={_xla_send_recv_source_target_pairs={{0,1}}}"]):
    rest = [X, "y = f32[6] multiply(x, x)"]
    program(f"send_{k}", rest + [T, f"s = (f32[6], u32[], token[]) send(y, t), channel_id={k + 1}{more}",
                                 f"d = token[] send-done(s), channel_id={k + 1}{more}", "r = f32[6] add-dependency(y, d)"], ["f32[6]"],
            xla=rest + ["z = f32[6] negate(y)", "r = f32[6] negate(z)"])
