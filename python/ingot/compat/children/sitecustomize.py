"""Processes that a script under `python -m ingot.compat` starts find the same modules as it does."""

import ingot.compat  # noqa: F401
