"""PyTorch as it is: the exported program run by torch."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

PACKAGES: tuple[str, ...] = ()
SUFFIX = ".pt2"


def module_of(artifact: Path, threads: int) -> torch.nn.Module:
    torch.set_num_threads(threads)
    torch.set_grad_enabled(False)
    return torch.export.load(artifact).module()


def caller(module: Any) -> Any:
    def call(inputs: Any) -> Any:
        results = module(*(torch.from_numpy(array) for array in inputs))
        leaves = torch.utils._pytree.tree_leaves(results)
        return [leaf.numpy() for leaf in leaves if isinstance(leaf, torch.Tensor)]

    return call


def load(artifact: Path, threads: int) -> Any:
    return caller(module_of(artifact, threads))
