"""An export bounds a size that depends on data by an integer beyond 64 bits."""

from property.case import Case, Input

CASE = Case(
    inputs=(Input(name="v1", shape=(1, 2, 1, 1), dtype="c64", kind="small", dynamic=(1,)),),
    lines=("v3 = torch.argwhere(v1)", "v4 = -v3", "v5 = torch.nonzero(v3)", "v4[:-1, 1:] = 1"),
    outputs=("v4",),
)
