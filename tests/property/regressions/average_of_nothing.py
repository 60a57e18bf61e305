"""An adaptive average of one place is a mean, which is NaN where there is nothing."""

from property.case import Case, Input

CASE = Case(
    inputs=(Input(name="v0", shape=(3, 7, 0), dtype="f32", kind="normal", seed=247, dynamic=(0, 1)),),
    lines=("v1 = F.adaptive_avg_pool1d(v0, 1)",),
    outputs=("v1",),
)
