"""What differs from XLA on purpose. Everything else is a bug, ours or XLA's."""
import re

# (what was compared, a pattern of the difference, the reason)
DELIBERATE = [
    ("text", "async-start in its short form",
     "we print async-start as a call of its computation: XLA's short form loses the computation's name"),
    ("value", "XLA differs from itself",
     "XLA compiles the same module to other values with less optimisation (seen: count-leading-zeros, f8e3m4)"),
    ("cost", r"bytes accessed: .*a fusion gathers", "XLA counts a fusion that gathers from a constant as the gather alone"),
    ("value", r"float8_e3m4.* vs nan", "XLA's CPU backend makes NaN of round-nearest-even of an f8e3m4 constant"),
    ("proto", r"(statistics=\{[^}]*\}), \1", "XLA's reader of protos prints statistics twice"),
    ("proto", "XLA refuses its own", "XLA does not read its own proto (constants of u1)"),
]


def explain(kind, message):
    for what, pattern, reason in DELIBERATE:
        if what == kind and re.search(pattern, message, re.DOTALL):
            return reason
    return None


def normal(text):
    return text.strip()
