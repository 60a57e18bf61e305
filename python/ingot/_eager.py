"""An exported program in eager, with a look at any of its values."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch.utils import _pytree as pytree

from ingot._serialize import weight_ref

if TYPE_CHECKING:
    from torch.export import ExportedProgram

    from ingot import _core

Tap = tuple[str, str, str]
"""A value, the node before which it is looked at (empty: when it was made), and what the result is called."""


class Eager(torch.fx.Interpreter):
    """Every call gives the same: random numbers start from one seed, and nothing of the caller's is written to."""

    def __init__(self, program: ExportedProgram, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        super().__init__(program.graph_module)
        self._flat = program._graph_module_flat_inputs(args, dict(kwargs))
        self._nodes = {node.name: node for node in program.graph.nodes}
        self._made: dict[str, list[str]] = {}
        self._before: dict[str, list[tuple[str, str]]] = {}
        self._seen: dict[str, torch.Tensor] = {}

    def look(self, taps: Sequence[Tap]) -> tuple[list[_core.WeightRef], dict[str, torch.Tensor]]:
        """Where the values lie, and what keeps them there."""
        self._made, self._before, self._seen = {}, {}, {}
        for value, before, key in taps:
            if before:
                self._before.setdefault(before, []).append((value, key))
            else:
                self._made.setdefault(value, []).append(key)
        self.outputs()
        seen = self._seen
        self._seen = {}
        return [weight_ref(key, tensor, False, False) for key, tensor in seen.items()], seen

    def outputs(self) -> Any:
        """What the graph gives, flat; changed buffers first."""
        with torch.no_grad(), seeded():
            return self.run(*[_copy(value) for value in self._flat])

    def run_node(self, n: torch.fx.Node) -> Any:
        for value, key in self._before.get(n.name, ()):
            self._record(key, self.env[self._nodes[value]])
        result = super().run_node(n)
        for key in self._made.get(n.name, ()):
            self._record(key, result)
        return result

    def _record(self, key: str, value: Any) -> None:
        if isinstance(value, bool):
            value = torch.tensor(value)
        elif isinstance(value, int | float):
            value = torch.tensor(value, dtype=torch.int64 if isinstance(value, int) else torch.float64)
        if isinstance(value, torch.Tensor):
            self._seen[key] = plain(value)


def plain(tensor: torch.Tensor) -> torch.Tensor:
    """A copy that lies row by row in the CPU's memory."""
    tensor = tensor.detach().resolve_conj().resolve_neg().cpu()
    return tensor.clone(memory_format=torch.contiguous_format)


def _copy(value: Any) -> Any:
    # Parameters are not written to in a forward pass, and are most of the memory.
    is_copied = isinstance(value, torch.Tensor) and not isinstance(value, torch.nn.Parameter)
    return value.detach().clone() if is_copied else value


def copied(arguments: Any) -> Any:
    return pytree.tree_map(_copy, arguments)


@contextlib.contextmanager
def seeded() -> Iterator[None]:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        yield


@contextlib.contextmanager
def same_buffers(model: torch.nn.Module) -> Iterator[None]:
    """Buffers have their old content afterwards."""
    before = [(buffer, buffer.detach().clone()) for buffer in model.buffers()]
    try:
        yield
    finally:
        with torch.no_grad():
            for buffer, content in before:
                buffer.copy_(content)
