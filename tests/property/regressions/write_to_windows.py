"""Windows that do not overlap can be written to."""

from property.case import Case, Input

CASE = Case(
    inputs=(Input(name="v0", shape=(5, 6), dtype="f32"), Input(name="v1", shape=(), dtype="f32")),
    lines=("v0.unfold(1, 2, 3).add_(1)", "v0.unfold(0, 2, 2)[1].mul_(2)", "v1.unfold(0, 1, 1).add_(1)"),
    outputs=("v0", "v1"),
)
