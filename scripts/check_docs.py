#!/usr/bin/env python3
"""Documents tell the truth: generated ones are current, and every path, link and `make` target they name exists."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import repo

sys.path.insert(0, str(repo.ROOT / "docs"))
import generate

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
CODE = re.compile(r"`([^`\n]+)`")
REPO_PATH = re.compile(r"^(?:src|include|tools|python|tests|bench|docs|examples|scripts|cmake|\.ci)/[\w./-]+$")
MAKE = re.compile(r"\bmake ([a-z]+)\b")
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)


def make_targets() -> set[str]:
    return set(re.findall(r"^([a-z]+):", (repo.ROOT / "Makefile").read_text(), re.MULTILINE))


def repository_paths() -> set[Path]:
    """Files of the repository and their folders; what a run leaves beside them (and git ignores) is not of it."""
    files = repo.files()
    return {*files, *(folder for path in files for folder in path.parents)}


def document_problems(path: Path, source: str, targets: set[str], paths: set[Path]) -> list[str]:
    found = []
    prose = FENCE.sub("", source)
    for link in LINK.findall(prose):
        target = link.partition("#")[0]
        if target and "://" not in link and not link.startswith("mailto:"):
            base = repo.ROOT if target.startswith("/") else repo.ROOT / path.parent
            if not (base / target.lstrip("/")).exists():
                found.append(f"{path}: the link {link} leads nowhere")
    codes = CODE.findall(prose)
    for code in codes:
        if REPO_PATH.match(code) and Path(code) not in paths:
            found.append(f"{path}: there is no {code}")
    commands = [
        line for fence in FENCE.findall(source) for line in fence.splitlines() if line.lstrip("$ ").startswith("make ")
    ]
    for code in [*commands, *(code for code in codes if code.startswith("make "))]:
        found += [
            f"{path}: there is no `make {name}`" for name in MAKE.findall(code.partition("#")[0]) if name not in targets
        ]
    return found


def main() -> None:
    problems = [f"{name} is out of date: run `make docs`" for name in generate.stale()]
    targets, paths = make_targets(), repository_paths()
    for path in repo.files(".md"):
        if path.parts[:2] != ("docs", "generated"):
            problems += document_problems(path, repo.text(path) or "", targets, paths)
    repo.finish("check_docs", problems)


if __name__ == "__main__":
    main()
