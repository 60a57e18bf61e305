from property.case import Case, Input

CASE = Case(
    inputs=(
        Input(name="v0", shape=(1, 1, 0), dtype="f32"),
        Input(name="v1", shape=(2, 0), dtype="f32"),
    ),
    lines=(
        "v2 = F.adaptive_avg_pool1d(v0[5:, 5:], 1)",
        "v3 = torch.softmax(v1, -1)",
    ),
    outputs=("v2", "v3"),
)
