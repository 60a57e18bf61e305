"""Sums of complex numbers multiply by alpha: an infinite part makes the other one NaN."""

from property.case import Case, Input

CASE = Case(
    inputs=(Input(name="v0", shape=(7, 3), dtype="f64", kind="edges"), Input(name="v1", shape=(3,), dtype="c128")),
    lines=("v2 = v1 + v0", "v3 = v0 - v1", "v4 = torch.sub(v1, v0, alpha=2)"),
    outputs=("v2", "v3", "v4"),
)
