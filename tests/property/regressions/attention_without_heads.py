from property.case import Case, Input

CASE = Case(
    inputs=(Input(name="v0", shape=(1, 0, 1, 1), dtype="f32"),),
    lines=(
        "v1 = F.scaled_dot_product_attention(v0, v0, v0, scale=0.5)",
        "v2 = v1.sum()",
    ),
    outputs=("v1", "v2"),
)
