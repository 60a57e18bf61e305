"""`y[0] = f(y)[0]` changes one row, not all of them."""

from property.case import Case, Input

CASE = Case(
    inputs=(Input(name="v0", shape=(3, 3), dtype="f32", kind="small", seed=5),),
    constants=(Input(name="w0", shape=(4, 3), dtype="f32", kind="small", seed=7),),
    lines=(
        "v1 = v0 @ v0.T",
        "v1[0] = (v1 * 2)[0]",
        "v2 = v1 * 1",
        "w0[:2] = F.relu(w0)[:2]",
        "v3 = w0 + v0[:1]",
        "v0[:, 0] = torch.softmax(v0, -1)[:, 0]",
        "v4 = v0 * 1",
    ),
    outputs=("v2", "v3", "v4"),
)
