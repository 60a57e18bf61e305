"""What a kernel takes and gives: its names and the annotations of its torch reference, checked against each other."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

_SCHEMA_TYPES: Mapping[Any, str] = {torch.Tensor: "Tensor", int: "SymInt", float: "float", bool: "bool"}


@dataclass(frozen=True)
class Signature:
    """Names and kinds of inputs, names of results. Raises what is wrong with them."""

    inputs: Mapping[str, type]
    """Name to torch.Tensor, int, float or bool."""
    results: tuple[str, ...]
    returns: type
    """torch.Tensor, tuple or list: how the results are handed back."""

    @staticmethod
    def read(
        name: str, input_names: Sequence[str], result_names: Sequence[str], torch_defn: Callable[..., Any]
    ) -> Signature:
        if not isinstance(name, str) or not name.isidentifier():
            raise ValueError(f"a kernel needs a name that is an identifier, not {name!r}")
        _check_names(name, input_names, result_names)
        if not callable(torch_defn):
            raise TypeError(f"torch_defn of kernel '{name}' must be a function, not {type(torch_defn).__name__}")
        kinds = _parameter_kinds(name, torch_defn)
        if len(kinds) != len(input_names):
            raise ValueError(
                f"kernel '{name}' has {len(input_names)} inputs, but its torch_defn takes {len(kinds)} parameters"
            )
        returns = _return_kind(name, _annotations(name, torch_defn).get("return"), len(result_names))
        return Signature(dict(zip(input_names, kinds, strict=True)), tuple(result_names), returns)

    def schema(self, more: Sequence[str] = ()) -> str:
        """As torch.library takes it, without the name; `more` are tensors after the inputs."""
        arguments = [f"{_SCHEMA_TYPES[kind]} {name}" for name, kind in self.inputs.items()]
        arguments += [f"Tensor {name}" for name in more]
        results = ", ".join(["Tensor"] * len(self.results))
        return f"({', '.join(arguments)}) -> {results if len(self.results) == 1 else f'({results})'}"

    def hand_back(self, results: Sequence[torch.Tensor]) -> Any:
        """The results as the reference returns them."""
        if self.returns is torch.Tensor:
            return results[0]
        return list(results) if self.returns is list else tuple(results)


def _check_names(name: str, input_names: Sequence[str], result_names: Sequence[str]) -> None:
    for what, names in (("input", input_names), ("result", result_names)):
        if isinstance(names, str):
            raise TypeError(f"the {what} names of kernel '{name}' must be a list of names, not a string")
        for each in names:
            if not isinstance(each, str) or not each.isidentifier():
                raise ValueError(f"kernel '{name}' has the {what} name {each!r}, which is no identifier")
        twice = sorted({each for each in names if list(names).count(each) > 1})
        if twice:
            raise ValueError(f"kernel '{name}' has duplicate {what} names: {', '.join(twice)}")
    if not result_names:
        raise ValueError(f"kernel '{name}' has no results; it needs at least one")
    both = sorted(set(input_names) & set(result_names))
    if both:
        raise ValueError(f"kernel '{name}' has names that are an input and a result: {', '.join(both)}")


def _annotations(name: str, torch_defn: Callable[..., Any]) -> dict[str, Any]:
    """Annotations as objects, those that are strings evaluated where the function was written."""
    function = inspect.unwrap(torch_defn)
    if not inspect.isroutine(function):
        function = type(function).__call__
    closure = getattr(function, "__closure__", None) or ()
    names = function.__code__.co_freevars if closure else ()
    local: dict[str, Any] = {}
    for free, cell in zip(names, closure, strict=False):
        try:
            local[free] = cell.cell_contents
        except ValueError:  # not assigned yet
            continue
    # A function inside another knows names that cannot be found from here; these are the ones that are allowed.
    known = {"torch": torch, "Tensor": torch.Tensor, **getattr(function, "__globals__", {})}
    try:
        return typing.get_type_hints(function, known, local)
    except Exception as error:
        raise TypeError(f"the annotations of kernel '{name}' cannot be evaluated: {error}") from error


def _parameter_kinds(name: str, torch_defn: Callable[..., Any]) -> list[type]:
    hints = _annotations(name, torch_defn)
    kinds = []
    for parameter in inspect.signature(torch_defn).parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise TypeError(f"torch_defn of kernel '{name}' has the variadic parameter '{parameter.name}'")
        if parameter.kind is parameter.KEYWORD_ONLY:
            raise TypeError(f"torch_defn of kernel '{name}' has the keyword-only parameter '{parameter.name}'")
        kind = hints.get(parameter.name)
        if not isinstance(kind, type) or kind not in _SCHEMA_TYPES:
            text = "no annotation" if kind is None else f"the annotation {kind}"
            raise TypeError(
                f"parameter '{parameter.name}' of kernel '{name}' has {text}; Tensor, int, float and bool are allowed"
            )
        kinds.append(kind)
    return kinds


def _return_kind(name: str, annotation: Any, count: int) -> type:
    if annotation is torch.Tensor:
        if count != 1:
            raise ValueError(f"kernel '{name}' has {count} results, but its torch_defn returns one Tensor")
        return torch.Tensor
    origin, entries = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is list and entries == (torch.Tensor,):
        return list
    if origin is tuple and entries and all(entry is torch.Tensor for entry in entries):
        if len(entries) != count:
            raise ValueError(f"kernel '{name}' has {count} results, but its torch_defn returns {len(entries)}")
        return tuple
    text = "no return annotation" if annotation is None else f"the return annotation {annotation}"
    raise TypeError(
        f"torch_defn of kernel '{name}' has {text}; Tensor, list[Tensor] and a tuple of as many Tensors as there are "
        "results are allowed"
    )


def check_templates(name: str, template_dtypes: Mapping[str, str], inputs: Mapping[str, type]) -> None:
    for each in template_dtypes:
        if inputs.get(each) is not torch.Tensor:
            raise ValueError(f"kernel '{name}' has a template type for '{each}', which is none of its input tensors")
    placeholders = list(template_dtypes.values())
    if any(not isinstance(text, str) or not text for text in placeholders):
        raise ValueError(f"kernel '{name}' has a template type without a placeholder")
    twice = sorted({text for text in placeholders if placeholders.count(text) > 1})
    if twice:
        raise ValueError(f"kernel '{name}' uses a placeholder for two template types: {', '.join(twice)}")
