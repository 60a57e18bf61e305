"""Calls of externalized modules in a program, and how to export a module for one of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import sympy
import torch
from torch.export import Dim

if TYPE_CHECKING:
    from torch.export import ExportedProgram

_LARGEST = 2**31
"""Sizes beyond it are no limit that anybody has set."""


def calls(program: ExportedProgram) -> Iterator[tuple[str, torch.fx.Node]]:
    """Every call of an operator, with the path of the graph it is in: "" for the top one."""
    for path, module in program.graph_module.named_modules():
        for node in module.graph.nodes if isinstance(module, torch.fx.GraphModule) else ():
            if node.op == "call_function" and isinstance(node.target, torch._ops.OpOverload):
                yield path, node


@dataclass(frozen=True)
class Call:
    """The tensors that one call passes, by the name of their parameter and in the order of the parameters."""

    tensors: Mapping[str, torch.Tensor]
    first_parameters: tuple[str, ...]
    """The parameters before the first one that is omitted: those that can be passed by position."""

    @property
    def is_static(self) -> bool:
        return all(isinstance(size, int) for value in self.tensors.values() for size in value.shape)


class NonTensorInputError(TypeError):
    """A call passes something else than tensors."""

    def __init__(self, what: str, name: str, value: Any) -> None:
        super().__init__(
            f"Only Tensor inputs are supported for externalized submodules: {what} is called with {name}={value!r}; "
            "make it an attribute of the module"
        )


def read_call(node: torch.fx.Node, what: str) -> Call:
    parameters = [argument.name for argument in node.target._schema.arguments]  # type: ignore[union-attr]
    given = dict(zip(parameters, node.args, strict=False)) | dict(node.kwargs)
    tensors: dict[str, torch.Tensor] = {}
    for name in parameters:
        argument = given.get(name)
        if argument is None:
            continue
        value = argument.meta.get("val") if isinstance(argument, torch.fx.Node) else argument
        if not isinstance(value, torch.Tensor):
            raise NonTensorInputError(what, name, value)
        tensors[name] = value
    gap = next((index for index, name in enumerate(parameters) if name not in tensors), len(parameters))
    return Call(tensors, tuple(parameters[:gap]))


def example_arguments(call: Call, sizes: Sizes) -> tuple[tuple[torch.Tensor, ...], dict[str, torch.Tensor]]:
    """Empty tensors for the call, by position as far as possible and then by keyword."""
    made = {
        name: torch.empty([sizes.example(size) for size in value.shape], dtype=value.dtype, device=value.device)
        for name, value in call.tensors.items()
    }
    positional = tuple(made.pop(name) for name in call.first_parameters)
    return positional, made


def dynamic_shapes(call: Call, dim: Callable[[torch.SymInt], Any]) -> dict[str, Any] | None:
    """What torch.export takes: a Dim for each size that varies."""
    if call.is_static:
        return None
    return {
        name: {axis: dim(size) for axis, size in enumerate(value.shape) if not isinstance(size, int)}
        for name, value in call.tensors.items()
    }


class Sizes:
    """The sizes of one call that vary: an example and a Dim for each; those that share a symbol share a Dim."""

    def __init__(self, program: ExportedProgram) -> None:
        self._ranges = program.range_constraints
        self._dims: dict[sympy.Expr, Any] = {}
        self._examples: dict[sympy.Symbol, int] = {}

    def signature(self, call: Call) -> tuple[Any, ...]:
        """Equal for calls that one body serves, whatever their programs call the symbols."""
        renamed: dict[sympy.Symbol, sympy.Symbol] = {}
        ranges: list[tuple[int, int | None]] = []

        def canonical(size: int | torch.SymInt) -> int | str:
            if isinstance(size, int):
                return size
            for symbol in sorted(size.node.expr.free_symbols, key=str):
                if symbol not in renamed:
                    renamed[symbol] = sympy.Symbol(f"c{len(renamed)}", integer=True)
                    ranges.append(self._range(symbol, size))
            return str(size.node.expr.xreplace(renamed))

        tensors = tuple(
            (name, value.dtype, str(value.device), tuple(canonical(size) for size in value.shape))
            for name, value in call.tensors.items()
        )
        return tensors, tuple(ranges)

    def example(self, size: int | torch.SymInt) -> int:
        if isinstance(size, int):
            return size
        expression = size.node.expr
        return int(expression.xreplace({symbol: self._example(symbol, size) for symbol in expression.free_symbols}))

    def _example(self, symbol: sympy.Symbol, size: torch.SymInt) -> sympy.Integer:
        known = size.node.shape_env.backed_var_to_val.get(symbol)
        if known is None:
            # Only data tells: any size will do that is neither 0 nor 1, which torch would take for fixed.
            low, high = self._range(symbol, size)
            wanted = self._examples.setdefault(symbol, 5 + len(self._examples))
            known = max(low, wanted if high is None else min(wanted, high))
        return sympy.Integer(known)

    def dim(self, size: torch.SymInt) -> Any:
        expression = size.node.expr
        if expression not in self._dims:
            self._dims[expression] = self._linear(expression, size) or self._new(expression, size)
        return self._dims[expression]

    def _linear(self, expression: sympy.Expr, size: torch.SymInt) -> Any:
        """a * Dim + b, where that is what the size is; torch knows no other relation of Dims."""
        symbols = list(expression.free_symbols)
        if len(symbols) != 1 or expression == symbols[0] or not expression.is_polynomial(symbols[0]):
            return None
        polynomial = sympy.Poly(expression, symbols[0])
        if polynomial.degree() != 1 or not all(value.is_Integer for value in polynomial.all_coeffs()):
            return None
        factor, offset = (int(value) for value in polynomial.all_coeffs())
        if factor < 1:
            return None
        root = self._dims.setdefault(symbols[0], self._new(symbols[0], size))
        scaled = root if factor == 1 else factor * root
        return scaled + offset if offset >= 0 else scaled - -offset

    def _new(self, expression: sympy.Expr, size: torch.SymInt) -> Any:
        low, high = self._range(expression, size)
        return Dim(f"d{len(self._dims)}", min=low, max=high)

    def _range(self, expression: sympy.Expr, size: torch.SymInt) -> tuple[int, int | None]:
        bounds = self._ranges.get(expression)
        if bounds is None:
            bounds = size.node.shape_env.bound_sympy(expression)
        low = int(bounds.lower) if bounds.lower.is_Integer else 1
        high = int(bounds.upper) if bounds.upper.is_Integer and bounds.upper < _LARGEST else None
        return low, high
