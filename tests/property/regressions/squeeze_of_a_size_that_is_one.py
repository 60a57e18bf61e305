"""A size that is computed, and that the export has found to be 1 for the sizes at hand, is squeezed."""

from property.case import Case, Input

CASE = Case(
    inputs=(Input(name="v0", shape=(1, 3, 4, 4), dtype="f32", seed=5, dynamic=(2,)),),
    constants=(Input(name="w0", shape=(2, 3, 4, 1), dtype="f32", seed=6),),
    lines=(
        "v1 = F.conv2d(v0, w0)",
        "v2 = v1.squeeze(2)",
        "v3 = v2.sum()",
    ),
    outputs=("v2", "v3"),
)
