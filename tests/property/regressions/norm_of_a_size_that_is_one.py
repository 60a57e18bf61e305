"""A norm's result may have a size that export found out, and its operand a symbol."""

from property.case import Case, Input

CASE = Case(
    inputs=(Input(name="v0", shape=(2, 17), dtype="f64", kind="small", seed=399, dynamic=(0,)),),
    lines=(
        "v1 = v0.tensor_split(2, -2)[0]",
        "v2 = F.layer_norm(v1, (17,))",
        "v3 = torch.softmax(v1, -1)",
    ),
    outputs=("v2", "v3"),
)
