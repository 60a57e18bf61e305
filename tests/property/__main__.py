"""Random graphs against eager: python -m property --count 20000 [--seed 0] [--jobs 2]"""

from __future__ import annotations

import argparse
import collections
import json
import logging
import queue
import runpy
import select
import signal
import subprocess
import sys
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from conformance.pool import Progress

SECONDS_PER_CASE = 120
DIED = "the process died or hung"


@dataclass
class Findings:
    counts: collections.Counter[str] = field(default_factory=collections.Counter)
    bad: list[dict[str, Any]] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, found: dict[str, Any]) -> None:
        with self.lock:
            self.counts[found["status"]] += 1
            self.counts["lines"] += found.get("lines", 0)
            if found["status"] in ("wrong", "failed", "refused"):
                self.bad.append(found)
                print(f"\nseed {found['seed']} is {found['status']}: {found['detail']}", flush=True)


class Worker:
    """A process that checks seeds; a new one when it dies or hangs, which costs the seed it was at."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[bytes] | None = None
        self.has_eager_died = False

    def check(self, seed: int) -> dict[str, Any]:
        """A process that dies or hangs is no finding before it does so twice: machines are busy now and then.

        One that dies in eager, some of whose operators divide integers by zero, is none of ours.
        """
        found = self.check_once(seed) or self.check_once(seed)
        status = "void" if self.has_eager_died else "failed"
        return found or {"seed": seed, "status": status, "detail": DIED}

    def check_once(self, seed: int) -> dict[str, Any] | None:
        if self.process is None:
            command = [sys.executable, "-m", "property.worker"]
            pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
            self.process = subprocess.Popen(command, bufsize=0, cwd=Path(__file__).parents[1], **pipes)
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write(f"{seed}\n".encode())
        is_made = self.read_line() == b"made\n"
        line = self.read_line() if is_made else b""
        if line.endswith(b"\n"):
            return json.loads(line)
        process = self.process
        self.stop()
        self.has_eager_died = not is_made and process.returncode == -signal.SIGFPE
        return None

    def read_line(self) -> bytes:
        """Empty where none comes in time."""
        assert self.process and self.process.stdout
        is_there = select.select([self.process.stdout], [], [], SECONDS_PER_CASE)[0]
        return self.process.stdout.readline() if is_there else b""

    def stop(self) -> None:
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process = None


def run(seeds: range, jobs: int) -> Findings:
    waiting: queue.SimpleQueue[int] = queue.SimpleQueue()
    for seed in seeds:
        waiting.put(seed)
    findings, progress = Findings(), Progress(len(seeds))

    def work() -> None:
        worker = Worker()
        while True:
            try:
                seed = waiting.get_nowait()
            except queue.Empty:
                return worker.stop()
            findings.add(worker.check(seed))
            progress.step(f"graph {seed}")

    threads = [threading.Thread(target=work) for _ in range(jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    progress.end()
    return findings


def show_smallest(seed: int) -> None:
    from property.generate import generate
    from property.shrink import shrink

    case, verdict = shrink(generate(seed), seed)
    print(f"\n# seed {seed}: {verdict.status}\n# " + verdict.detail.replace("\n", "\n# "))
    print(case.script())


def check_file(path: str) -> int:
    from property.check import PASSES, check

    case = runpy.run_path(path)["CASE"]
    for seed in range(len(PASSES)):
        verdict = check(case, seed)
        print(f"{verdict.status}: {verdict.detail}" if verdict.detail else verdict.status)
        if verdict.is_bad:
            return 1
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m property", description=__doc__)
    parser.add_argument("--count", type=int, default=1000, help="how many graphs")
    parser.add_argument("--seed", type=int, default=0, help="the first graph's number")
    parser.add_argument("--jobs", type=int, default=1, help="processes at once")
    parser.add_argument("--shrink", type=int, default=20, help="at most so many graphs that fail are made smaller")
    parser.add_argument("--case", help="check the case in this file, with each pass alone in turn")
    parser.add_argument("--show", type=int, help="print the graph of this number")
    given = parser.parse_args()
    logging.disable(logging.WARNING)
    if given.case:
        return check_file(given.case)
    if given.show is not None:
        from property.generate import generate

        print(generate(given.show).script())
        return 0
    findings = run(range(given.seed, given.seed + given.count), given.jobs)
    counts = findings.counts
    print(
        f"{given.count} graphs of {counts.pop('lines')} lines: "
        + ", ".join(f"{count} {status}" for status, count in sorted(counts.items()))
    )
    for found in findings.bad[: given.shrink]:
        show_smallest(found["seed"])
    return 1 if findings.bad else 0


if __name__ == "__main__":
    sys.exit(main())
