"""`TorchConverter` with the original's spellings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ingot.converter import TorchConverter as _TorchConverter

if TYPE_CHECKING:
    from torch.export import ExportedProgram

    from ingot.program import Program


class TorchConverter(_TorchConverter):
    """Ingot's converter: names may be given by position, and `to_coreai` converts."""

    def add_exported_program(
        self,
        exported_program: ExportedProgram,
        input_names: Sequence[str] | None = None,
        output_names: Sequence[str] | None = None,
        state_names: Sequence[str] | None = None,
        entrypoint_name: str = "main",
        _externalized_exported_programs: Any = None,
    ) -> TorchConverter:
        super().add_exported_program(
            exported_program,
            input_names=input_names,
            output_names=output_names,
            state_names=state_names,
            entrypoint_name=entrypoint_name,
            _externalized_exported_programs=_externalized_exported_programs,
        )
        return self

    def to_coreai(self, *, entrypoints: Iterable[str] | None = None) -> Program:
        return self.to_ingot(entrypoints=entrypoints)
