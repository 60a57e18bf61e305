"""Pieces whose sizes are symbols can be written to."""

from property.case import Case, Input

CASE = Case(
    inputs=(Input(name="v0", shape=(4, 6), dtype="f32", dynamic=(0, 1)),),
    lines=("v0.chunk(2, -1)[1].mul_(2)", "v0.tensor_split(2)[0].add_(1)", "v0.narrow(0, v0.shape[0] // 2, 1).neg_()"),
    outputs=("v0",),
)
