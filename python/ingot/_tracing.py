"""PyTorch traces models, and checks and writes graphs, for one thread at a time."""

from __future__ import annotations

import threading

tracing = threading.RLock()
"""Held while one of its exporters runs, or its graphs are read: checks of a graph move its nodes about."""
