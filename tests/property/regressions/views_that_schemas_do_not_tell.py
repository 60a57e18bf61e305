"""These are views although their schemas do not say so."""

from property.case import Case, Input

CASE = Case(
    inputs=(Input(name="v0", shape=(4,), dtype="f32"),),
    lines=("torch.atleast_2d(v0).add_(1)", "v0.type_as(v0).mul_(2)", "v0.unsafe_chunk(2)[1].sub_(1)"),
    outputs=("v0",),
)
