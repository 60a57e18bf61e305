#!/usr/bin/env python3
"""Ingot beside the other runtimes, on the same exported programs and inputs.

Every runtime is a process in an environment of its own (build/peers, made when it is first needed; what cannot be
installed or converted is reported). Results are compared with eager PyTorch before anything is timed. Runs are
interleaved, so that a busy machine slows all alike; the table has medians, and the quarter and three-quarter quantiles.

  python bench/run.py                                    everything
  python bench/run.py --models resnet50,bert_base --threads 2
  python bench/run.py --quick                            three models, two minutes
"""

from __future__ import annotations

import argparse
import json
import logging
import platform
import sys
import tempfile
import warnings
from dataclasses import asdict
from pathlib import Path
from typing import Any

import contest
import ingot
import numpy as np
import report
import torch

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))
from models import zoo  # noqa: E402
from support import assert_close, export, save_pt2, tensors_of  # noqa: E402

RESULTS = ROOT / "bench" / "results.json"
CHART = ROOT / "bench" / "results.svg"
BATCHED = ("resnet50", "mobilenet_v2", "bert_base", "vit_b16")
QUICK = ("resnet50", "mobilenet_v2", "minilm")


def save_arrays(path: Path, tensors: Any) -> Path:
    np.savez(path, **{f"{i:03}": tensor.detach().numpy() for i, tensor in enumerate(tensors)})
    return path


def measure(name: str, batch: int, options: argparse.Namespace, folder: Path) -> list[report.Row]:
    module, args = zoo.FAMILIES[name](batch, "small" if options.small else "full")
    model = folder / f"{name}.pt2"
    save_pt2(export(module, args), model)
    inputs = save_arrays(folder / "inputs.npz", args)
    expected = [tensor.detach() for tensor in tensors_of(module(*args))]
    del module

    def check(runtime: str, outputs: Path) -> None:
        with np.load(outputs) as file:
            found = [torch.from_numpy(file[key]) for key in sorted(file.files)]
        if len(found) != len(expected):
            raise AssertionError(f"{runtime} gives {len(found)} outputs, not {len(expected)}")
        for index, (left, right) in enumerate(zip(found, expected, strict=True)):
            assert_close(left, right, what=f"{name} by {runtime}, output {index}")

    converted = contest.convert_all(model, folder, options.runtimes)
    rows = []
    for threads in options.threads:
        task = contest.Task(inputs, folder, threads, options.seconds)
        rows.append(report.Row(name, batch, threads, contest.race(task, converted, check)))
    return rows


def write_results(rows: list[report.Row], options: argparse.Namespace) -> None:
    about = {
        "machine": platform.processor() or platform.machine(),
        "torch": torch.__version__,
        "ingot": ingot.__version__,
        "size": "small" if options.small else "full",
    }
    results = [asdict(row) | {"ratio_to_fastest_peer": row.ratio()} for row in rows]
    RESULTS.write_text(json.dumps({"about": about, "results": results}, indent=1) + "\n")
    most = max(options.threads)
    CHART.write_text(report.chart([row for row in rows if row.threads == most and row.batch == 1], options.runtimes))


def chosen(parser: argparse.ArgumentParser, text: str, known: Any, what: str) -> list[str]:
    names = text.split(",")
    if unknown := sorted(set(names) - set(known)):
        parser.error(f"no such {what}: {', '.join(unknown)}; there are {', '.join(known)}")
    return names


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", default=",".join(zoo.FAMILIES), help="comma-separated (default: all)")
    parser.add_argument("--runtimes", default=",".join(contest.RUNTIMES), help="comma-separated (default: all)")
    parser.add_argument("--threads", default="1,2", help="comma-separated numbers of threads (default: 1,2)")
    parser.add_argument("--batches", default="1,8", help="sizes of the batch; above 1 for four models (default: 1,8)")
    parser.add_argument(
        "--seconds", type=float, default=10.0, help="for each model and number of threads (default: 10)"
    )
    parser.add_argument("--small", action="store_true", help="small sizes of the models, to see that all works")
    parser.add_argument(
        "--quick", action="store_true", help="three models at batch 1 with two threads, for two minutes"
    )
    options = parser.parse_args()
    if options.quick:
        options.models, options.threads, options.batches, options.seconds = ",".join(QUICK), "2", "1", 5.0
    options.models = chosen(parser, options.models, zoo.FAMILIES, "model")
    options.runtimes = chosen(parser, options.runtimes, contest.RUNTIMES, "runtime")
    options.threads = [int(number) for number in options.threads.split(",")]
    options.batches = [int(number) for number in options.batches.split(",")]
    return options


def main() -> None:
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    options = parse()
    cases = [(name, batch) for batch in options.batches for name in options.models if batch == 1 or name in BATCHED]
    rows: list[report.Row] = []
    with torch.no_grad():
        for number, (name, batch) in enumerate(cases, 1):
            print(f"[{number}/{len(cases)}] {name}, batch {batch}", file=sys.stderr)
            with tempfile.TemporaryDirectory() as folder:
                rows += measure(name, batch, options, Path(folder))
            write_results(rows, options)  # an hour's work is not lost with its last model
    print(report.table(rows, options.runtimes))
    print(report.costs([row for row in rows if row.threads == max(options.threads)], options.runtimes))


if __name__ == "__main__":
    main()
