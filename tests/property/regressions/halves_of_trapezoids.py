"""Running integrals add halves up: where sums of integers wrap, that is another number than half a sum."""

from property.case import Case, Input

CASE = Case(
    inputs=(
        Input(name="v0", shape=(16, 4, 7), dtype="i64", kind="edges", seed=988, dynamic=(0, 2), layout="reversed"),
    ),
    lines=("v1 = torch.cumulative_trapezoid(v0, dim=0)",),
    outputs=("v1",),
)
