"""Ingot, by its program and its package."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

PACKAGES: tuple[str, ...] = ()
SUFFIX = ".ingot"


def convert(model: Path, artifact: Path) -> None:
    tool = Path(sys.executable).with_name("ingot")
    subprocess.run([tool, "convert", model, "-o", artifact, "--overwrite"], check=True, stdout=subprocess.DEVNULL)


def load(artifact: Path, threads: int) -> Any:
    import ingot

    ingot.set_num_threads(threads)
    program = ingot.load(artifact)

    def call(inputs: Any) -> Any:
        results = program(*inputs)
        return list(results) if isinstance(results, list | tuple) else [results]

    return call
