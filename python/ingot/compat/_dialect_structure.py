"""Builders of the `coreai` dialect for graphs and calls, and those that have no counterpart."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from ingot import ops
from ingot.compat._emit import builder
from ingot.errors import UnsupportedError, UsageError


@builder()
def invoke(graph: Any, *operands: Any) -> Any:
    """Calls a graph that `@graph` made."""
    if not callable(graph):
        raise UsageError(f"invoke takes a graph made by `@graph`, not {type(graph).__name__}")
    values = operands[0] if len(operands) == 1 and isinstance(operands[0], Sequence) else operands
    return graph(*values)


def _refused(name: str, why: str, *names: str) -> Callable[..., NoReturn]:
    def build(*_: Any, **__: Any) -> NoReturn:
        raise UnsupportedError(f"coreai.{name} cannot be built: {why}")

    build.__name__ = name
    build.__doc__ = f"Not available: {why}."
    return builder(*names)(build)


@builder("if")
def if_(condition: Any, then: Callable[[], Any], otherwise: Callable[[], Any]) -> Any:
    """What one of two functions builds, by a boolean."""
    return ops.if_(condition, then, otherwise)


@builder("while")
def while_(test: Callable[..., Any], step: Callable[..., Any], *carried: Any) -> Any:
    """Carried values, replaced by `step` as long as `test` holds."""
    return ops.while_(test, step, *carried)


_HANDLES = "states are updated by the values that the graph returns for them, without handles and tokens"
_REGIONS = "the functions given to if_ and while_ return what a branch or a step gives"
_REFUSED = [
    _refused("create_token", _HANDLES),
    _refused("read_handle", _HANDLES),
    _refused("write_handle", _HANDLES),
    _refused("condition", _REGIONS),
    _refused("yield_", _REGIONS, "yield"),
    _refused("output", "a graph's function returns its outputs"),
    _refused("metal4_kernel", "Metal kernels are used through coreai_torch.TorchMetalKernel"),
]

BUILDERS: dict[str, Any] = {
    name: function
    for function in (invoke, if_, while_, *_REFUSED)
    for name in function.names  # type: ignore[attr-defined]
}
if hasattr(ops, "graph"):
    BUILDERS["graph"] = ops.graph
