"""The largest of complex numbers is no matter where none are compared."""

from property.case import Case, Input

CASE = Case(
    inputs=(Input(name="v0", shape=(8, 2), dtype="c128", kind="small", seed=778),),
    constants=(Input(name="w0", shape=(0,), dtype="i64", kind="indices"),),
    lines=("v1 = torch.index_reduce(v0, 1, w0, v0.index_select(1, w0), 'amax')",),
    outputs=("v1",),
)
