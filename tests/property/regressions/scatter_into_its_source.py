"""A tensor that is scattered into itself was changed while it was read."""

from property.case import Case, Input

CASE = Case(
    inputs=(Input(name="v0", shape=(4, 2), dtype="c64", seed=836),),
    constants=(Input(name="w0", shape=(4, 2), dtype="i64", kind="indices", seed=741),),
    lines=(
        "v1 = v0 - 1.5",
        "v2 = torch.scatter_add(v1, -1, w0, v1)",
    ),
    outputs=("v2",),
)
