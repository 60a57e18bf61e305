"""Kernels that cannot run here: each call becomes a function that computes the kernel's reference."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch.fx.experimental.symbolic_shapes import statically_known_true

from ingot import _kernel_ops
from ingot._external_calls import Call, Sizes, calls
from ingot._lowering import arguments_of
from ingot._tracing import tracing
from ingot.conversion import Part

if TYPE_CHECKING:
    from torch.export import ExportedProgram

    from ingot._kernel import Kernel

_libraries: dict[str, torch.library.Library] = {}
"""By name, the operators that stand for the calls; programs are only bound to them while they are converted."""


@dataclass(frozen=True)
class Reference:
    """What a call is computed by, and the kernel that it stands for, as text of an MLIR attribute."""

    kernel: Kernel
    schema: str
    attribute: str


@contextlib.contextmanager
def bound_kernels(parts: Sequence[Part], kernels: Mapping[str, Kernel]) -> Iterator[list[Part]]:
    """The parts and the references of the kernels that they call. `kernels` goes by operator names.

    Until the end the calls use operators of their own; then the programs are as they were.
    """
    bound = _Bound(kernels)
    try:
        yield bound.all_parts(parts)
    finally:
        bound.restore()


class _Bound:
    def __init__(self, kernels: Mapping[str, Kernel]) -> None:
        self._kernels = kernels
        self._bodies: dict[str, Part] = {}
        self._changed: list[tuple[torch.fx.Node, Any]] = []

    def all_parts(self, parts: Sequence[Part]) -> list[Part]:
        queue = list(parts)
        for part in queue:  # grows: references may call kernels
            for _, node in calls(part.program):
                kernel = self._kernels.get(node.target._schema.name)  # type: ignore[union-attr]
                if kernel is None:
                    continue
                kernel.check_call(node)
                reference = kernel.reference(node)
                if reference is not None:
                    queue += self._bind(part.program, node, reference)
        return queue

    def _bind(self, program: ExportedProgram, node: torch.fx.Node, reference: Reference) -> list[Part]:
        """Lets the node use the operator of its body. The body, if it is a new one."""
        call = _ReferenceCall(node, reference.kernel)
        sizes = Sizes(program)
        key = repr((sizes.signature(call.as_call), call.literals, reference.schema, reference.attribute))
        symbol = f"{reference.kernel.name}_{hashlib.sha256(key.encode()).hexdigest()[:16]}"
        op_name = f"{reference.kernel.namespace}::{symbol}"
        if op_name not in _libraries:
            _libraries[op_name] = _kernel_ops.declare(op_name, reference.schema)
        self._changed.append((node, node.target))
        node.target = getattr(getattr(torch.ops, reference.kernel.namespace), symbol).default
        if op_name in self._bodies:
            return []
        body = _export(call, sizes)
        self._bodies[op_name] = Part.body(body, op_name, symbol, f"{symbol}.", "", metal_kernel=reference.attribute)
        return [self._bodies[op_name]]

    def restore(self) -> None:
        for node, target in self._changed:
            node.target = target


class _ReferenceCall(torch.nn.Module):
    """The reference as a module of what varies in one call: all tensors, and numbers that the program computes."""

    def __init__(self, node: torch.fx.Node, kernel: Kernel) -> None:
        super().__init__()
        self._kernel = kernel
        given = arguments_of(node)
        self.names = list(given)
        self.varying = {name: each.meta["val"] for name, each in given.items() if isinstance(each, torch.fx.Node)}
        self.literals = {name: each for name, each in given.items() if not isinstance(each, torch.fx.Node)}

    @property
    def as_call(self) -> Call:
        # A number is like a tensor with as many elements, as far as sizes are concerned.
        stand_ins = {
            name: value if isinstance(value, torch.Tensor) else torch.empty(value, device="meta")
            for name, value in self.varying.items()
        }
        return Call(stand_ins, ())

    def forward(self, *values: Any) -> Any:
        given = dict(zip(self.varying, values, strict=True)) | self.literals
        # Fresh results: a function may not give back what it was given.
        results = [result.clone() for result in self._kernel.run_reference(*(given[name] for name in self.names))]
        return results[0] if len(results) == 1 else tuple(results)


def _export(call: _ReferenceCall, sizes: Sizes) -> ExportedProgram:
    args, dims, loose = [], [], []
    for value in call.varying.values():
        if isinstance(value, torch.Tensor):
            args.append(torch.empty([sizes.example(size) for size in value.shape], dtype=value.dtype))
            varying = {axis: size for axis, size in enumerate(value.shape) if not isinstance(size, int)}
            dims.append({axis: sizes.dim(size) for axis, size in varying.items()} or None)
            loose.append(dict.fromkeys(varying, torch.export.Dim.AUTO) or None)
        else:
            args.append(sizes.example(value))
            dims.append(torch.export.Dim.DYNAMIC)
            loose.append(torch.export.Dim.AUTO)
    with tracing(), torch.no_grad():
        try:
            return torch.export.export(call, tuple(args), dynamic_shapes=(tuple(dims),), strict=False)
        except torch._dynamo.exc.UserError:
            # Sizes may be related in a way that Dims cannot say; torch can find out what the reference needs.
            return torch.export.export(call, tuple(args), dynamic_shapes=(tuple(loose),), strict=False)


# Lists of numbers that a program makes into tensors.

_SAME = {"to", "_to_copy", "detach", "detach_", "alias", "clone", "lift_fresh_copy", "unsqueeze", "view", "reshape"}


def constant_sizes(argument: Any) -> list[Any] | None:
    """The numbers, plain or symbolic, of a tensor that is stacked from them; None where it is made otherwise."""
    if not isinstance(argument, torch.fx.Node) or not isinstance(argument.target, torch._ops.OpOverload):
        return None
    name = argument.target._schema.name.removeprefix("aten::")
    if name in _SAME:
        return constant_sizes(argument.args[0])
    if name in ("zeros", "empty") and list(argument.args[0]) == [0]:  # type: ignore[call-overload]
        return []
    if name in ("scalar_tensor", "full"):
        number = argument.args[name == "full"]
        return [number.meta["val"] if isinstance(number, torch.fx.Node) else number]
    if name in ("stack", "cat"):
        entries = [constant_sizes(each) for each in argument.args[0]]  # type: ignore[union-attr]
        return None if None in entries else [number for entry in entries if entry is not None for number in entry]
    return None


def differs(a: int | torch.SymInt, b: int | torch.SymInt) -> bool:
    """Whether two sizes are not the same, as far as can be told."""
    if isinstance(a, int) and isinstance(b, int):
        return a != b
    if statically_known_true(a == b):
        return False
    hints = [size if isinstance(size, int) else size.node.hint for size in (a, b)]
    return isinstance(a, int) or isinstance(b, int) or (None not in hints and hints[0] != hints[1])
