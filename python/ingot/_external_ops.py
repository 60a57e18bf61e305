"""Custom operators that stand for the forward of one module, so that an export keeps the call whole."""

from __future__ import annotations

import contextlib
import re
import uuid
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch._guards import detect_fake_mode
from torch.utils import _pytree as pytree

NAMESPACE = "coreai_torch_ext"
"""Where the operators live; programs in the wild and their tests know this name."""

Forward = Callable[..., Any]


def fresh_hex() -> str:
    return uuid.uuid4().hex[:8]


class ModuleOps:
    """Operators that exist as long as this object.

    Torch's registry holds the kernels. They refer to their module weakly, so that a model that is dropped while it is
    marked takes its operators with it.
    """

    def __init__(self) -> None:
        self._library = torch.library.Library(NAMESPACE, "FRAGMENT")

    def define(self, path: str, digits: str, schema: str, module: torch.nn.Module, forward: Forward) -> Any:
        """A new operator `<path>_<digits>`; `forward` takes the module first."""
        name = _op_name(path, digits)
        kernels = _Kernels(module, forward)
        self._library.define(name + schema, tags=(torch.Tag.pt2_compliant_tag,))
        self._library.impl(name, kernels.run, "CompositeExplicitAutograd")
        qualified = f"{NAMESPACE}::{name}"
        torch.library.register_fake(qualified, kernels.run_fake, lib=self._library)
        torch.library.register_autograd(qualified, kernels.backward, setup_context=_save_inputs, lib=self._library)
        return getattr(getattr(torch.ops, NAMESPACE), name).default


def _op_name(path: str, digits: str) -> str:
    name = re.sub(r"\W", "_", path)
    # The members of a Sequential are numbers, with which no name can begin.
    return f"{'_' if name[0].isdigit() else ''}{name}_{digits}"


def schema_of(path: str, module: torch.nn.Module) -> str:
    """The forward's parameters and results as an operator schema without a name."""
    kind = type(module).__name__
    try:
        schema = torch.library.infer_schema(module.forward, mutates_args=())
    except ValueError as error:
        raise ValueError(f"'{path}' ({kind}) cannot be externalized: {error}") from error
    for argument in torch._C.parse_schema(f"{NAMESPACE}::f{schema}").arguments:
        if argument.kwarg_only and "Tensor" in str(argument.type):
            raise NotImplementedError(
                f"'{path}' ({kind}) cannot be externalized: its forward has the keyword-only Tensor "
                f"'{argument.name}'; let it be positional as well"
            )
    return schema


class _Kernels:
    """What an operator does when it runs, when it is traced, and backwards."""

    def __init__(self, module: torch.nn.Module, forward: Forward) -> None:
        self._module = weakref.ref(module)
        self._forward = forward

    def _owner(self) -> torch.nn.Module:
        module = self._module()
        if module is None:
            raise RuntimeError("the module of this externalized call no longer exists")
        return module

    def run(self, *args: Any, **kwargs: Any) -> Any:
        module = self._owner()
        return _without_aliases(self._forward(module, *args, **kwargs), (args, kwargs), module)

    def run_fake(self, *args: Any, **kwargs: Any) -> Any:
        module = self._owner()
        with _stand_in_weights(module):
            return _without_aliases(self._forward(module, *args, **kwargs), (args, kwargs), module)

    def backward(self, ctx: Any, *gradients: Any) -> Any:
        """Runs the forward again with gradients; those of the module's own parameters go where they always go."""
        with torch.enable_grad():
            inputs = [
                value.detach().requires_grad_(value.requires_grad) if isinstance(value, torch.Tensor) else value
                for value in _saved_inputs(ctx)
            ]
            results = pytree.tree_leaves(self._forward(self._owner(), *inputs, **ctx.keyword_only))
        pairs = [
            (result, gradient)
            for result, gradient in zip(results, pytree.tree_leaves(gradients), strict=True)
            if result.requires_grad and gradient is not None
        ]
        torch.autograd.backward([result for result, _ in pairs], [gradient for _, gradient in pairs])
        own = tuple(value.grad if isinstance(value, torch.Tensor) else None for value in inputs)
        return own if len(own) != 1 else own[0]


def _save_inputs(
    ctx: Any, inputs: tuple[Any, ...], output: Any, keyword_only_inputs: dict[str, Any] | None = None
) -> None:
    ctx.is_tensor = [isinstance(value, torch.Tensor) for value in inputs]
    ctx.save_for_backward(*(value for value in inputs if isinstance(value, torch.Tensor)))
    ctx.others = [value for value in inputs if not isinstance(value, torch.Tensor)]
    ctx.keyword_only = keyword_only_inputs or {}


def _saved_inputs(ctx: Any) -> list[Any]:
    tensors, others = iter(ctx.saved_tensors), iter(ctx.others)
    return [next(tensors) if is_tensor else next(others) for is_tensor in ctx.is_tensor]


@contextlib.contextmanager
def _stand_in_weights(module: torch.nn.Module) -> Iterator[None]:
    """Gives the module weights that have shapes and no data, as the arguments of a traced call are.

    What the module holds meanwhile belongs to the tracer of the whole model, or is real; neither mixes with them.
    """
    mode = detect_fake_mode()
    made: dict[int, torch.Tensor] = {}
    saved: list[tuple[dict[str, Any], str, torch.Tensor]] = []
    accepts_real = mode.allow_non_fake_inputs if mode is not None else True
    try:
        for tensors in (tensors for part in module.modules() for tensors in (part._parameters, part._buffers)):
            for name, tensor in tensors.items():
                if tensor is not None:
                    saved.append((tensors, name, tensor))
                    tensors[name] = made.setdefault(id(tensor), _like(tensor, "meta" if mode is None else None))
        if mode is not None:
            # Tensors that are plain attributes stay real.
            mode.allow_non_fake_inputs = True
        yield
    finally:
        if mode is not None:
            mode.allow_non_fake_inputs = accepts_real
        for tensors, name, tensor in saved:
            tensors[name] = tensor


def _like(tensor: torch.Tensor, device: str | None) -> torch.Tensor:
    return torch.empty_strided(
        tensor.size(), tensor.stride(), dtype=tensor.dtype, device=device if device is not None else tensor.device
    )


def _without_aliases(results: Any, arguments: Any, module: torch.nn.Module) -> Any:
    """Copies results that share memory with an argument, a weight or each other: operators promise fresh ones."""
    seen = {_storage(value) for value in pytree.tree_leaves(arguments) if isinstance(value, torch.Tensor)}
    seen |= {_storage(value) for value in (*module.parameters(), *module.buffers())}

    def own(value: Any) -> Any:
        if not isinstance(value, torch.Tensor):
            return value
        if _storage(value) in seen:
            value = value.clone()
        seen.add(_storage(value))
        return value

    return pytree.tree_map(own, results)


def _storage(tensor: torch.Tensor) -> int:
    return tensor.untyped_storage()._cdata


def original_forward(module: torch.nn.Module) -> Forward:
    """The forward as a function of the module, which it does not keep alive where it is the class's own."""
    own = module.__dict__.get("forward")
    if own is None:
        return type(module).forward
    return lambda _, *args, **kwargs: own(*args, **kwargs)
