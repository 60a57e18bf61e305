"""Also where sizes are symbols, flattening can be a view: what is written to it reaches the tensor."""

from property.case import Case, Input

CASE = Case(
    inputs=(Input(name="v0", shape=(1, 1, 1, 2), dtype="f32", seed=519, dynamic=(3,)),),
    lines=("v1 = v0.transpose(0, 1)", "v2 = v1[::2]", "v2.flatten().add_(1)"),
    outputs=("v1",),
)
