"""Models with externalized modules, and running what comes of them."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable
from typing import Any

import torch
import torch.nn.functional as F
from ingot.composite_ops import RMSNorm, RMSNormImpl
from ingot.decompositions import get_decomp_table
from ingot.externalize import Body, ExternalizeSpec, externalize
from torch.export import ExportedProgram

NORM = ExternalizeSpec(RMSNormImpl, "rms_norm", ["axes", "eps"])
X = torch.randn(3, 4, generator=torch.Generator().manual_seed(0))


class Scale(torch.nn.Module):
    """Owns a parameter, a buffer and a buffer that is not saved."""

    def __init__(self, width: int = 4, factor: float = 2.0) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.randn(width))
        self.register_buffer("shift", torch.randn(width))
        self.register_buffer("hidden", torch.randn(width), persistent=False)
        self.factor = factor
        self.missing = None

    def forward(
        self, x: torch.Tensor, extra: torch.Tensor | None = None, last: torch.Tensor | None = None
    ) -> torch.Tensor:
        y = F.silu(x * self.weight + self.shift) * self.factor + self.hidden
        y = y if extra is None else y + extra
        return y if last is None else y * last


class Block(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm = RMSNorm(4)
        self.linear = torch.nn.Linear(4, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.linear(self.norm(x))


class Holder(torch.nn.Module):
    """A model with the given parts and the given forward."""

    def __init__(self, run: Callable[..., Any], **parts: torch.nn.Module) -> None:
        super().__init__()
        self.run = run
        for name, part in parts.items():
            self.add_module(name, part)

    def forward(self, *args: torch.Tensor) -> Any:
        return self.run(self, *args)


def exporter(*args: torch.Tensor, shapes: Any = None, strict: bool = False) -> Callable[..., ExportedProgram]:
    """Models of fixed shapes stay as torch exports them: externalizing takes both forms, and decomposing takes time."""

    def export(model: torch.nn.Module) -> ExportedProgram:
        dynamic = None if shapes is None else (shapes,)
        exported = torch.export.export(model, args, dynamic_shapes=dynamic, strict=strict)
        return exported.run_decompositions(get_decomp_table()) if shapes is not None or strict else exported

    return export


def run(run_model: Callable[..., Any], specs: list[Any], *args: torch.Tensor, shapes: Any = None, **parts: Any) -> Any:
    model = Holder(run_model, **parts).eval()
    result = externalize(model, exporter(*args, shapes=shapes), specs)
    with torch.no_grad():
        torch.testing.assert_close(evaluate(result.program, result.bodies, *args), model(*args))
    return result


def targets(program: ExportedProgram) -> list[str]:
    return [str(node.target) for node in program.graph.nodes if node.op == "call_function"]


def ext_nodes(program: ExportedProgram) -> list[torch.fx.Node]:
    return [node for node in program.graph.nodes if str(node.target).startswith("coreai_torch_ext.")]


def registered() -> list[str]:
    gc.collect()
    return [name for name in torch._C._dispatch_get_all_op_names() if name.startswith("coreai_torch_ext::")]


def evaluate(program: ExportedProgram, bodies: Iterable[Body], *args: torch.Tensor) -> Any:
    """Runs a program with the bodies in place of the operators: neither the model nor its kernels take part."""
    by_op = {body.op_name: body for body in bodies}

    class Interpreter(torch.fx.Interpreter):
        def call_function(self, target: Any, values: Any, named: Any) -> Any:
            body = by_op.get(target._schema.name) if isinstance(target, torch._ops.OpOverload) else None
            if body is None:
                return super().call_function(target, values, named)
            parameters = [argument.name for argument in target._schema.arguments]
            given = dict(zip(parameters, values, strict=False)) | named
            tensors = {name: given[name] for name in parameters if given.get(name) is not None}
            assert body.input_names[len(body.input_names) - len(tensors) :] == tuple(tensors)
            return evaluate(body.program, bodies, *tensors.values())

    signature = program.graph_signature
    weights = {**program.state_dict, **program.constants}
    users = iter(args)
    inputs = [weights[spec.target] if spec.target is not None else next(users) for spec in signature.input_specs]
    results = Interpreter(program.graph_module).run(*inputs)
    return results[0] if len(results) == 1 else tuple(results)
