"""PyTorch's operator database as conformance cases: one for each operator, dtype and sample."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils import _pytree as pytree

DTYPES = {
    "f32": torch.float32,
    "f64": torch.float64,
    "f16": torch.float16,
    "bf16": torch.bfloat16,
    "i64": torch.int64,
    "i32": torch.int32,
    "u8": torch.uint8,
    "bool": torch.bool,
    "c64": torch.complex64,
}


class Sample(torch.nn.Module):
    """One sample as a module. Its tensors are the inputs; everything else stays as it is."""

    def __init__(self, call: Any, arguments: Any) -> None:
        super().__init__()
        self.call = call
        leaves, self.spec = pytree.tree_flatten(arguments)
        self.places = [index for index, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor)]
        self.inputs = tuple(leaves[place].detach().resolve_conj().resolve_neg() for place in self.places)
        self.leaves = [None if index in self.places else leaf for index, leaf in enumerate(leaves)]

    def forward(self, *tensors: torch.Tensor) -> Any:
        filled = list(self.leaves)
        for place, value in zip(self.places, tensors, strict=True):
            filled[place] = value
        args, kwargs = pytree.tree_unflatten(filled, self.spec)
        result = self.call(*args, **kwargs)
        # Named tuples of torch.return_types cannot be saved by torch.export.
        return tuple(result) if isinstance(result, tuple) else result

    def fresh_inputs(self) -> tuple[torch.Tensor, ...]:
        """Copies with the strides of the originals, since the operator may write to them."""
        return tuple(copy_with_strides(tensor) for tensor in self.inputs)


def copy_with_strides(tensor: torch.Tensor) -> torch.Tensor:
    if tensor.layout != torch.strided:
        return tensor.clone()
    span = 1 + sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride(), strict=True))
    if tensor.numel() == 0:
        return torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype)
    memory = torch.as_strided(tensor, (span,), (1,)).clone()
    return torch.as_strided(memory, tensor.shape, tensor.stride())


@dataclass(frozen=True)
class Unit:
    """All samples of one operator and dtype: what one worker does at a time."""

    entry: int
    dtype: str

    def job(self, first: int, limit: int) -> dict[str, Any]:
        return {"entry": self.entry, "dtype": self.dtype, "first": first, "limit": limit}

    @property
    def name(self) -> str:
        return op_db[self.entry].formatted_name

    def samples(self) -> Iterator[Any]:
        torch.manual_seed(0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield from op_db[self.entry].sample_inputs("cpu", DTYPES[self.dtype], requires_grad=False)

    def module(self, sample: Any) -> Sample:
        return Sample(op_db[self.entry].op, ((sample.input, *sample.args), sample.kwargs))


def all_units(pattern: Any, dtypes: list[str]) -> list[Unit]:
    """The units whose operator's name the compiled pattern matches as a whole."""
    units = []
    for index, entry in enumerate(op_db):
        if not pattern.fullmatch(entry.formatted_name):
            continue
        supported = entry.supported_dtypes("cpu")
        units += [Unit(index, dtype) for dtype in dtypes if DTYPES[dtype] in supported]
    return units
