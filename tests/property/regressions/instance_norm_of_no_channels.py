"""Instance norms of no channels."""

from property.case import Case, Input

CASE = Case(
    inputs=(Input(name="v0", shape=(4, 0, 8), dtype="f32", kind="normal", seed=990),),
    lines=("v1 = F.instance_norm(v0)",),
    outputs=("v1",),
)
