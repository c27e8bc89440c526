"""What differs from XLA on purpose. Everything else is a bug, ours or XLA's."""
import re

# (what was compared, a pattern of the difference, the reason)
DELIBERATE = [
    ("text", "async-start in its short form",
     "we print async-start as a call of its computation: XLA's short form loses the computation's name"),
    ("value", "XLA differs from itself",
     "XLA compiles the same module to other values with less optimisation or no fusion (seen: count-leading-zeros, f8e3m4, an update that overlaps"
     " the slice that it writes)"),
    ("cost", "windows cover all",
     "XLA counts a reduce-window that sees all n elements at every place as n - 1 + (elements of the other dimensions) applications; any way to do it"
     " takes their product"),
    ("cost", r"(bytes accessed|flops|transcendentals): .*a fusion gathers", "XLA counts a fusion that gathers from a constant as the gather alone"),
    ("value", r"float8_e3m4.* vs nan", "XLA's CPU backend makes NaN of round-nearest-even of an f8e3m4 constant"),
    ("value", r"float8_e8m0fnu.*: nan vs",
     "XLA's CPU backend drops the sign of what becomes f8e8m0fnu, and makes 2^-127 of 0: NaN in ml_dtypes (XLA's own evaluator) and here"),
    ("proto", r"(statistics=\{[^}]*\}), \1", "XLA's reader of protos prints statistics twice"),
    ("proto", r"ours: .*-start\(.*statistics=\{[^}]*\}, (fronte|shardin).* vs .*-start", "XLA's reader of protos prints statistics twice"),
    ("proto", "XLA refuses its own", "XLA does not read its own proto (constants of u1)"),
]


def explain(kind, message):
    for what, pattern, reason in DELIBERATE:
        if what == kind and re.search(pattern, message, re.DOTALL):
            return reason
    return None


def normal(text):
    return text.strip()
