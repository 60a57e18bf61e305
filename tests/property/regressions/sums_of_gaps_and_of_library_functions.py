"""Long sums are sums of short ones, also where loops do not become vectors: over gaps, and around library functions."""

from property.case import Case, Input

CASE = Case(
    inputs=(
        Input(name="v0", shape=(2, 1000), dtype="f32", seed=1, layout="spread"),
        Input(name="v1", shape=(2, 1000), dtype="f32", seed=2),
    ),
    lines=(
        "v2 = (v0 * 0 + 22.197951).sum(-1)",
        "v3 = (v0 * 0 + 3.1).mean()",
        "v4 = (v1 * 0 + 0.7).atan().sum(-1)",
        "v5 = (v1 * 0 + 0.7).erfc().mean(-1)",
    ),
    outputs=("v2", "v3", "v4", "v5"),
)
