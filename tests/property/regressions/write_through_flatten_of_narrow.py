"""Dimensions that are counted from the end are the same dimensions."""

from property.case import Case, Input

CASE = Case(
    inputs=(Input(name="v0", shape=(3, 1, 1), dtype="f32", seed=196),),
    lines=(
        "v1 = v0.narrow(-3, 1, 2)",
        "v2 = v1.flatten()",
        "v2[..., 1:].sigmoid_()",
        "v3 = v0.reshape(v0.shape[0], -1)",
        "v4 = v3.select(-2, 0)",
        "v4.flatten().unsqueeze(0).add_(1)",
    ),
    outputs=("v4",),
)
