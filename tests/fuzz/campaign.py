"""Runs `ingot` on hostile files and says what it should not have done."""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path
from random import Random

from fuzz.assets import mutate_asset
from fuzz.files import mutate_operator, mutate_pt2
from fuzz.mutate import mutate_json, mutate_json_text
from fuzz.seeds import INGOT

TESTS = Path(__file__).parents[1]
SECONDS = 20  # of the processor
CALL_SECONDS = 10  # a loop that a changed bit makes endless is ended, as a service would do it
PATIENCE = 300  # seconds on the clock: other work may have the processor
RESIDENT_MIB = 2048
ADDRESS_SPACE = 16 << 30
LOOKS = ("info", "show", "validate", "visualize")
KINDS = {"usage", "corrupt", "unsupported", "io"}


@dataclass
class Outcome:
    """What one command did."""

    code: int
    seconds: float
    mebibytes: int
    output: str
    errors: str
    timed_out: bool

    def kind(self) -> str:
        try:
            return str(json.loads(self.output)["error"]["kind"])
        except (ValueError, KeyError, TypeError):
            return ""

    def problem(self) -> str:
        """What is wrong with it; empty for success and for a clean error."""
        if self.timed_out:
            return f"did not end in {PATIENCE} s"
        if self.code == -signal.SIGXCPU or self.seconds > SECONDS:
            return f"took more than {SECONDS} s"
        if self.code < 0:
            return f"died of {signal.Signals(-self.code).name}"
        if self.mebibytes > RESIDENT_MIB:
            return f"took {self.mebibytes} MiB"
        if self.code == 0:
            return ""
        if self.code != 1:
            return f"exit code {self.code}"
        said = [line for line in self.errors.splitlines() if not line.startswith("ingot: warn: ")]
        if self.kind() not in KINDS or not said or not said[0].startswith("error: "):
            return f"no clean error ({self.kind()})"
        return ""


def set_limits() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def run_command(*arguments: object) -> Outcome:
    """`ingot` with these arguments, or with "python" and a path the Python package on the file."""
    command = [str(INGOT), *map(str, arguments), "--json"]
    if arguments[0] == "python":
        command = [sys.executable, "-m", "fuzz.door", *map(str, arguments[1:])]
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=errors, preexec_fn=set_limits,
            env={**os.environ, "INGOT_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}, cwd=TESTS,
        )  # fmt: skip
        killed = threading.Event()
        timer = threading.Timer(PATIENCE, lambda: (killed.set(), process.kill()))
        timer.daemon = True  # an interrupted campaign does not wait for it
        timer.start()
        _, status, usage = os.wait4(process.pid, 0)
        timer.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        texts = []
        for file in (output, errors):
            file.seek(0)
            texts.append(file.read(1 << 20).decode(errors="replace"))
    seconds = usage.ru_utime + usage.ru_stime
    return Outcome(process.returncode, seconds, usage.ru_maxrss >> 10, texts[0], texts[1], killed.is_set())


@dataclass
class Finding:
    number: int
    what: str
    seed: str
    command: str
    errors: str


