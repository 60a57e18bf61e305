"""Of three sizes that are symbols the exporter took one to be 1; its expression tells which."""

from property.case import Case, Input

CASE = Case(
    inputs=(Input(name="v0", shape=(3, 4, 3), dtype="u8", kind="small", seed=264, dynamic=(0, 1, 2)),),
    lines=("v1 = v0.mT", "v2 = v1.chunk(2)[1]", "v2[:, 1:].squeeze_().sub_(1)", "v3 = v2 // 2"),
    outputs=("v3",),
)
