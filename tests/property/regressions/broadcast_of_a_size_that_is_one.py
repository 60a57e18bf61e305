"""Of two symbolic sizes the first may turn out to be 1: then the other counts."""

from property.case import Case, Input

CASE = Case(
    inputs=(Input(name="v0", shape=(3,), dtype="f32", kind="normal", seed=216, dynamic=(0,), layout=""),),
    lines=(
        "v1 = v0[: v0.shape[0] // 2]",
        "v2 = torch.broadcast_tensors(v1, v0)[0]",
    ),
    outputs=("v2",),
)
