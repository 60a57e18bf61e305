"""Booleans have products where there is nothing to compute."""

from property.case import Case, Input

CASE = Case(
    inputs=(Input(name="v0", shape=(2, 0, 8), dtype="b1", kind="normal", seed=191),),
    lines=(
        "v1 = v0 @ v0.mT",
        "v2 = v0.mT @ v0",
    ),
    outputs=("v1", "v2"),
)
