#!/usr/bin/env python3
"""What Ingot costs around the arithmetic, and how near it comes to the machine.

- a call of a model that adds 1 to four numbers, from C++ and from Python;
- a fresh C++ process, from its start to its end with one result (the asset is specialised already);
- the median with another process that keeps one core busy, beside the median without it;
- a roofline: arithmetic a second, beside what the machine can do in registers, and its memory bandwidth; of all models.

  python bench/overheads.py
  python bench/overheads.py --models resnet50,bert_base
"""

from __future__ import annotations

import argparse
import json
import logging
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import ingot
import numpy as np
import torch

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))
from models import zoo  # noqa: E402
from support import export, save_pt2  # noqa: E402

TOOL = str(Path(sys.executable).with_name("ingot"))
DEFAULT = ("resnet50", "mobilenet_v2", "vit_b16", "bert_base")
BUSY = "while True: pass"


class AddOne(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + 1


def tool(*arguments: str) -> dict[str, Any]:
    done = subprocess.run([TOOL, *arguments, "--json"], check=True, capture_output=True, text=True)
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def make_asset(module: torch.nn.Module, args: tuple[torch.Tensor, ...], folder: Path) -> str:
    save_pt2(export(module, args), folder / "model.pt2")
    asset = str(folder / "model.ingot")
    subprocess.run([TOOL, "convert", str(folder / "model.pt2"), "-o", asset], check=True, stdout=subprocess.DEVNULL)
    tool("bench", asset, "--seconds", "0.1")  # specialises it
    return asset


def per_call(folder: Path) -> dict[str, float]:
    """Microseconds."""
    asset = make_asset(AddOne(), (torch.zeros(4),), folder)
    program, x = ingot.load(asset), np.zeros(4, np.float32)
    samples = []
    for _ in range(200):
        start = time.perf_counter()
        for _ in range(100):
            program(x)
        samples.append(1e4 * (time.perf_counter() - start))
    return {"C++": 1e3 * tool("bench", asset, "--seconds", "1")["median_ms"], "Python": statistics.median(samples)}


def fresh_process(asset: str) -> float:
    """Milliseconds, of which the random inputs and the report are a part."""
    samples = []
    for _ in range(9):
        start = time.perf_counter()
        tool("run", asset, "--random-seed", "0")
        samples.append(1e3 * (time.perf_counter() - start))
    return statistics.median(samples)


def beside_a_neighbour(asset: str) -> tuple[float, float]:
    """Medians in milliseconds: alone, and with a core that somebody else uses; turn by turn."""
    alone, shared = [], []
    for _ in range(3):
        alone.append(tool("bench", asset, "--seconds", "1.5")["median_ms"])
        # In a session of its own, as another user's program would be: kernels share time out by session first.
        with subprocess.Popen([sys.executable, "-c", BUSY], start_new_session=True) as neighbour:
            shared.append(tool("bench", asset, "--seconds", "1.5")["median_ms"])
            neighbour.kill()
    return statistics.median(alone), statistics.median(shared)


def roofline(asset: str) -> str:
    profile = tool("profile", asset)
    flops = sum(kernel["gflops"] * kernel["ms"] for kernel in profile["by_kernel"])
    rate = flops / sum(kernel["ms"] for kernel in profile["by_kernel"])
    machine = profile["machine"]
    peak, bandwidth = machine["gflops"], machine["gigabytes_per_second"]
    return f"{rate:.0f} of {peak:.0f} GFLOP/s ({100 * rate / peak:.0f} %), memory {bandwidth:.0f} GB/s"


def main() -> None:
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", default=",".join(DEFAULT), help="comma-separated; the roofline has all by default")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for language, microseconds in per_call(Path(folder)).items():
            print(f"x + 1 from {language}: {microseconds:.2f} µs a call")
    chosen = options.models.split(",")
    for name in zoo.FAMILIES if chosen == list(DEFAULT) else chosen:
        with tempfile.TemporaryDirectory() as folder, torch.no_grad():
            asset = make_asset(*zoo.FAMILIES[name](1, "full"), Path(folder))
            if name in chosen:
                print(f"{name}: fresh process with one result {fresh_process(asset):.0f} ms")
                alone, shared = beside_a_neighbour(asset)
                print(f"{name}: {alone:.2f} ms alone, {shared:.2f} ms beside a busy core ({shared / alone:.2f}x)")
            print(f"{name}: {roofline(asset)}", flush=True)


if __name__ == "__main__":
    main()
