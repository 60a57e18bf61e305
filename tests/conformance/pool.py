"""Spreads units over worker processes; a worker that dies or hangs costs the case it was at."""

from __future__ import annotations

import json
import queue
import select
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

from conformance.cases import Unit
from conformance.dynamic import DynamicCase
from conformance.report import Outcome, Tally

# A case takes well under a second; a build of a large kernel on a loaded machine may take longer.
SECONDS_PER_CASE = 120


class Worker:
    """One process, restarted when it dies."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-m", "conformance.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            cwd=Path(__file__).parents[1],
        )

    def stop(self) -> None:
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process = None

    def run(self, unit: Unit | DynamicCase, tally: Tally) -> None:
        first: int | None = 0
        while first is not None:
            first = self.run_from(unit, first, tally)

    def run_from(self, unit: Unit | DynamicCase, first: int, tally: Tally) -> int | None:
        """The sample to go on with after a crash, or None when the unit is done."""
        self.process = self.process or self.start()
        left = self.limit - first if self.limit else 0
        assert self.process.stdin
        self.process.stdin.write(json.dumps(unit.job(first, left)).encode() + b"\n")
        current, has_eager_survived = first, False
        while True:
            message = self.read()
            if message is None:
                self.stop()
                status = "crash" if has_eager_survived else "eager"
                tally.add(Outcome(unit.name, unit.dtype, current, status, "the process died or hung"))
                ended = isinstance(unit, DynamicCase) or (self.limit and current + 1 >= self.limit)
                return None if ended else current + 1
            if "start" in message:
                current, has_eager_survived = message["start"], False
            elif "survived" in message:
                has_eager_survived = True
            elif "end" in message:
                tally.add(Outcome(unit.name, unit.dtype, message["end"], message["status"], message["detail"]))
            else:
                return None

    def read(self) -> dict | None:
        assert self.process and self.process.stdout
        if not select.select([self.process.stdout], [], [], SECONDS_PER_CASE)[0]:
            return None
        line = self.process.stdout.readline()  # unbuffered, so that select sees what is left
        return json.loads(line) if line.endswith(b"\n") else None


def run_units(units: Sequence[Unit | DynamicCase], jobs: int, limit: int, tally: Tally) -> None:
    waiting: queue.SimpleQueue[Unit | DynamicCase] = queue.SimpleQueue()
    for unit in units:
        waiting.put(unit)
    progress = Progress(len(units))

    def work() -> None:
        worker = Worker(limit)
        while True:
            try:
                unit = waiting.get_nowait()
            except queue.Empty:
                return worker.stop()
            worker.run(unit, tally)
            progress.step(unit.name)

    threads = [threading.Thread(target=work) for _ in range(jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    progress.end()


class Progress:
    """A bar on the terminal, and nothing elsewhere."""

    def __init__(self, total: int) -> None:
        self.total, self.done = total, 0
        self.lock = threading.Lock()
        self.shown = sys.stderr.isatty()

    def step(self, name: str) -> None:
        with self.lock:
            self.done += 1
            if self.shown:
                bar = "#" * (30 * self.done // self.total)
                print(f"\r[{bar:<30}] {self.done}/{self.total} {name:<50.50}", end="", file=sys.stderr)

    def end(self) -> None:
        if self.shown:
            print(file=sys.stderr)
