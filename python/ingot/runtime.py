"""Running saved models by the names of their inputs, outputs and states.

model = Model.open("model.ingot")                    # or: model = await Model.load("model.ingot")
decode = model.load_function("decode")
out = decode.call({"tokens": tokens}, {"kv": cache})  # or: out = await decode({"tokens": tokens}, {"kv": cache})
logits = out["logits"].numpy()
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

from ingot import _arrays, _core
from ingot._paths import path_text
from ingot.errors import IngotError, UsageError
from ingot.ndarray import NDArray, StorageKind, element_type, empty, numpy_dtype, unwrap
from ingot.options import (
    CompileIdentifiers,
    ComputeUnitKind,
    IntermediateLogger,
    LogEvent,
    Profiler,
    SpecializationOptions,
)

__all__ = [
    "ArrayDescriptor",
    "CompileIdentifiers",
    "ComputeUnitKind",
    "FunctionDescriptor",
    "InferenceFunction",
    "IntermediateLogger",
    "LogEvent",
    "Model",
    "NDArray",
    "Profiler",
    "RunError",
    "SpecializationOptions",
    "StorageKind",
]

# Element types that a narrower array may be given for: it is widened, and a state narrowed again afterwards.
_WIDENS = {
    "int64": ("int32", "uint32"),
    "float64": ("float32",),
    "complex128": ("complex64",),
}


class RunError(UsageError, RuntimeError):
    """A call with an array that is missing, unknown, or of another type or shape."""


@dataclass(frozen=True)
class ArrayDescriptor:
    """What an array of a function looks like."""

    name: str
    shape: tuple[int, ...]
    """A size that varies is -1."""
    element_type: str
    """By its name in torch."""
    symbols: tuple[int | str, ...] = ()
    """The shape with the expressions of the sizes that vary."""
    is_scalar: bool = False
    """A number of the original call: a zero-dimensional array here."""

    @property
    def dtype(self) -> Any:
        """numpy's element type."""
        return numpy_dtype(self.element_type)

    def check_shape(self, shape: Sequence[int], what: str) -> None:
        fits = len(shape) == len(self.shape) and all(
            want in (-1, have) for want, have in zip(self.shape, shape, strict=True)
        )
        if not fits:
            raise RunError(f"{what} '{self.name}' has the shape {list(shape)}, but {list(self.symbols)} is expected")


class _Descriptors(dict[str, ArrayDescriptor]):
    """By name; also by calling it with the name."""

    def __call__(self, name: str) -> ArrayDescriptor:
        return self[name]


class FunctionDescriptor:
    """The names, types and shapes of a function's inputs, outputs and states, each in order."""

    def __init__(self, described: Mapping[str, Any]) -> None:
        self.name: str = described["name"]
        self.input_descriptors = _descriptors(_live(described["inputs"]))
        self.output_descriptors = _descriptors(_live(described["outputs"]))
        self.state_descriptors = _descriptors(described["states"])

    @property
    def input_names(self) -> list[str]:
        return list(self.input_descriptors)

    @property
    def output_names(self) -> list[str]:
        return list(self.output_descriptors)

    @property
    def state_names(self) -> list[str]:
        return list(self.state_descriptors)

    def input_descriptor(self, name: str) -> ArrayDescriptor:
        return self.input_descriptors[name]

    def output_descriptor(self, name: str) -> ArrayDescriptor:
        return self.output_descriptors[name]

    def state_descriptor(self, name: str) -> ArrayDescriptor:
        return self.state_descriptors[name]

    def __getitem__(self, name: str) -> ArrayDescriptor:
        for group in (self.input_descriptors, self.state_descriptors, self.output_descriptors):
            if name in group:
                return group[name]
        raise KeyError(f"'{self.name}' has no input, output or state '{name}'")

    def __repr__(self) -> str:
        return f"<{self.name}({', '.join(self.input_names)}) -> ({', '.join(self.output_names)})>"


