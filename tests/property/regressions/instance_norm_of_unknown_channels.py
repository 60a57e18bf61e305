"""The number of channels may be a symbol."""

from property.case import Case, Input

CASE = Case(
    inputs=(Input(name="v0", shape=(2, 3, 4), dtype="f32", kind="normal", dynamic=(0, 1, 2)),),
    lines=("v1 = F.instance_norm(v0)",),
    outputs=("v1",),
)
