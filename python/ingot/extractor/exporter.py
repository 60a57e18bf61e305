"""From models to exported programs, on the meta device or off it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.utils import _pytree as pytree

from ingot._tracing import tracing
from ingot.errors import ExportError


def is_meta_tensor(tensor: torch.Tensor) -> bool:
    return tensor.device.type == "meta"


def is_meta_module(model: torch.nn.Module) -> bool:
    """Whether every parameter and buffer is on the meta device."""
    return all(is_meta_tensor(tensor) for _, tensor in _state(model))


def get_model_name(model: torch.nn.Module) -> str:
    return type(model).__name__


def validate_meta_device(model: torch.nn.Module) -> None:
    for name, tensor in _state(model):
        if not is_meta_tensor(tensor):
            raise ExportError(
                f"Model must be on meta device, but '{name}' is on {tensor.device}. Build it there:\n"
                "  with torch.device('meta'):\n      model = Model()\n"
                "or move it: model = model.to('meta'). With strict=False any device is taken."
            )


def validate_inputs_meta(example_inputs: Any) -> None:
    """Looks into nested lists, tuples and dicts as well."""
    for path, leaf in pytree.tree_flatten_with_path(example_inputs)[0]:
        if isinstance(leaf, torch.Tensor) and not is_meta_tensor(leaf):
            where = f"{getattr(path[0], 'idx', getattr(path[0], 'key', ''))}{pytree.keystr(path[1:])}" if path else "0"
            raise ExportError(
                f"Input {where} must be on meta device, but is on {leaf.device}. Make it with "
                "torch.empty(shape, dtype=…, device='meta'), or pass strict=False."
            )


def export_model(
    model: torch.nn.Module,
    example_inputs: tuple[Any, ...],
    *,
    kwargs: Mapping[str, Any] | None = None,
    dynamic_shapes: Any = None,
    strict: bool = True,
) -> ExportedProgram:
    """The model's graph. `strict` demands that the model and its inputs are on the meta device; nothing else."""
    if isinstance(example_inputs, torch.Tensor):
        example_inputs = (example_inputs,)
    inputs = tuple(example_inputs)
    named = dict(kwargs or {})
    if strict:
        validate_meta_device(model)
        validate_inputs_meta(inputs)
        validate_inputs_meta(named)
    try:
        return _export_anywhere(model, inputs, named, dynamic_shapes)
    except Exception as error:
        raise ExportError(f"Failed to export model: {error}") from error


def _export(model: torch.nn.Module, inputs: Any, named: Any, dynamic_shapes: Any) -> ExportedProgram:
    with tracing(), torch.no_grad():
        return torch.export.export(model, inputs, named, dynamic_shapes=dynamic_shapes, strict=False)


def _export_anywhere(model: torch.nn.Module, inputs: Any, named: Any, dynamic_shapes: Any) -> ExportedProgram:
    """Tensors that `forward` makes of Python numbers have values on the CPU only, and don't go with those of the meta
    device. So its tensors claim to be on the CPU while the model is exported, unless that is what fails."""
    if not _has_meta(model, inputs, named):
        return _export(model, inputs, named, dynamic_shapes)
    try:
        return _export_as_if_on_cpu(model, inputs, named, dynamic_shapes)
    except Exception as failure:
        try:
            return _export(model, inputs, named, dynamic_shapes)
        except Exception:
            raise failure from None


def _is_on_meta(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and is_meta_tensor(value)


def _has_meta(model: torch.nn.Module, *inputs: Any) -> bool:
    return any(map(_is_on_meta, [*(tensor for _, tensor in _state(model)), *pytree.tree_leaves(inputs)]))


def _export_as_if_on_cpu(model: torch.nn.Module, inputs: Any, named: Any, dynamic_shapes: Any) -> ExportedProgram:
    from torch._subclasses.fake_tensor import FakeTensorMode

    mode = FakeTensorMode(allow_non_fake_inputs=True)

    def fake(tensor: torch.Tensor) -> torch.Tensor:
        with mode:
            return torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device="cpu")

    def fake_input(value: Any) -> Any:
        return fake(value) if _is_on_meta(value) else value

    with tracing(), _replaced_tensors(model, fake), torch.device("cpu"):
        inputs, named = pytree.tree_map(fake_input, (inputs, named))
        return _export(model, inputs, named, dynamic_shapes)


@contextlib.contextmanager
def _replaced_tensors(model: torch.nn.Module, fake: Any) -> Iterator[None]:
    """The model with other tensors in place of those on the meta device; one that has several names stays one."""
    made: dict[int, torch.Tensor] = {}
    undo: list[tuple[dict[str, Any], str, Any]] = []

    def replacement(tensor: Any) -> Any:
        if isinstance(tensor, list):  # recurrent layers keep their weights in one, too
            return [replacement(item) for item in tensor]
        if not _is_on_meta(tensor):
            return tensor
        if id(tensor) not in made:
            new = fake(tensor)
            if isinstance(tensor, torch.nn.Parameter):
                new = torch.nn.Parameter(new, requires_grad=tensor.requires_grad)
            made[id(tensor)] = new
        return made[id(tensor)]

    try:
        for module in model.modules():
            for table in (module._parameters, module._buffers, vars(module)):
                for name, value in list(table.items()):
                    if _is_on_meta(value) or (isinstance(value, list) and any(map(_is_on_meta, value))):
                        undo.append((table, name, value))
                        table[name] = replacement(value)
        yield
    finally:
        for table, name, value in undo:
            table[name] = value


def _state(model: torch.nn.Module) -> Iterator[tuple[str, torch.Tensor]]:
    yield from model.named_parameters()
    yield from model.named_buffers()