class InferenceFunction:
    """One entry point of an open model. `await function(inputs, state)`, or `function.call(inputs, state)`.

    Both run at once, in the calling thread. Several threads may call, with states of their own.
    """

    def __init__(self, model: Model, described: Mapping[str, Any], profiler: Profiler | None) -> None:
        self._model = model
        self._described = described
        self._profiler = profiler
        self.desc = FunctionDescriptor(described)

    @property
    def name(self) -> str:
        return self.desc.name

    async def __call__(
        self, inputs: Mapping[str, Any] | None = None, state: Mapping[str, Any] | None = None
    ) -> dict[str, NDArray]:
        """The outputs by name. States are updated in place. `inputs` and `state` map names to arrays."""
        return self.call(inputs, state)

    def call(
        self, inputs: Mapping[str, Any] | None = None, state: Mapping[str, Any] | None = None
    ) -> dict[str, NDArray]:
        """The same without `await`."""
        core = self._model.core()
        given_inputs = self._check_names(inputs, self.desc.input_descriptors, "input", self.desc.state_descriptors)
        given_states = self._check_names(state, self.desc.state_descriptors, "state", self.desc.input_descriptors)
        call = _Call(self._described, self.desc, given_inputs, given_states)
        with self._profiler.phase("inference", self.name) if self._profiler is not None else nullcontext():
            return call.run(core)

    def _check_names(
        self, given: Mapping[str, Any] | None, known: Mapping[str, Any], what: str, other: Mapping[str, Any]
    ) -> dict[str, Any]:
        if given is not None and not isinstance(given, Mapping):
            raise RunError(f"{what}s are given by name, as a dict, not as {type(given).__name__}")
        given = dict(given or {})
        names = ", ".join(known) or "none"
        for name in given:
            if name not in known:
                hint = f"; it is {'a state' if what == 'input' else 'an input'}" if name in other else ""
                raise RunError(f"'{self.name}' has no {what} '{name}'{hint}; its {what}s are: {names}")
        missing = [name for name in known if name not in given]
        if what == "state":  # buffers have initial values, and memory of the model's own
            arguments = {port.get("state") for port in self._described["inputs"]}
            missing = [name for name in missing if name in arguments]
        if missing:
            raise RunError(f"{what} '{missing[0]}' is missing; the {what}s of '{self.name}' are: {names}")
        return given

    def __repr__(self) -> str:
        return f"<ingot.InferenceFunction {self.desc!r}>"


class Model:
    """A saved model, opened. The first time on a new kind of CPU it is compiled for it."""

    def __init__(self, path: str | os.PathLike[str], options: SpecializationOptions | None = None) -> None:
        (options or SpecializationOptions.default()).check()
        self.path = path_text(path)
        self._core: Any = _core.Program(self.path, json.dumps({"fallback": False}))
        described = json.loads(self._core.describe())
        entries = described["entry_points"] if isinstance(described, dict) else described
        self._entries = {entry["name"]: entry for entry in entries}

    @classmethod
    def open(cls, path: str | os.PathLike[str], options: SpecializationOptions | None = None) -> Model:
        return cls(path, options)

    @classmethod
    async def load(cls, path: str | os.PathLike[str], options: SpecializationOptions | None = None) -> Model:
        """The same as `open`, for `await`."""
        return cls(path, options)

    @property
    def function_names(self) -> list[str]:
        return list(self._entries)

    def load_function(
        self, name: str, profiler: Profiler | None = None, intermediate_logger: IntermediateLogger | None = None
    ) -> InferenceFunction:
        """KeyError if there is none of that name."""
        if name not in self._entries:
            raise KeyError(f"there is no function '{name}'; there are: {', '.join(self._entries)}")
        if intermediate_logger is not None:
            intermediate_logger.check()
        with profiler.phase("load", name) if profiler is not None else nullcontext():
            return InferenceFunction(self, self._entries[name], profiler)

    def core(self) -> Any:
        """The native program; an error once the model is closed."""
        if self._core is None:
            raise RunError("the model is closed: functions run only inside the block that opened it")
        return self._core

    def close(self) -> None:
        self._core = None

    def __repr__(self) -> str:
        return f"<ingot.Model {', '.join(self._entries)}>"


