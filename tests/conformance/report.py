"""Outcomes of conformance cases, counted and shown.

native    ran without PyTorch and agreed with eager
fallback  ran through the libtorch plugin and agreed
refused   conversion said that it cannot
wrong     disagreed, or failed where eager does not
crash     took its process with it, or hung
export    torch.export refuses the sample; not counted
eager     eager itself refuses the sample; not counted
"""

from __future__ import annotations

import json
import threading
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path

COUNTED = ("native", "fallback", "refused", "wrong", "crash")


@dataclass(frozen=True)
class Outcome:
    op: str
    dtype: str
    sample: int
    status: str
    detail: str


@dataclass
class Tally:
    """Outcomes, and with a log also a line of JSON for each, so that an interrupted run is not lost."""

    outcomes: list[Outcome] = field(default_factory=list)
    log: Path | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, outcome: Outcome) -> None:
        with self.lock:
            self.outcomes.append(outcome)
            if self.log:
                with self.log.open("a") as lines:
                    lines.write(json.dumps(asdict(outcome)) + "\n")

    def start_log(self, log: Path, is_kept: Callable[[Outcome], bool]) -> None:
        """Takes over those outcomes of an earlier run that are to be kept."""
        earlier = [Outcome(**json.loads(line)) for line in log.read_text().splitlines()] if log.exists() else []
        log.write_text("")
        self.log = log
        for outcome in filter(is_kept, earlier):
            self.add(outcome)

    def count(self, status: str) -> int:
        return sum(outcome.status == status for outcome in self.outcomes)

    def by_dtype(self) -> dict[str, Counter[str]]:
        table: dict[str, Counter[str]] = defaultdict(Counter)
        for outcome in self.outcomes:
            table[outcome.dtype][outcome.status] += 1
        return table

    def by_op(self) -> dict[str, dict[str, dict[str, int]]]:
        """Counts of statuses by operator and dtype, only of what counts."""
        table: dict[str, dict[str, dict[str, int]]] = {}
        for outcome in sorted(self.outcomes, key=lambda o: o.op):
            if outcome.status in COUNTED:
                counts = table.setdefault(outcome.op, {}).setdefault(outcome.dtype, {})
                counts[outcome.status] = counts.get(outcome.status, 0) + 1
        return table


def finished(log: Path, jobs: int) -> set[tuple[str, str]]:
    """The operators and dtypes that a log has whole; the last ones may have been interrupted."""
    order: dict[tuple[str, str], None] = {}
    for line in log.read_text().splitlines() if log.exists() else []:
        outcome = json.loads(line)
        order.pop((outcome["op"], outcome["dtype"]), None)
        order[(outcome["op"], outcome["dtype"])] = None
    return set(list(order)[: -2 * jobs])


def summary_text(tally: Tally) -> str:
    rows = ["dtype   " + "".join(f"{status:>10}" for status in (*COUNTED, "export", "eager")) + "    native %"]
    for dtype, counts in tally.by_dtype().items():
        total = sum(counts[status] for status in COUNTED)
        share = 100 * counts["native"] / total if total else 100.0
        cells = "".join(f"{counts[status]:>10}" for status in (*COUNTED, "export", "eager"))
        rows.append(f"{dtype:<8}{cells}{share:>12.2f}")
    return "\n".join(rows)


def failures_text(tally: Tally, statuses: list[str], width: int) -> str:
    groups: dict[tuple[str, str, str], list[Outcome]] = defaultdict(list)
    for outcome in tally.outcomes:
        if outcome.status in statuses:
            detail = " ".join(outcome.detail.split())[:width]
            groups[(outcome.op, outcome.status, detail)].append(outcome)
    lines = []
    for (op, status, detail), members in sorted(groups.items()):
        places = Counter(member.dtype for member in members)
        where = " ".join(f"{dtype}:{count}" for dtype, count in places.items())
        lines.append(f"{status} {op} ({where}, sample {members[0].sample}): {detail}")
    return "\n".join(lines)
