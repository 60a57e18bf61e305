"""torch.compile with its own backend."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from peers import eager

PACKAGES: tuple[str, ...] = ()
SUFFIX = ".pt2"


def load(artifact: Path, threads: int) -> Any:
    return eager.caller(torch.compile(eager.module_of(artifact, threads)))
