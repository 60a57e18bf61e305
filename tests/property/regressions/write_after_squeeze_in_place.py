"""What the caller's tensor holds is written back in the tensor's own shape, though the program sees another one."""

from property.case import Case, Input

CASE = Case(
    inputs=(
        Input(name="v0", shape=(4, 1, 3, 2), dtype="f64", kind="small", seed=245, dynamic=()),
        Input(name="v1", shape=(2, 3), dtype="f32", kind="small", seed=246, dynamic=()),
    ),
    lines=("v0.squeeze_().sub_(1)", "v2 = v0 + 1", "v1.t_()", "v1.mul_(2)", "v3 = v1 * 3"),
    outputs=("v2", "v3"),
)
