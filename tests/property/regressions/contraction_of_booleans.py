"""Whether any pair is true. Eager takes booleans only where they do not lie one beside the other."""

from property.case import Case, Input

CASE = Case(
    inputs=(Input(name="v0", shape=(8, 3), dtype="b1", seed=116, layout="spread"),),
    lines=("v1 = torch.tensordot(v0, v0, v0.dim())",),
    outputs=("v1",),
)
