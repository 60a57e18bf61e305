"""The commands `freqop` and `graphdiff` over Ingot's assets."""

from __future__ import annotations

import argparse
import html
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

from ingot.program import load


def _fail(message: str) -> int:
    print(f"Error: {message}", file=sys.stderr)
    return 2


def _write(text: str, output: str | None) -> None:
    if output is None:
        print(text)
        return
    page = f"<!doctype html><meta charset=utf-8><pre>{html.escape(text)}</pre>\n"
    Path(output).write_text(page if output.endswith(".html") else text + "\n")


def count_ops(path: Path, collapse_composites: bool) -> Counter[str]:
    """How often each op is in an asset; functions that declare composites count as `composite.<name>` if collapsed."""
    counts: Counter[str] = Counter()
    text = str(load(path, fallback=True))
    declared = dict(re.findall(r"func\.func private @(\w+)\(.*?composite_decl = \{\"?(\w+)", text))
    function = ""
    for line in text.splitlines():
        if head := re.match(r"\s*func\.func (?:private )?@(\w+)", line):
            function = head[1]
        elif op := re.match(r"\s*(?:%[\w:, %]+ = )?(ingot\.[\w.]+|call @\w+)", line):
            callee = op[1].removeprefix("call @")
            if collapse_composites and callee in declared:
                counts[f"composite.{declared[callee]}"] += 1
            elif op[1].startswith("ingot.") and not (collapse_composites and function in declared):
                counts[op[1]] += 1
    return counts


def _plot(counts: Counter[str]) -> str:
    largest = max(counts.values(), default=1)
    return "\n".join(f"{name:<32}{'█' * max(1, 40 * n // largest)} {n}" for name, n in counts.most_common())


def _table(columns: list[Counter[str]]) -> str:
    total: Counter[str] = sum(columns, Counter())
    lines = []
    for name, _ in total.most_common():
        numbers = [column[name] for column in columns]
        delta = f"{numbers[1] - numbers[0]:>+8}{' *' if numbers[0] != numbers[1] else ''}" if len(numbers) == 2 else ""
        lines.append(f"{name:<40}" + "".join(f"{number:>8}" for number in numbers) + delta)
    return "\n".join([*lines, f"{'total':<40}" + "".join(f"{column.total():>8}" for column in columns)])


def freqop(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="freqop", description="Counts the ops of one or two assets.")
    parser.add_argument("files", nargs="+", metavar="FILE", type=Path)
    parser.add_argument("--plot", action="store_true", help="bars instead of numbers")
    parser.add_argument("--output", metavar="PATH", help="write to a .txt or .html file")
    parser.add_argument("--collapse-composites", action="store_true", help="count a composite as one op")
    options = parser.parse_args(arguments)
    if len(options.files) > 2:
        parser.error("one or two files")
    for path in options.files:
        if not path.exists():
            return _fail(f"file not found: {path}")
    columns = [count_ops(path, options.collapse_composites) for path in options.files]
    _write("\n\n".join(_plot(column) for column in columns) if options.plot else _table(columns), options.output)
    return 0


def graphdiff(arguments: list[str] | None = None) -> int:
    """0 for graphs of one structure, 1 for different ones, 2 for files that are missing or cannot be read."""
    parser = argparse.ArgumentParser(prog="graphdiff", description="Compares the structure of two assets.")
    parser.add_argument("source", type=Path)
    parser.add_argument("target", type=Path)
    parser.add_argument("--max-items", type=int, default=20, metavar="N", help="differences of a kind that are listed")
    parser.add_argument("--output", metavar="PATH", help="write to a .txt or .html file")
    options = parser.parse_args(arguments)
    for path in (options.source, options.target):
        if not path.exists():
            return _fail(f"file not found: {path}")
    tool = shutil.which("ingot", path=str(Path(sys.executable).parent)) or "ingot"
    command = [tool, "diff", str(options.source), str(options.target), "--max-items", str(options.max_items)]
    made = subprocess.run(command, capture_output=True, text=True, check=False)
    if made.returncode > 1:
        return _fail(made.stderr.strip())
    _write(made.stdout.rstrip(), options.output)
    return made.returncode


def freqop_main() -> None:
    sys.exit(freqop())


def graphdiff_main() -> None:
    sys.exit(graphdiff())
