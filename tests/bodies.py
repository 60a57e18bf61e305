"""Running a program with externalized calls."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from ingot.externalize import Body
    from torch.export import ExportedProgram


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
            assert list(body.input_names)[-len(tensors) :] == list(tensors)
            return evaluate(body.program, bodies, *tensors.values())

    signature = program.graph_signature
    weights = {**program.state_dict, **program.constants}
    users = iter(args)
    inputs = [weights[spec.target] if spec.target is not None else next(users) for spec in signature.input_specs]
    results = Interpreter(program.graph_module).run(*inputs)
    return results[0] if len(results) == 1 else tuple(results)
