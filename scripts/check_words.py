#!/usr/bin/env python3
"""Words that must not be committed: unfinished work without its issue, and paths of somebody's machine."""

from __future__ import annotations

import re

import repo

RULES = [
    (re.compile(r"\bTODO\b(?!\(#\d+\))"), "write TODO(#issue)"),
    (re.compile(r"\b(?:FIXME|XXX)\b"), "write TODO(#issue)"),
    (re.compile(r"\bDO NOT SUBMIT\b"), "not ready to be committed"),
    (re.compile(r"(?<![\w.])/(?:home|Users)/\w+"), "a path of one machine"),
    (re.compile(r"(?<![\w.])/(?:root|work)/[\w.]+"), "a path of one machine"),
]
# This file, which names the words, and formats whose text is not ours.
EXEMPT = {"scripts/check_words.py"}
EXEMPT_SUFFIXES = {".pt2", ".mlirbc", ".safetensors"}


def main() -> None:
    problems = []
    for path in repo.files():
        if str(path) in EXEMPT or path.suffix in EXEMPT_SUFFIXES:
            continue
        for number, line in enumerate((repo.text(path) or "").splitlines(), 1):
            problems += [
                f"{path}:{number}: {advice}: {line.strip()[:80]}" for rule, advice in RULES if rule.search(line)
            ]
    repo.finish("check_words", problems)


if __name__ == "__main__":
    main()
