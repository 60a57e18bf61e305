"""`TorchConverter` with the original's spelling of its last step."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ingot.converter import TorchConverter as _TorchConverter

if TYPE_CHECKING:
    from ingot.program import Program


class TorchConverter(_TorchConverter):
    """Ingot's converter, where `to_coreai` converts as well."""

    def to_coreai(self, *, entrypoints: Iterable[str] | None = None) -> Program:
        return self.to_ingot(entrypoints=entrypoints)
