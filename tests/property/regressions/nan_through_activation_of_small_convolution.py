"""What infinities of both signs make in a convolution of few channels is NaN after the activation, too."""

from property.case import Case, Input

CASE = Case(
    inputs=(Input(name="v0", shape=(4, 4, 3), dtype="f32", kind="edges", seed=52),),
    constants=(
        Input(name="w0", shape=(6,), dtype="f32", kind="small", seed=599),
        Input(name="w1", shape=(6, 2, 1), dtype="f32", kind="small", seed=798),
    ),
    lines=(
        "v1 = torch.sigmoid(F.conv1d(v0, w1, w0, padding=1, groups=2))",
        "v2 = F.silu(F.conv1d(v0, w1, w0, padding=2, groups=2))",
        "v3 = torch.tanh(F.conv1d(v0, w1, w0, groups=2))",
    ),
    outputs=("v1", "v2", "v3"),
)
