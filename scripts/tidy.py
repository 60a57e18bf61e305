#!/usr/bin/env python3
"""clang-tidy over the sources that do not use MLIR; INGOT_TIDY_ALL=1 adds those that do, which are slow.

A file is looked at again only when it, a header of ours or .clang-tidy changed since it last passed. Arguments, if any,
are the files to look at.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import repo

BUILD = repo.ROOT / "build"
PASSED = BUILD / "tidy"
FOLDERS = ("src/base/", "src/pt2/", "src/asset/", "src/runtime/", "tools/")
SLOW_FOLDERS = ("src/", "python/bind/")


def wanted() -> list[Path]:
    """Compiled files below the chosen folders, without tests."""
    given = [Path(name).resolve().relative_to(repo.ROOT) for name in sys.argv[1:]]
    folders = FOLDERS + (SLOW_FOLDERS if os.environ.get("INGOT_TIDY_ALL") else ())
    compiled = []
    for entry in json.loads((BUILD / "compile_commands.json").read_text()):
        path = Path(entry["file"])
        if not path.is_relative_to(repo.ROOT) or path.is_relative_to(BUILD):
            continue
        path = path.relative_to(repo.ROOT)
        chosen = path in given if given else str(path).startswith(folders) and "test" not in path.parts
        if chosen and (given or os.environ.get("INGOT_TIDY_ALL") or "opt" not in path.stem):
            compiled.append(path)
    return sorted(set(compiled))


def headers_digest() -> str:
    digest = hashlib.sha256((repo.ROOT / ".clang-tidy").read_bytes())
    for path in repo.files(".h", ".hpp", ".inc"):
        digest.update((repo.ROOT / path).read_bytes())
    return digest.hexdigest()


def tidy(path: Path, headers: str) -> str:
    """The complaints about one file; empty when it passes."""
    key = hashlib.sha256(headers.encode() + str(path).encode() + (repo.ROOT / path).read_bytes()).hexdigest()
    if (PASSED / key).exists():
        return ""
    command = ["clang-tidy-19", "--quiet", "-p", str(BUILD), str(path)]
    done = subprocess.run(command, cwd=repo.ROOT, capture_output=True, text=True)
    if done.returncode == 0:
        (PASSED / key).touch()
        return ""
    return done.stdout or done.stderr


def main() -> None:
    PASSED.mkdir(parents=True, exist_ok=True)
    headers = headers_digest()
    paths = wanted()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        complaints = [text for text in pool.map(lambda path: tidy(path, headers), paths) if text]
    repo.finish("clang-tidy", complaints, f"{len(paths)} files")


if __name__ == "__main__":
    main()
