"""Nothing is left of no images where the padding takes all of a transposed convolution."""

from property.case import Case, Input

CASE = Case(
    inputs=(Input(name="v0", shape=(0, 6, 16, 2), dtype="f32", seed=532),),
    constants=(Input(name="w0", shape=(6, 2, 2, 2), dtype="f32", seed=765),),
    lines=("v1 = F.conv_transpose2d(v0, w0, None, stride=1, padding=2, dilation=2)",),
    outputs=("v1",),
)
