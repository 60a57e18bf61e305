"""A NaN in a convolution or a product stays one in the activation that is folded into it."""

from property.case import Case, Input

CASE = Case(
    inputs=(
        Input(name="v0", shape=(3, 66, 7), dtype="f32", kind="edges", seed=182),
        Input(name="v1", shape=(1, 8, 17, 1), dtype="f32", kind="edges", seed=298),
    ),
    constants=(Input(name="w0", shape=(4, 66, 1), dtype="f32", seed=503),),
    lines=(
        "v2 = torch.clamp(F.conv1d(v0, w0), 0, 6)",
        "v3 = torch.relu(F.conv1d(v0, w0, padding=2))",
        "v4 = F.hardsigmoid(F.conv1d(v0, w0, stride=2))",
        "v5 = F.relu6(v1.mT @ v1)",
    ),
    outputs=("v2", "v3", "v4", "v5"),
)