class _Call:
    """Arrays on their way in, and back."""

    def __init__(
        self, described: Mapping[str, Any], desc: FunctionDescriptor, inputs: dict[str, Any], states: dict[str, Any]
    ) -> None:
        self._described = described
        self._desc = desc
        self._bound: list[_arrays.StateArray] = []
        self._narrow: list[tuple[Any, Any]] = []
        self._states = {name: self._bind_state(desc.state_descriptors[name], value) for name, value in states.items()}
        self._inputs = {name: _bind_input(desc.input_descriptors[name], value) for name, value in inputs.items()}

    def run(self, core: Any) -> dict[str, NDArray]:
        bound = [
            _arrays.to_input(self._inputs[port["name"]], port["name"], port["dtype"])
            for port in _live(self._described["inputs"])
        ]
        states = {name: state.argument for name, state in self._states.items()}
        try:
            raw = core.run(self._desc.name, [array for array, _ in bound], [dtype for _, dtype in bound], True, states)
        except IngotError as error:
            if isinstance(error, RuntimeError):
                raise
            raise RunError(str(error)) from error
        for state in self._states.values():
            state.finish()
        for target, wide in self._narrow:
            _copy(target, wide)
        ports = _live(self._described["outputs"])
        return {port["name"]: NDArray(_output(array, port["dtype"])) for port, array in zip(ports, raw, strict=True)}

    def _bind_state(self, desc: ArrayDescriptor, value: Any) -> _arrays.StateArray:
        """The caller's own memory where the program can write to it; else a copy that is written back."""
        array = unwrap(value)
        have = element_type(array)
        if have != desc.element_type and have not in _WIDENS.get(desc.element_type, ()):
            raise RunError(f"state '{desc.name}' has the element type {have}, but {desc.element_type} is expected")
        desc.check_shape(array.shape, "state")
        if not _arrays.is_torch(array) and not array.flags.writeable:
            raise RunError(f"state '{desc.name}' is read-only; states are updated in place")
        if have != desc.element_type:
            wide = empty(desc.element_type, array.shape)
            _copy(wide, array)
            self._narrow.append((array, wide))
            array = wide
        return _arrays.StateArray(array, desc.name, desc.element_type, self._bound)


def _live(ports: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Those that calls pass: no literals, and no inputs that are states."""
    return [port for port in ports if "literal" not in port and not port.get("state")]


def _bind_input(desc: ArrayDescriptor, value: Any) -> Any:
    array = unwrap(value)
    have = element_type(array)
    if desc.is_scalar and len(array.shape) == 1 and array.shape[0] == 1:
        array = array.reshape(())
    desc.check_shape(array.shape, "input")
    if have == desc.element_type:
        return array
    if have not in _WIDENS.get(desc.element_type, ()):
        raise RunError(f"input '{desc.name}' has the element type {have}, but {desc.element_type} is expected")
    if _arrays.is_torch(array):
        import torch

        return array.to(getattr(torch, desc.element_type))
    return array.astype(desc.element_type)


def _output(output: Any, dtype: str) -> Any:
    """numpy's array; torch's where numpy cannot have the type and ml_dtypes is not installed."""
    if _arrays.carrier(dtype) is not None:
        try:
            _arrays.extended_dtype(dtype)
        except ImportError:
            import numpy as np
            import torch

            carrier = _arrays.writable(np.from_dlpack(_arrays.Capsule(output)))
            return torch.from_numpy(carrier).view(getattr(torch, dtype))
    return _arrays.to_numpy(output, dtype)


def _copy(target: Any, source: Any) -> None:
    """Between arrays of numpy and torch in any combination, with conversion."""
    if _arrays.is_torch(target) or _arrays.is_torch(source):
        NDArray(target).torch().copy_(NDArray(source).torch())
        return
    import numpy as np

    np.copyto(target, source, casting="unsafe")


def _descriptors(ports: Sequence[Mapping[str, Any]]) -> _Descriptors:
    return _Descriptors(
        (
            port["name"],
            ArrayDescriptor(
                name=port["name"],
                shape=tuple(size if isinstance(size, int) else -1 for size in port["shape"]),
                element_type=port["dtype"],
                symbols=tuple(port["shape"]),
                is_scalar=port.get("scalar", False),
            ),
        )
        for port in ports
    )
