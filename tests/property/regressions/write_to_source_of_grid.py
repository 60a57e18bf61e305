"""What meshgrid and broadcast_tensors give are views."""

from property.case import Case, Input

CASE = Case(
    inputs=(Input(name="v0", shape=(3,), dtype="f32"), Input(name="v1", shape=(2, 3), dtype="f32")),
    lines=(
        "v2 = torch.meshgrid(v0, v1[0], indexing='xy')[0]",
        "v3 = torch.meshgrid(v0, v1[0], indexing='ij')[1]",
        "v4 = torch.broadcast_tensors(v1, v0)[0]",
        "v0.add_(1)",
        "v4.mul_(2)",
    ),
    outputs=("v2", "v3", "v4"),
)
