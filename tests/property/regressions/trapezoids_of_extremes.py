"""Sums of numbers that wrap or are infinite are taken in the order of eager."""

from property.case import Case, Input

CASE = Case(
    inputs=(
        Input(name="v0", shape=(3, 5), dtype="i32", kind="edges"),
        Input(name="v1", shape=(9,), dtype="f32", kind="edges"),
    ),
    lines=("v2 = torch.trapezoid(v0)", "v3 = torch.trapezoid(v1)", "v4 = torch.cumulative_trapezoid(v0[:, :0])"),
    outputs=("v2", "v3", "v4"),
)
