"""`TorchConverter` with the original's spelling of its last step."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ingot.converter import TorchConverter as _TorchConverter

if TYPE_CHECKING:
    from ingot.program import Program


class TorchConverter(_TorchConverter):
    """Ingot's converter, where `to_coreai` converts as well and composites among ATen operators are declared."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"composites": True, **options})

    def to_coreai(self, *, entrypoints: Iterable[str] | None = None) -> Program:
        return self.to_ingot(entrypoints=entrypoints)
