"""Decomposed, the new content of the buffer is one number, which `copy_` would broadcast."""

from property.case import Case, Input

CASE = Case(
    inputs=(Input(name="v0", shape=(4,), dtype="i64", kind="edges", seed=851),),
    constants=(Input(name="w0", shape=(4,), dtype="i64", kind="indices", seed=620),),
    lines=("w0.real[...] = 1", "v1 = v0.to(i8)"),
    outputs=("v1",),
)
