"""`coreai._compiler.dialects.coreai`: a builder for every op of the original's dialect, over `ingot.ops`.

Operands are values, or Python's numbers, lists and numpy's arrays, which become constants. Lists of sizes, axes and
positions may also be values. Two operands of different element types are promoted as torch promotes them.
"""

from __future__ import annotations

from ingot.compat import _dialect_math, _dialect_nn, _dialect_shape, _dialect_structure

_BUILDERS = {
    **_dialect_math.BUILDERS,
    **_dialect_shape.BUILDERS,
    **_dialect_nn.BUILDERS,
    **_dialect_structure.BUILDERS,
}
__all__ = sorted(_BUILDERS)

globals().update(_BUILDERS)
