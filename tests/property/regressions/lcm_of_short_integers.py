"""The magnitude is taken before the number wraps."""

from property.case import Case, Input

CASE = Case(
    inputs=(Input(name="v0", shape=(40,), dtype="i8", kind="edges"),),
    lines=("v1 = torch.lcm(v0, torch.full_like(v0, 2))", "v2 = torch.lcm(v0, v0.flip(0))"),
    outputs=("v1", "v2"),
)
