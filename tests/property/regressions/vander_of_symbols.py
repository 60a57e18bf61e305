"""As many powers as there are numbers, which is a symbol."""

from property.case import Case, Input

CASE = Case(
    inputs=(Input(name="v0", shape=(3, 1), dtype="c128", kind="small", dynamic=(0,)),),
    lines=(
        "v1 = v0.ravel().chunk(2, -1)[0]",
        "v2 = torch.vander(v1)",
        "v3 = torch.linalg.vander(v0, N=4)",
        "v4 = torch.vander(v1, increasing=True)",
    ),
    outputs=("v2", "v3", "v4"),
)
