"""Export takes the last size of the convolution for 1, which holds for no other width. A cluster broadcast it."""

from property.case import Case, Input

CASE = Case(
    inputs=(Input(name="v0", shape=(1, 3, 3, 3), dtype="f32", kind="small", seed=997, dynamic=(2, 3)),),
    constants=(
        Input(name="w1", shape=(3, 1, 1, 2), dtype="f32", kind="small", seed=11),
        Input(name="w2", shape=(1, 1, 1, 1), dtype="f32", kind="small", seed=928),
    ),
    lines=(
        "v6 = F.conv2d(v0, w1, None, stride=2, padding=0, dilation=2, groups=3)",
        "v7 = v6 * 0.5 + w2",
    ),
    outputs=("v7",),
)
