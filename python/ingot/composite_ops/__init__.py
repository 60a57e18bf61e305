"""Modules for the operators that transformers are made of.

Nest them in a model and name them in an `ExternalizeSpec`: the converted program then holds each call as one
composite operator, for which a tuned kernel may stand in. Without a spec they convert as plain operators.
"""

from __future__ import annotations

from ingot.composite_ops._common import CompositeVersion
from ingot.composite_ops.gated_delta import GatedDeltaUpdate
from ingot.composite_ops.gather_mm import GatherMM
from ingot.composite_ops.rms_norm import RMSNorm, RMSNormImpl
from ingot.composite_ops.rope import RoPE
from ingot.composite_ops.sdpa import SDPA

__all__ = ["SDPA", "CompositeVersion", "GatedDeltaUpdate", "GatherMM", "RMSNorm", "RMSNormImpl", "RoPE"]
