"""A roll of no elements, whose number is computed."""

from property.case import Case, Input

CASE = Case(
    inputs=(Input(name="v0", shape=(0, 3, 8, 2), dtype="i8", kind="normal", seed=978, dynamic=(2, 3)),),
    lines=("v1 = torch.roll(v0, 1)", "v2 = torch.roll(v0, -3, 2)"),
    outputs=("v1", "v2"),
)
