"""oneDNN has no such product, with a bias of many dimensions; the reference has to take it."""

from property.case import Case, Input

CASE = Case(
    inputs=(
        Input(name="v0", shape=(), dtype="b1", kind="small", seed=964, dynamic=(), layout=""),
        Input(name="v1", shape=(), dtype="f32", kind="small", seed=846, dynamic=(), layout=""),
        Input(name="v2", shape=(1, 1, 17), dtype="f32", kind="small", seed=941, dynamic=(), layout=""),
    ),
    constants=(
        Input(name="w1", shape=(8, 17), dtype="f32", kind="small", seed=865, dynamic=(), layout=""),
        Input(name="w2", shape=(8,), dtype="f32", kind="small", seed=639, dynamic=(), layout=""),
        Input(name="w4", shape=(1, 1, 1, 8), dtype="f32", kind="small", seed=573, dynamic=(), layout=""),
        Input(name="w5", shape=(1, 1, 1, 8), dtype="f32", kind="small", seed=932, dynamic=(), layout=""),
        Input(name="w7", shape=(1, 1, 1, 8), dtype="f32", kind="small", seed=393, dynamic=(), layout=""),
    ),
    lines=(
        "v3 = v2.expand(2, *[-1] * v2.dim())",
        "v4 = torch.bitwise_not(v0)",
        "v5 = F.threshold(v3, 0.5, 2)",
        "v6 = F.linear(v3, w1, w2)",
        "v7 = w4 + v6",
        "v8 = v7 - w5",
        "v9 = v8 * w7",
        "v10 = F.hardsigmoid(v9)",
    ),
    outputs=(
        "v4",
        "v5",
        "v10",
        "w5",
    ),
)