class Campaign:
    """Case number N of a seed is always the same file, so that a finding can be made again from its number."""

    def __init__(self, seeds: Path, found: Path, seed: int) -> None:
        self.programs = sorted((seeds / "pt2").glob("*.pt2"))
        self.assets = sorted((seeds / "assets").glob("*.ingot"))
        self.operators = sorted((seeds / "operators").glob("*.pt2"))
        self.documents = sorted((seeds / "documents").glob("*.json"))
        self.found = found
        self.seed = seed
        self.findings: list[Finding] = []
        self.codes = {"accepted": 0, "refused": 0}
        self.slowest = 0.0
        self.largest = 0

    def case(self, number: int) -> None:
        random = Random(f"{self.seed}/{number}")
        with tempfile.TemporaryDirectory(prefix="ingot-fuzz-") as name:
            folder = Path(name)
            cases = (self.program_case, self.operator_case, self.asset_case, self.document_case)
            random.choices(cases, (40, 20, 35, 5))[0](number, random, folder)

    def program_case(self, number: int, random: Random, folder: Path) -> None:
        seed = random.choice(self.programs)
        level, data = mutate_pt2(seed.read_bytes(), random)
        self.convert_and_run(number, f"{seed.name} {level}", data, folder)
        if number % 4 == 0:
            path, command = folder / "case.pt2", random.choice((*LOOKS, "extract"))
            self.check(number, f"{seed.name} {level}", path, command, path)

    def operator_case(self, number: int, random: Random, folder: Path) -> None:
        seed = random.choice(self.operators)
        self.convert_and_run(number, f"operator {seed.name}", mutate_operator(seed.read_bytes(), random), folder)

    def convert_and_run(self, number: int, label: str, data: bytes, folder: Path) -> None:
        path, asset = folder / "case.pt2", folder / "case.ingot"
        path.write_bytes(data)
        if self.check(number, label, path, "convert", path, "-o", asset) == 0:
            self.check(number, label, path, "run", asset, "--random-seed", 1, "--time-limit", CALL_SECONDS)

    def document_case(self, number: int, random: Random, folder: Path) -> None:
        seed = random.choice(self.documents)
        path = folder / "case.json"
        path.write_bytes(random.choice((mutate_json, mutate_json, mutate_json_text))(seed.read_bytes(), random))
        for command in ("info", "validate", "visualize"):
            self.check(number, seed.name, path, command, path)
        self.check(number, seed.name, path, "convert", path, "-o", folder / "case.ingot")
        self.check(number, seed.name, path, "diff", path, seed)
        if number % 4 == 0:
            self.check(number, seed.name, path, "python", path)

    def asset_case(self, number: int, random: Random, folder: Path) -> None:
        seed = random.choice(self.assets)
        asset = folder / "case.ingot"
        label = f"{seed.name} {mutate_asset(seed, asset, random)}"
        kept = folder / "kept.ingot"  # running writes a cache into the asset
        shutil.copytree(asset, kept, symlinks=True, copy_function=copy_plain)
        self.check(number, label, kept, "run", asset, "--random-seed", 1, "--time-limit", CALL_SECONDS)
        if number % 4 == 0:
            self.check(number, label, kept, random.choice(LOOKS), asset)
        if number % 10 == 3:
            self.check(number, label, kept, "python", asset)

    def check(self, number: int, label: str, path: Path, *command: object) -> int:
        outcome = run_command(*command)
        if outcome.timed_out:  # a machine may stand still; a command that never ends does so again
            outcome = run_command(*command)
        self.codes["refused" if outcome.code else "accepted"] += 1
        self.slowest = max(self.slowest, outcome.seconds)
        self.largest = max(self.largest, outcome.mebibytes)
        problem = outcome.problem()
        if command[0] == "diff" and outcome.code in (1, 2):  # as `diff` does: there are differences, or an error
            problem = ""
        if problem:
            self.keep(Finding(number, problem, label, str(command[0]), outcome.errors[-2000:]), path)
        return outcome.code

    def keep(self, finding: Finding, path: Path) -> None:
        self.findings.append(finding)
        self.found.mkdir(parents=True, exist_ok=True)
        target = self.found / f"{self.seed}-{finding.number}{path.suffix}"
        if path.is_dir():
            shutil.copytree(path, target, symlinks=True, copy_function=copy_plain, dirs_exist_ok=True)
        else:
            shutil.copy(path, target)
        text = f"{finding.what}\ningot {finding.command}\nseed {finding.seed}\n{finding.errors}\n"
        target.with_suffix(".txt").write_text(text)


def copy_plain(source: str, target: str) -> None:
    if Path(source).is_file():
        shutil.copy(source, target, follow_symlinks=False)
