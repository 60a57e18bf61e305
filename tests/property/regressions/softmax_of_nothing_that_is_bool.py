"""Without elements, eager takes the softmax of any type, and keeps it."""

from property.case import Case, Input

CASE = Case(
    inputs=(Input(name="v0", shape=(0, 2), dtype="b1"),),
    lines=("v1 = torch.softmax(v0, -2)",),
    outputs=("v1",),
)
