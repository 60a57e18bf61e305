"""Bars for long work: on a terminal only, or a function of the caller's instead."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import TracebackType
from typing import TypeAlias

ProgressOption: TypeAlias = "bool | Callable[[str, int, int], None]"
_WIDTH = 30


class Progress:
    """How much of some known amount is done. Nested ones take a line each."""

    _depth = 0

    def __init__(self, option: ProgressOption, total: int) -> None:
        self._total, self._done = total, 0
        self._callback = option if callable(option) else None
        self._shows_bar = option is True and sys.stderr.isatty()

    def __enter__(self) -> Progress:
        Progress._depth += 1
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        Progress._depth -= 1
        if self._shows_bar:
            print("\r\033[K", end="", file=sys.stderr, flush=True)

    def start(self, what: str) -> None:
        """Work on `what` begins."""
        if self._shows_bar:
            bar = "#" * (_WIDTH * self._done // max(self._total, 1))
            indent = "  " * (Progress._depth - 1)
            text = f"\r\033[K{indent}[{bar:<{_WIDTH}}] {self._done}/{self._total} {what:.40}"
            print(text, end="", file=sys.stderr, flush=True)

    def set(self, what: str, done: int, total: int) -> None:
        """Work on `what` begins, and this much is done."""
        self._done, self._total = done, total
        if self._callback:
            self._callback(what, done, total)
        self.start(what)

    def step(self, what: str) -> None:
        """Work on `what` is done."""
        self._done += 1
        if self._callback:
            self._callback(what, self._done, self._total)
        self.start(what)
