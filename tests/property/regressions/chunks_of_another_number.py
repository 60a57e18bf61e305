"""The number of chunks is the one that was exported: other sizes are refused, not computed wrongly."""

from property.case import Case, Input

CASE = Case(
    inputs=(Input(name="v0", shape=(4, 4), dtype="f32", seed=44, dynamic=(0,)),),
    lines=("v1 = v0.split(2, -2)[-1]",),
    outputs=("v1",),
)
