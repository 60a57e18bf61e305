"""How a model is made ready to run, and who is told about it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from ingot.errors import UnsupportedError, UsageError


@dataclass(frozen=True)
class ComputeUnitKind:
    """A kind of processor. Only the CPU is there today; others can be preferred, not demanded."""

    name: str

    @staticmethod
    def cpu() -> ComputeUnitKind:
        return ComputeUnitKind("cpu")

    @staticmethod
    def gpu() -> ComputeUnitKind:
        return ComputeUnitKind("gpu")

    @staticmethod
    def neural_engine() -> ComputeUnitKind:
        return ComputeUnitKind("neural_engine")

    def __repr__(self) -> str:
        return f"ComputeUnitKind.{self.name}()"


_EVERY_KIND = (ComputeUnitKind.cpu(), ComputeUnitKind.gpu(), ComputeUnitKind.neural_engine())


@dataclass
class SpecializationOptions:
    """What a model is specialised for when it is opened."""

    preferred_compute_unit_kind: ComputeUnitKind | None = None
    allowed_compute_unit_kinds: Sequence[ComputeUnitKind] = _EVERY_KIND
    debug: bool = False

    @classmethod
    def default(cls) -> SpecializationOptions:
        return cls()

    @classmethod
    def cpu_only(cls) -> SpecializationOptions:
        return cls(ComputeUnitKind.cpu(), (ComputeUnitKind.cpu(),))

    @classmethod
    def from_preferred_compute_unit_kind(cls, kind: ComputeUnitKind) -> SpecializationOptions:
        """Where the preferred kind is not there, another allowed one is used."""
        return cls(kind)

    def with_debug(self, enabled: bool = True) -> SpecializationOptions:
        """The same options with debugging switched on or off."""
        return replace(self, debug=enabled)

    def check(self) -> None:
        """Refuses what cannot run on this machine."""
        if ComputeUnitKind.cpu() not in tuple(self.allowed_compute_unit_kinds):
            kinds = ", ".join(kind.name for kind in self.allowed_compute_unit_kinds) or "nothing"
            raise UnsupportedError(f"the model may run on {kinds} only, and only the CPU is available; allow it too")


@dataclass(frozen=True)
class CompileIdentifiers:
    """Which part of a model an event or a value belongs to."""

    function_name: str
    operation_ids: tuple[int, ...] = ()


@dataclass(frozen=True)
class LogEvent:
    """The beginning or end of a phase."""

    phase: str
    """"load" or "inference"."""
    compile_identifiers: CompileIdentifiers
    timestamp_ns: int = field(default_factory=time.perf_counter_ns)


class Profiler:
    """Calls back when a phase begins and when it ends."""

    def __init__(
        self,
        on_log_event_begin: Callable[[LogEvent], Any] | None = None,
        on_log_event_end: Callable[[LogEvent], Any] | None = None,
    ) -> None:
        for callback in (on_log_event_begin, on_log_event_end):
            if callback is not None and not callable(callback):
                raise UsageError(f"a profiler's callbacks are functions, not {type(callback).__name__}")
        self.on_log_event_begin = on_log_event_begin
        self.on_log_event_end = on_log_event_end

    @contextmanager
    def phase(self, name: str, function_name: str) -> Iterator[None]:
        identifiers = CompileIdentifiers(function_name)
        if self.on_log_event_begin is not None:
            self.on_log_event_begin(LogEvent(name, identifiers))
        try:
            yield
        finally:
            if self.on_log_event_end is not None:
                self.on_log_event_end(LogEvent(name, identifiers))


class IntermediateLogger:
    """Asks for values from inside a function. Making one works; running with it is refused until it can be kept."""

    def __init__(
        self,
        requested_intermediates: Iterable[Any] = (),
        callback: Callable[..., Any] | None = None,
        is_enabled: bool = True,
    ) -> None:
        self.requested_intermediates = tuple(requested_intermediates)
        self.callback = callback
        self.is_enabled = is_enabled

    def check(self) -> None:
        """Refuses what cannot be delivered."""
        if self.is_enabled and self.requested_intermediates:
            raise UnsupportedError(
                "values from inside a compiled function cannot be logged yet; return them from the model as outputs"
            )
