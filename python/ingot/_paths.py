"""Paths as callers give them."""

from __future__ import annotations

import os

from ingot.errors import UsageError


def path_text(path: str | bytes | os.PathLike[str] | os.PathLike[bytes]) -> str:
    """A path as text; bytes that are none stay as the system's functions have them. TypeError for anything else."""
    text = os.fsdecode(path)
    if not text:
        raise UsageError("the path is empty")
    if "\0" in text:
        raise UsageError(f"the path {text!r} has a zero byte, which no file can have")
    try:
        os.fsencode(text)
    except UnicodeEncodeError:
        raise UsageError(f"the path {text!r} cannot be the name of a file") from None
    return text
