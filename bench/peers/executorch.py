"""ExecuTorch with the XNNPACK delegate."""

from __future__ import annotations

from pathlib import Path
from typing import Any

PACKAGES = ("executorch",)
SUFFIX = ".pte"


def convert(model: Path, artifact: Path) -> None:
    import torch
    from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
    from executorch.exir import to_edge_transform_and_lower

    edge = to_edge_transform_and_lower(torch.export.load(model), partitioner=[XnnpackPartitioner()])
    artifact.write_bytes(edge.to_executorch().buffer)


def load(artifact: Path, threads: int) -> Any:
    import torch
    from executorch.extension.pybindings import portable_lib

    portable_lib._reset_threadpool_for_testing(threads) if hasattr(
        portable_lib, "_reset_threadpool_for_testing"
    ) else portable_lib._unsafe_reset_threadpool(threads)
    module = portable_lib._load_for_executorch(str(artifact))

    def call(inputs: Any) -> Any:
        results = module.forward([torch.from_numpy(array) for array in inputs])
        return [value.numpy() for value in results if isinstance(value, torch.Tensor)]

    return call
