#!/usr/bin/env python3
"""Ingot beside PyTorch eager (and torch.compile), on the same exported programs at batch 1.

Runs are interleaved, so that a busy machine slows all alike; the table has medians, and the quarter and three-quarter
quantiles behind them. Results are compared with eager before anything is timed.
"""

from __future__ import annotations

import argparse
import json
import logging
import platform
import statistics
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import ingot
import torch

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))
from models import zoo  # noqa: E402
from support import assert_close, export, save_pt2, tensors_of  # noqa: E402
from support import ingot as program  # noqa: E402

RESULTS = ROOT / "bench" / "results.json"
Call = Callable[[], Any]


@dataclass
class Timing:
    """Milliseconds of one contestant."""

    samples: list[float] = field(default_factory=list)

    def median(self) -> float:
        return statistics.median(self.samples)

    def spread(self) -> tuple[float, float]:
        low, _, high = statistics.quantiles(self.samples, n=4)
        return low, high


@dataclass
class Result:
    model: str
    threads: int
    convert_s: float
    specialise_s: float
    timings: dict[str, Timing] = field(default_factory=dict)

    def ratio(self) -> float:
        return self.timings["eager"].median() / self.timings["ingot"].median()


def seconds(work: Call) -> tuple[float, Any]:
    start = time.perf_counter()
    value = work()
    return time.perf_counter() - start, value


def interleave(contestants: dict[str, Call], budget_s: float) -> dict[str, Timing]:
    """Every contestant in turn, at least 5 times, until the time is spent."""
    timings = {name: Timing() for name in contestants}
    for call in contestants.values():
        call()
    end = time.perf_counter() + budget_s
    while time.perf_counter() < end or len(next(iter(timings.values())).samples) < 5:
        for name, call in contestants.items():
            taken, _ = seconds(call)
            timings[name].samples.append(taken * 1e3)
    return timings


def check(name: str, actual: Any, expected: Any) -> None:
    for index, (left, right) in enumerate(zip(tensors_of(actual), tensors_of(expected), strict=True)):
        assert_close(left, right, what=f"{name} output {index}")


def measure(name: str, options: argparse.Namespace, folder: Path) -> list[Result]:
    size: zoo.Size = "small" if options.quick else "full"
    module, args = zoo.FAMILIES[name](1, size)
    pt2, asset = folder / f"{name}.pt2", folder / f"{name}.ingot"
    save_pt2(export(module, args), pt2)
    convert_s, _ = seconds(lambda: program("convert", pt2, "-o", asset))
    specialise_s, loaded = seconds(lambda: ingot.load(asset))
    contestants: dict[str, Call] = {"eager": lambda: module(*args), "ingot": lambda: loaded(*args)}
    if options.compile:
        compiled = torch.compile(module)
        contestants["compile"] = lambda: compiled(*args)
    expected = module(*args)
    for contestant, call in contestants.items():
        check(f"{name} by {contestant}", call(), expected)
    results = []
    for threads in options.threads:
        torch.set_num_threads(threads)
        ingot.set_num_threads(threads)
        timings = interleave(contestants, options.seconds)
        results.append(Result(name, threads, convert_s, specialise_s, timings))
    return results


def print_table(results: list[Result], contestants: list[str]) -> None:
    times = "".join(f"{name + ' ms':>26}" for name in contestants)
    print(f"{'model':<18}{'threads':>8}{times}{'eager/ingot':>13}{'convert s':>11}{'specialise s':>14}")
    for result in results:
        cells = ""
        for name in contestants:
            low, high = result.timings[name].spread()
            cells += f"{f'{result.timings[name].median():.2f} [{low:.2f}, {high:.2f}]':>26}"
        tail = f"{result.ratio():>12.2f}x{result.convert_s:>11.2f}{result.specialise_s:>14.2f}"
        print(f"{result.model:<18}{result.threads:>8}{cells}{tail}")


def write_results(results: list[Result], quick: bool) -> None:
    about = {
        "machine": platform.processor() or platform.machine(),
        "torch": torch.__version__,
        "ingot": ingot.__version__,
        "size": "small" if quick else "full",
    }
    RESULTS.write_text(json.dumps({"about": about, "results": [asdict(result) for result in results]}, indent=1) + "\n")


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = ",".join(zoo.FAMILIES)
    parser.add_argument("--models", default=names, help=f"comma-separated, of {names}")
    parser.add_argument("--threads", default="1,2", help="comma-separated numbers of threads (default: 1,2)")
    parser.add_argument("--seconds", type=float, help="for each model and number of threads (default: 10, quick: 1)")
    parser.add_argument("--compile", action="store_true", help="measure torch.compile as well")
    parser.add_argument("--quick", action="store_true", help="small sizes and short runs, to see that all works")
    options = parser.parse_args()
    options.models = options.models.split(",")
    options.threads = [int(number) for number in options.threads.split(",")]
    options.seconds = options.seconds or (1.0 if options.quick else 10.0)
    unknown = sorted(set(options.models) - set(zoo.FAMILIES))
    if unknown:
        parser.error(f"no such model: {', '.join(unknown)}; there are {names}")
    return options


def main() -> None:
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    options = parse()
    results: list[Result] = []
    with tempfile.TemporaryDirectory() as folder, torch.no_grad():
        for number, name in enumerate(options.models, 1):
            print(f"[{number}/{len(options.models)}] {name}", file=sys.stderr)
            results += measure(name, options, Path(folder))
    contestants = ["eager", "compile", "ingot"] if options.compile else ["eager", "ingot"]
    print_table(results, contestants)
    write_results(results, options.quick)


if __name__ == "__main__":
    main()
