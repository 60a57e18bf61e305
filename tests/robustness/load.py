"""Many threads call, load, save and convert programs for minutes: every result is right, memory and times stay.

python -m robustness.load --threads 32 --minutes 10            one program of each kind, called from every thread
python -m robustness.load --threads 4 --minutes 60 --convert   the same, and models are converted in between
"""

from __future__ import annotations

import argparse
import gc
import random
import shutil
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

import ingot
import torch
from support import export

BATCHES = (1, 2, 3, 5, 8, 13)
WIDTH = 24


class Plain(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.norm = torch.nn.Linear(WIDTH, 48), torch.nn.LayerNorm(48)
        self.second = torch.nn.Linear(48, WIDTH)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.softmax(self.second(torch.nn.functional.gelu(self.norm(self.first(x)))), -1)


class Image(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv, self.norm = torch.nn.Conv1d(1, 6, 3, padding=1), torch.nn.BatchNorm1d(6)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.norm(self.conv(x[:, None]))).amax(-1)


class Attention(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.MultiheadAttention(WIDTH, 4, batch_first=True)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = x[:, None] * torch.linspace(0.5, 1, 5)[None, :, None]
        return self.layer(y, y, y, need_weights=False)[0].sum(1)


class Counter(torch.nn.Module):
    """Keeps the sum of what it has seen."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("total", torch.zeros(WIDTH))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.total += x.round().sum(0)
        return self.total.clone()


MODELS = (Plain, Image, Attention)


@dataclass
class Kind:
    """A model, its asset, and what it gives for each input."""

    asset: Path
    exported: torch.export.ExportedProgram
    program: ingot.Program
    inputs: list[torch.Tensor]
    expected: list[torch.Tensor]


def make_kind(model: type[torch.nn.Module], folder: Path) -> Kind:
    torch.manual_seed(len(model.__name__))
    module = model().eval().requires_grad_(False)
    inputs = [torch.randn(batch, WIDTH) for batch in BATCHES]
    exported = export(
        module, (inputs[2],), dynamic_shapes=({0: torch.export.Dim("batch", min=1, max=64)},), strict=False
    )
    program = ingot.convert(exported)
    asset = folder / f"{model.__name__}.ingot"
    program.save_asset(asset)
    return Kind(asset, exported, ingot.load(asset), inputs, [module(x) for x in inputs])


def resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


@dataclass
class Sample:
    at: float
    calls: int
    resident: int
    worked: float  # seconds of the CPUs


@dataclass
class Load:
    kinds: list[Kind]
    counter: ingot.Program
    folder: Path
    converts: bool = False
    errors: list[str] = field(default_factory=list)
    calls: list[int] = field(default_factory=list)
    stop: threading.Event = field(default_factory=threading.Event)

    def work(self, number: int) -> None:
        """One thread: calls, mostly; its session counts for itself."""
        generator = random.Random(number)
        session, total = self.counter.session(), torch.zeros(WIDTH)
        while not self.stop.is_set():
            try:
                self.call(generator)
                x = torch.full((generator.choice(BATCHES), WIDTH), float(number))
                total += x.sum(0)
                self.compare(session(x), total, f"the session of thread {number}")
                if total[0].abs() > 1e6:
                    session.reset_states()
                    total.zero_()
                if generator.random() < 0.002:
                    self.reload(generator, number)
                if self.converts and generator.random() < 0.0005:
                    self.convert(generator)
            except Exception as error:
                self.fail(f"thread {number}: {type(error).__name__}: {error}")
            self.calls[number] += 2

    def call(self, generator: random.Random, program: ingot.Program | None = None, kind: Kind | None = None) -> None:
        kind = kind or generator.choice(self.kinds)
        index = generator.randrange(len(BATCHES))
        given = kind.inputs[index]
        if generator.random() < 0.3:  # the same values in other places
            given = given.t().contiguous().t()
        actual = (program or kind.program)(x=given)
        actual = actual if isinstance(actual, torch.Tensor) else next(iter(actual))
        self.compare(actual, kind.expected[index], f"{kind.asset.stem} for {BATCHES[index]} rows")

    def compare(self, actual: torch.Tensor, expected: torch.Tensor, what: str) -> None:
        if not torch.allclose(actual, expected, rtol=1e-4, atol=1e-5):
            self.fail(f"{what}: off by {(actual - expected).abs().max().item()}")

    def reload(self, generator: random.Random, number: int) -> None:
        """Loads, calls, saves elsewhere, and forgets all of it."""
        kind = generator.choice(self.kinds)
        program = ingot.load(kind.asset)
        self.call(generator, program, kind)
        copy = self.folder / f"copy-{number}.ingot"
        program.save_asset(copy, overwrite=True)
        del program
        self.call(generator, ingot.load(copy), kind)
        shutil.rmtree(copy)

    def convert(self, generator: random.Random) -> None:
        kind = generator.choice(self.kinds)
        self.call(generator, ingot.convert(kind.exported), kind)

    def fail(self, text: str) -> None:
        self.errors.append(text)
        if len(self.errors) > 20:
            self.stop.set()

    def run(self, threads: int, seconds: float, say: object = None) -> list[Sample]:
        self.calls = [0] * threads
        workers = [threading.Thread(target=self.work, args=(number,)) for number in range(threads)]
        start, samples = time.monotonic(), []
        for worker in workers:
            worker.start()
        while time.monotonic() - start < seconds and not self.stop.is_set():
            self.stop.wait(min(max(seconds / 60, 0.2), 10))
            gc.collect()
            samples.append(Sample(time.monotonic() - start, sum(self.calls), resident_bytes(), time.process_time()))
            if say:
                say(samples[-1])
        self.stop.set()
        for worker in workers:
            worker.join()
        return samples


def make_load(folder: Path, converts: bool = False) -> Load:
    kinds = [make_kind(model, folder) for model in MODELS]
    shapes = ({0: torch.export.Dim("batch", min=1, max=64)},)
    counter = ingot.convert(export(Counter(), (torch.zeros(3, WIDTH),), dynamic_shapes=shapes, strict=False))
    return Load(kinds, counter, folder, converts)


def growth(samples: list[Sample]) -> tuple[float, float]:
    """Bytes a second by which memory grows after the first third, and calls a second at the end for one after it.

    Seconds of work: how much of the machine others leave to us is no matter of ours."""
    settled = samples[len(samples) // 3 :]
    times = torch.tensor([sample.at for sample in settled], dtype=torch.float64)
    memory = torch.tensor([float(sample.resident) for sample in settled], dtype=torch.float64)
    centred = times - times.mean()
    slope = float((centred * (memory - memory.mean())).sum() / centred.square().sum())
    middle = len(settled) // 2

    def rate(part: list[Sample]) -> float:
        return (part[-1].calls - part[0].calls) / (part[-1].worked - part[0].worked)

    return slope, rate(settled[middle:]) / rate(settled[: middle + 1])


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m robustness.load", description=__doc__)
    parser.add_argument("--threads", type=int, default=32)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--convert", action="store_true", help="convert models in between")
    given = parser.parse_args()

    def say(sample: Sample) -> None:
        if sys.stderr.isatty():
            part = min(int(30 * sample.at / (60 * given.minutes)), 30)
            text = f"{sample.calls} calls, {sample.resident >> 20} MB"
            print(f"\r[{'#' * part:<30}] {text:<40}", end="", file=sys.stderr)

    with tempfile.TemporaryDirectory(prefix="ingot-load-") as folder:
        load = make_load(Path(folder), given.convert)
        samples = load.run(given.threads, 60 * given.minutes, say)
    slope, pace = growth(samples)
    print("\n".join(load.errors))
    first, last = samples[len(samples) // 3], samples[-1]
    print(f"{given.threads} threads, {last.at:.0f} s, {last.calls} calls, {len(load.errors)} wrong")
    sizes = f"{first.resident >> 20} MB after a third, {last.resident >> 20} MB at the end"
    print(f"memory {sizes}, {slope * 60 / 1024:+.0f} KB a minute")
    print(f"pace at the end {pace:.2f} of before, by the CPUs' time")
    # Allocators keep what they had at the busiest moment: a little more now and then is no leak.
    grows = slope * (last.at - first.at) > max(16 << 20, 0.05 * first.resident)
    if grows:
        print("memory grows")
    return 1 if load.errors or grows or pace < 0.7 else 0


if __name__ == "__main__":
    sys.exit(main())
