"""Lets code written for `coreai_torch`, `coreai` and `torch_ir` run over Ingot, unchanged.

import ingot.compat                     # then: from coreai_torch import TorchConverter
python -m ingot.compat script.py args   # the same for a script; -m module works too

What such code imports are modules of their own here, whose names stand for Ingot's. IR prints as Ingot's dialect. Where
the original packages are installed they are left alone, with a warning; INGOT_COMPAT_SHADOW=1 takes their place.
"""

from __future__ import annotations

from ingot.compat._install import install

__all__ = ["install"]

install()
