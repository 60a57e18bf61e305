"""Eager's result for -1 and -1 is no 0, by which remainders can be taken."""

from property.case import Case, Input

CASE = Case(
    inputs=(Input(name="v0", shape=(8, 5), dtype="bf16", kind="small", seed=130, dynamic=(), layout=""),),
    lines=(
        "v1 = v0.to(f64)",
        "v2 = torch.logaddexp2(v1, v1)",
        "v3 = torch.remainder(v2, v2)",
    ),
    outputs=("v3",),
)
