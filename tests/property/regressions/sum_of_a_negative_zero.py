"""The sum of a tensor without dimensions begins with 0, as all sums do."""

from property.case import Case, Input

CASE = Case(
    inputs=(Input(name="v0", shape=(), dtype="f32", kind="edges", seed=290),),
    lines=(
        "v1 = 1 / v0.sum()",
        "v2 = 1 / v0.mean()",
        "v3 = 1 / torch.nansum(v0)",
    ),
    outputs=("v1", "v2", "v3"),
)
