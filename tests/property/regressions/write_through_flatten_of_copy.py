"""Where flattening copies, what is written to the copy stays there."""

from property.case import Case, Input

CASE = Case(
    inputs=(Input(name="v0", shape=(3, 4), dtype="f32", seed=1),),
    lines=(
        "v1 = v0.T.flatten()",
        "v1.add_(1)",
        "v2 = v0[:, ::2].reshape(-1)",
        "v2.mul_(2)",
        "v3 = v0[:, 1:].contiguous()",
        "v3.zero_()",
        "v4 = v0.contiguous()",
        "v4[0] = 1",
    ),
    outputs=("v1", "v2", "v3", "v4"),
)
