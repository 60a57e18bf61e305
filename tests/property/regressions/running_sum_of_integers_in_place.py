"""Its type is that of the tensor, and not int64."""

from property.case import Case, Input

CASE = Case(
    inputs=(Input(name="v0", shape=(3, 2), dtype="i8", kind="edges"),),
    lines=("v0.cumsum_(0)", "v0.fill_diagonal_(3)", "v0[1].cumprod_(0)"),
    outputs=("v0",),
)
