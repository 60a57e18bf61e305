"""PyTorch traces models, and checks and writes graphs, for one thread at a time."""

from __future__ import annotations

from contextlib import AbstractContextManager


def tracing() -> AbstractContextManager[bool]:
    """Dynamo's lock, which its compilations hold: modules have other tensors while they are traced, and checks of a
    graph move its nodes about. A thread may take it again."""
    from torch._dynamo.convert_frame import compile_lock

    return compile_lock
