"""With a size of 1, flattening a transposed tensor is no copy: what is written to it reaches the tensor."""

from property.case import Case, Input

CASE = Case(
    inputs=(Input(name="v0", shape=(1, 4, 1), dtype="f32", seed=795),),
    lines=(
        "v1 = v0 ** 2",
        "v2 = v1.mT",
        "v2.flatten().add_(1)",
    ),
    outputs=("v2",),
)
