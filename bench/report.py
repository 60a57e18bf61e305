"""Results as a table, as JSON, and as a picture."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from contest import Entry

BASELINES = ("eager",)


@dataclass(frozen=True)
class Row:
    model: str
    batch: int
    threads: int
    entries: list[Entry]

    def median(self, runtime: str) -> float | None:
        for entry in self.entries:
            if entry.runtime == runtime and entry.samples_ms:
                return statistics.median(entry.samples_ms)
        return None

    def fastest_peer(self) -> tuple[str, float] | None:
        peers = [(self.median(entry.runtime), entry.runtime) for entry in self.entries if entry.runtime != "ingot"]
        known = [(time, name) for time, name in peers if time is not None]
        return (min(known)[1], min(known)[0]) if known else None

    def ratio(self) -> float | None:
        """How many times faster than the fastest peer."""
        peer, ours = self.fastest_peer(), self.median("ingot")
        return None if peer is None or ours is None else peer[1] / ours


def spread(samples: Sequence[float]) -> str:
    low, middle, high = statistics.quantiles(samples, n=4) if len(samples) > 1 else (samples[0],) * 3
    return f"{middle:.2f} [{low:.2f}, {high:.2f}]"


def mean_of(ratios: Sequence[float]) -> float:
    return math.exp(statistics.fmean(math.log(ratio) for ratio in ratios))


def means_by_peer(rows: Sequence[Row], runtimes: Sequence[str]) -> str:
    """Over the models that the peer ran, and the smallest of them."""
    parts = []
    for name in runtimes:
        pairs = [(row.median(name), row.median("ingot")) for row in rows]
        ratios = [theirs / ours for theirs, ours in pairs if theirs is not None and ours is not None]
        if name != "ingot" and ratios:
            parts.append(f"{name} {mean_of(ratios):.2f}x (least {min(ratios):.2f}x)")
    return ", ".join(parts)


def table(rows: Sequence[Row], runtimes: Sequence[str]) -> str:
    lines = [f"{'model':<22}{'batch':>6}{'threads':>8}" + "".join(f"{name:>24}" for name in runtimes) + f"{'ratio':>8}"]
    for row in rows:
        by_name = {entry.runtime: entry for entry in row.entries}
        cells = ""
        for name in runtimes:
            entry = by_name.get(name)
            samples = entry.samples_ms if entry else []
            cells += f"{spread(samples) if samples else 'failed' if entry else '-':>24}"
        ratio = row.ratio()
        lines.append(
            f"{row.model:<22}{row.batch:>6}{row.threads:>8}{cells}{'-' if ratio is None else f'{ratio:.2f}x':>8}"
        )
    ratios = [ratio for row in rows if (ratio := row.ratio()) is not None]
    if ratios:
        lines.append("ms: median [quarter, three quarters]; ratio: fastest peer / Ingot")
        lines.append(f"geometric means: fastest peer / Ingot {mean_of(ratios):.2f}x; {means_by_peer(rows, runtimes)}")
    for row in rows:
        for entry in row.entries:
            if entry.error:
                lines.append(f"{row.model}, {row.threads} threads, {entry.runtime}: {entry.error}")
    return "\n".join(lines)


COSTS = {
    "convert s": "convert_s",
    "prepare s": "prepare_s",
    "start s": "start_s",
    "peak MB": "peak_mb",
    "own MB": "own_mb",
}


def costs(rows: Sequence[Row], runtimes: Sequence[str]) -> str:
    """Converting, starting, memory."""
    lines = [f"{'model':<22}{'':>14}" + "".join(f"{name:>14}" for name in runtimes)]
    for row in rows:
        by_name = {entry.runtime: entry for entry in row.entries if entry.samples_ms}
        for label, field in COSTS.items():
            cells = "".join(f"{getattr(by_name[n], field):>14.2f}" if n in by_name else f"{'-':>14}" for n in runtimes)
            lines.append(f"{row.model:<22}{label:>14}{cells}")
    return "\n".join(lines)


COLOURS = {
    "ingot": "#d9480f",
    "eager": "#adb5bd",
    "compile": "#868e96",
    "onnxruntime": "#4c6ef5",
    "openvino": "#15aabf",
    "executorch": "#7950f2",
    "iree": "#40c057",
}
BAR, GAP, LEFT, WIDTH = 12, 10, 150, 620


def chart(rows: Sequence[Row], runtimes: Sequence[str]) -> str:
    """An SVG of times relative to Ingot's, the shorter the better; cut at four times."""
    parts: list[str] = []
    y = 50.0
    for row in rows:
        ours = row.median("ingot")
        if ours is None:
            continue
        parts.append(f'<text x="{LEFT - 8}" y="{y + 10}" text-anchor="end">{escape(row.model)}</text>')
        for name in runtimes:
            median = row.median(name)
            if median is None:
                continue
            length = WIDTH / 4 * min(median / ours, 4)
            title = f"{name}: {median:.2f} ms"
            parts.append(
                f'<rect x="{LEFT}" y="{y}" width="{length:.1f}" height="{BAR - 2}" fill="{COLOURS[name]}">'
                f"<title>{escape(title)}</title></rect>"
                f'<text x="{LEFT + length + 4:.1f}" y="{y + 9}" class="n">{median:.1f}</text>'
            )
            y += BAR
        y += GAP
    legend = "".join(
        f'<rect x="{LEFT + 105 * i}" y="14" width="10" height="10" fill="{COLOURS[name]}"/>'
        f'<text x="{LEFT + 105 * i + 14}" y="23">{name}</text>'
        for i, name in enumerate(runtimes)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{LEFT + WIDTH + 90}" height="{y + 10:.0f}" '
        'font-family="sans-serif" font-size="11"><style>text{fill:#495057}.n{font-size:9px}</style>'
        f'<rect width="100%" height="100%" fill="#fff"/>{legend}{"".join(parts)}</svg>\n'
    )
