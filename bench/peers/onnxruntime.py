"""ONNX Runtime, by PyTorch's exporter."""

from __future__ import annotations

from pathlib import Path
from typing import Any

PACKAGES = ("onnx", "onnxscript", "onnxruntime")
SUFFIX = ".onnx"


def convert(model: Path, artifact: Path) -> None:
    import torch

    program = torch.export.load(model)
    torch.onnx.export(program, f=str(artifact), dynamo=True, external_data=True, verbose=False)


def load(artifact: Path, threads: int) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(artifact), options, providers=["CPUExecutionProvider"])
    names = [node.name for node in session.get_inputs()]
    return lambda inputs: session.run(None, dict(zip(names, inputs, strict=True)))
