"""Element types of HLO, for the generator: what they are worth and what values
they take exactly."""
SIGNED = ["s2", "s4", "s8", "s16", "s32", "s64"]
UNSIGNED = ["u2", "u4", "u8", "u16", "u32", "u64"]
ONE_BIT = ["s1", "u1"]  # texts only: XLA's CPU does not run them
INTS = SIGNED + UNSIGNED
FLOATS = ["f16", "bf16", "f32", "f64"]
F8 = ["f8e5m2", "f8e4m3", "f8e4m3fn", "f8e4m3b11fnuz", "f8e3m4", "f8e5m2fnuz", "f8e4m3fnuz"]
TINY = ["f4e2m1fn", "f8e8m0fnu"]  # moved and converted only
F6 = ["f6e3m2fn", "f6e2m3fn"]  # texts only: XLA's CPU does not run them
COMPLEX = ["c64", "c128"]
ARRAYS = ["pred"] + INTS + FLOATS + F8 + TINY + COMPLEX
# Drawn for parameters: what programs mostly are made of is mostly drawn.
COMMON = ["f32"] * 8 + ["s32"] * 4 + ["bf16", "f64", "f16", "pred"] * 2


def is_int(kind):
    return kind[0] in "su" and kind != "s"


def is_float(kind):
    return kind[0] in "fb"


def is_complex(kind):
    return kind[0] == "c"


def bits(kind):
    if kind == "pred":
        return 8
    if kind == "bf16":
        return 16
    return int(kind[1:].split("e")[0])


def integer_range(kind):
    n = bits(kind)
    return (-2 ** (n - 1), 2 ** (n - 1) - 1) if kind[0] == "s" else (0, 2 ** n - 1)


def random_element(kind, r):
    """A value, as HLO text, that the type has exactly."""
    if kind == "pred":
        return r.choice(["true", "false"])
    if is_int(kind):
        low, high = integer_range(kind)
        if r.random() < 0.05:
            return str(r.choice([low, high]))
        return str(r.randint(max(low, -9), min(high, 9)))
    if is_complex(kind):
        return f"({r.randint(-8, 8) / 4}, {r.randint(-8, 8) / 4})"
    if kind == "f8e8m0fnu":
        return str(r.choice([0.25, 0.5, 1.0, 2.0, 4.0]))
    if kind in F8 + F6 + ["f4e2m1fn"]:
        return str(r.choice([0.0, 0.5, 1.0, -1.0, 1.5, -1.5, 2.0, -2.0, 3.0]))
    return str(r.randint(-32, 32) / 8)
