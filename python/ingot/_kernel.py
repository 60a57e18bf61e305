"""What kernels of all languages have in common."""

from __future__ import annotations

import abc
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import torch

from ingot._kernel_signature import Signature, check_templates
from ingot._kernel_source import NumberSlot, TensorSlot
from ingot._lowering import arguments_of
from ingot.ir import Value

if TYPE_CHECKING:
    from ingot._kernel_bodies import Reference


class Kernel(abc.ABC):
    """Names, a reference in torch, and the operator that a call is. Another language is another subclass."""

    language: ClassVar[str]
    namespace: ClassVar[str]
    """Of the operators."""

    def __init__(
        self,
        name: str,
        input_names: Sequence[str],
        result_names: Sequence[str],
        src: str,
        torch_defn: Callable[..., Any],
        helper_src: str | None = None,
        template_dtypes: Mapping[str, str] | None = None,
    ) -> None:
        """`src` is the body of the kernel, `helper_src` stands before it.

        `torch_defn` is a function of tensors and numbers whose annotations say what the inputs are. `template_dtypes`
        gives names to the types of input tensors: with {"x": "T"}, `T` in the source is the type of x's elements.
        """
        self.signature = Signature.read(name, input_names, result_names, torch_defn)
        self.name, self.src, self.helper_src, self.torch_defn = name, src, helper_src or "", torch_defn
        self.template_dtypes = dict(template_dtypes or {})
        check_templates(name, self.template_dtypes, self.signature.inputs)

    @property
    def op_name(self) -> str:
        """The operator that a call of the kernel is in an exported program."""
        return f"{self.namespace}::{self.name}"

    @abc.abstractmethod
    def check_call(self, node: torch.fx.Node) -> None:
        """Raises what keeps a call in an exported program from being converted."""

    @abc.abstractmethod
    def reference(self, node: torch.fx.Node) -> Reference | None:
        """What a call is computed by if the kernel itself cannot run here."""

    @abc.abstractmethod
    def lower(self, values_map: dict[str, Value], node: torch.fx.Node, loc: object) -> list[Value]:
        """The lowering of a call that `reference` has nothing for."""

    def run_reference(self, *args: Any) -> list[torch.Tensor]:
        """The results of `torch_defn` for the kernel's inputs, which stand first in `args`."""
        returned = self.torch_defn(*args[: len(self.signature.inputs)])
        results = [returned] if isinstance(returned, torch.Tensor) else list(returned)
        if len(results) != len(self.signature.results):
            raise ValueError(
                f"torch_defn of kernel '{self.name}' gives {len(results)} results, and the kernel has "
                f"{len(self.signature.results)}"
            )
        return results

    def _check_inputs(self, args: Sequence[Any]) -> None:
        names = list(self.signature.inputs)
        if len(args) != len(names):
            raise TypeError(f"kernel '{self.name}' takes {len(names)} inputs ({', '.join(names)}), not {len(args)}")

    def _call(self, op: Any, args: Sequence[Any]) -> Any:
        results = op(*args)
        return self.signature.hand_back([results] if len(self.signature.results) == 1 else results)

    def _slots(self, node: torch.fx.Node) -> tuple[list[TensorSlot | NumberSlot], list[TensorSlot]]:
        """What one call passes and gets."""
        given = arguments_of(node)
        inputs: list[TensorSlot | NumberSlot] = []
        for name, kind in self.signature.inputs.items():
            if kind is torch.Tensor:
                example = given[name].meta["val"]
                inputs.append(TensorSlot(name, example.dtype, example.dim()))
            else:
                inputs.append(NumberSlot(name, kind))
        results = result_examples(node)
        made = zip(self.signature.results, results, strict=True)
        return inputs, [TensorSlot(name, result.dtype, result.dim()) for name, result in made]


def result_examples(node: torch.fx.Node) -> list[torch.Tensor]:
    """The results of a node as its export knows them."""
    value = node.meta["val"]
    return [value] if isinstance(value, torch.Tensor) else list(value)
