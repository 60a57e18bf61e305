"""OpenVINO, from the exported program."""

from __future__ import annotations

from pathlib import Path
from typing import Any

PACKAGES = ("openvino", "packaging")
SUFFIX = ".xml"


def convert(model: Path, artifact: Path) -> None:
    import openvino
    import torch

    # Weights stay as they are: the default compresses them to 16 bits.
    openvino.save_model(openvino.convert_model(torch.export.load(model)), artifact, compress_to_fp16=False)


def load(artifact: Path, threads: int) -> Any:
    import openvino

    hints = {"PERFORMANCE_HINT": "LATENCY", "INFERENCE_NUM_THREADS": threads, "INFERENCE_PRECISION_HINT": "f32"}
    compiled = openvino.Core().compile_model(artifact, "CPU", hints)
    request = compiled.create_infer_request()

    def call(inputs: Any) -> Any:
        results = request.infer(dict(enumerate(inputs)), share_inputs=True, share_outputs=True)
        return [results[i] for i in range(len(compiled.outputs))]

    return call
