"""Elements that are one place in memory must not be written to, unless there are none."""

from property.case import Case, Input

CASE = Case(
    inputs=(Input(name="v0", shape=(), dtype="bf16", seed=154), Input(name="v1", shape=(4, 0, 1), dtype="bf16")),
    lines=("v2 = torch.broadcast_tensors(v1, v0)[1]", "v2[0][1:].add_(v0, alpha=2)"),
    outputs=("v2",),
)
