from property.case import Case, Input

CASE = Case(
    inputs=(Input(name="v0", shape=(2, 1), dtype="f32", layout="spread"),),
    lines=(
        "v1 = v0.ravel()",
        "v1.mul_(2)",
    ),
    outputs=("v1",),
)
