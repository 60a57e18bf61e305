"""Products of complex numbers are not joined with what follows."""

from property.case import Case, Input

CASE = Case(
    inputs=(Input(name="v0", shape=(3, 3), dtype="c64"),),
    lines=("v1 = v0 @ v0", "v2 = v1 * torch.sigmoid(v1)", "v3 = torch.tanh(v0 @ v0.mT)"),
    outputs=("v2", "v3"),
)
