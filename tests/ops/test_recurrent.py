"""Recurrent layers over sequences of any length. torch.export unrolls its own shape function and so fixes the number of
steps; with a plain one the program keeps it as a symbol."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import ingot
import pytest
import torch
from torch._C import DispatchKey
from torch.utils import _pytree as pytree

KEY = DispatchKey.CompositeImplicitAutograd


def shapes_only(x: torch.Tensor, hx: Any, params: Any, biases: bool, layers: int, dropout: float, train: bool,
                bidirectional: bool, batch_first: bool) -> tuple[torch.Tensor, ...]:  # fmt: skip
    states = list(hx) if isinstance(hx, (list, tuple)) else [hx]
    width = states[0].shape[-1] * (2 if bidirectional else 1)
    return (x.new_empty(x.shape[0], x.shape[1], width), *(torch.empty_like(state) for state in states))


@contextmanager
def plain_shapes(overload: Any) -> Iterator[None]:
    own = overload.py_kernels.pop(KEY, None)
    overload.py_kernels[KEY] = shapes_only
    overload._dispatch_cache.clear()
    try:
        yield
    finally:
        del overload.py_kernels[KEY]
        if own is not None:
            overload.py_kernels[KEY] = own
        overload._dispatch_cache.clear()


@pytest.mark.parametrize(("name", "layer"), [("lstm", torch.nn.LSTM), ("gru", torch.nn.GRU)])
def test_one_program_takes_sequences_of_any_length(name: str, layer: Any) -> None:
    torch.manual_seed(0)
    module = layer(6, 5, num_layers=2, bidirectional=True, batch_first=True).eval()
    dynamic = torch.export.Dim.DYNAMIC
    with plain_shapes(getattr(torch.ops.aten, name).input):
        exported = torch.export.export(module, (torch.randn(3, 50, 6),), dynamic_shapes=({0: dynamic, 1: dynamic},))
    program = ingot.convert(exported)
    for batch, steps in ((3, 50), (2, 500), (1, 7)):
        x = torch.randn(batch, steps, 6)
        expected = pytree.tree_leaves(module(x))
        for ours, theirs in zip(pytree.tree_leaves(program(x)), expected, strict=True):
            torch.testing.assert_close(torch.as_tensor(ours), theirs)
