"""The median of no elements is NaN, also where their number is not known before."""

from property.case import Case, Input

CASE = Case(
    inputs=(Input(name="v0", shape=(2, 0), dtype="f32", seed=162, dynamic=(0,)),),
    lines=(
        "v1 = torch.median(v0)",
        "v2 = torch.median(v0[v0 > 0])",
    ),
    outputs=("v1", "v2"),
)
