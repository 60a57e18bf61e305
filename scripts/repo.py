"""What every check shares: where the repository is, which files it has, how a check reports."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def files(*suffixes: str) -> list[Path]:
    """Files that are, or could be, committed; relative to ROOT. All of them when no suffix is given."""
    listing = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout
    paths = (Path(name) for name in sorted(set(listing.split("\0"))) if name)
    return [path for path in paths if (not suffixes or path.suffix in suffixes) and (ROOT / path).is_file()]


def text(path: Path) -> str | None:
    """The file's text, or None when it is binary."""
    data = (ROOT / path).read_bytes()
    if b"\0" in data:
        return None
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return None


def finish(check: str, problems: list[str], note: str = "") -> None:
    """Prints every problem, then exits: 0 without, 1 with."""
    for problem in problems:
        print(f"{check}: {problem}", file=sys.stderr)
    print(f"{check}: {'FAILED' if problems else 'ok'}{f', {note}' if note else ''}")
    sys.exit(1 if problems else 0)
