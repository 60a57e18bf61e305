"""Converted programs: running, looking at and saving them."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
import threading
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ingot import _arrays, _core
from ingot._paths import path_text
from ingot._quick import QuickCall
from ingot._tree import Tree
from ingot.errors import CorruptFileError, UsageError
from ingot.module import Module
from ingot.session import Session

if TYPE_CHECKING:
    from ingot._serialize import KeptWeights
    from ingot.asset import Asset


@dataclass(frozen=True)
class Port:
    """An input, an output or a state of an entry point."""

    name: str
    dtype: str
    shape: tuple[int | str, ...]
    """A size, or the expression of a size that varies, such as "s0" or "2*s0"."""
    is_literal: bool = False
    """An argument or result that is no tensor and never changes; `literal` is its value."""
    literal: Any = None
    is_scalar: bool = False
    """A number instead of a tensor."""
    state: str = ""
    """Inputs only: the state that the argument is, because the program changes it in place."""


@dataclass(frozen=True)
class FallbackOp:
    """An operator of a program that PyTorch runs, because it has no native form."""

    name: str
    count: int
    """How many nodes it has."""
    reason: str
    sources: tuple[str, ...]
    """The first lines of Python it comes from, as "model.py:12"."""


@dataclass(frozen=True)
class EntryPoint:
    """What can be called, and with what."""

    name: str
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    states: tuple[Port, ...]
    symbols: Mapping[str, tuple[int, int]]
    """The symbols in shapes, with their smallest and largest value."""


@dataclass(frozen=True)
class Graph:
    """A function of a program, as text of the IR."""

    name: str
    text: str

    def __str__(self) -> str:
        return self.text


class _Signature:
    """An entry point and the structure of its arguments and results."""

    def __init__(self, described: dict[str, Any]) -> None:
        self.entry = EntryPoint(
            name=described["name"],
            inputs=tuple(_port(port) for port in described["inputs"]),
            outputs=tuple(_port(port) for port in described["outputs"]),
            states=tuple(_port(port) for port in described["states"]),
            symbols={item["name"]: (item["min"], item["max"]) for item in described.get("symbols", [])},
        )
        self._arguments = Tree.parse(described.get("in_spec", ""))
        self._results = Tree.parse(described.get("out_spec", ""))
        if self._results is not None and self._results.leaf_count != len(self.entry.outputs):
            raise CorruptFileError(f"the recorded structure of the results does not fit '{self.entry.name}'")
        self.quick = QuickCall.of(self.entry, self._arguments, self._results)

    def flatten(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        """One value for each input. Arguments of the original call, or inputs by name."""
        if self._arguments is None:
            return self._by_name(args, kwargs)
        try:
            return list(self._arguments.flatten((args, kwargs)))
        except UsageError as error:
            names = {port.name for port in self.entry.inputs}
            if not names.issuperset(kwargs) or len(args) + len(kwargs) > len(names):
                raise UsageError(f"{error}; '{self.entry.name}' takes {_names(self.entry.inputs)}") from None
        return self._by_name(args, kwargs)

    def _by_name(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        ports = self.entry.inputs
        given = dict(zip((port.name for port in ports), args, strict=False))
        if len(args) > len(ports) or given.keys() & kwargs.keys():
            raise UsageError(f"too many arguments; '{self.entry.name}' takes {_names(ports)}")
        given |= kwargs
        given = {port.name: port.literal for port in ports if port.is_literal} | given
        missing = [port.name for port in ports if port.name not in given]
        unknown = [name for name in given if name not in {port.name for port in ports}]
        if missing or unknown:
            problem = f"input '{missing[0]}' is missing" if missing else f"there is no input '{unknown[0]}'"
            raise UsageError(f"{problem}; '{self.entry.name}' takes {_names(ports)}")
        return [given[port.name] for port in ports]

    def unflatten(self, outputs: list[Any]) -> Any:
        if self._results is None:
            return outputs[0] if len(outputs) == 1 else tuple(outputs)
        return self._results.unflatten(iter(outputs))


class Program:
    """A converted model. Call it as the model was called; threads may do so at once."""

    def __init__(
        self,
        source: str | os.PathLike[str] | Module | _core.Converted,
        *,
        fallback: bool = False,
        disable_passes: Sequence[str] = (),
        memory_limit: int = 0,
        time_limit: float = 0,
        matmul_precision: str = "highest",
        keep_constants: bool = True,
        _returns_torch: bool = False,
        _kept: Sequence[KeptWeights] = (),
        _origin: Any = None,
    ) -> None:
        """Of a saved asset or a module. What is not saved gets a temporary asset when it is first called.

        `disable_passes` are left out where it has to be compiled for this CPU.
        """
        if isinstance(memory_limit, bool) or not isinstance(memory_limit, int) or memory_limit < 0:
            raise UsageError(f"memory_limit is a number of bytes, or 0 for none, not {memory_limit!r}")
        if isinstance(time_limit, bool) or not isinstance(time_limit, int | float) or not 0 <= time_limit <= 1e9:
            raise UsageError(f"time_limit is a number of seconds up to 1e9, or 0 for none, not {time_limit!r}")
        self._returns_torch = _returns_torch
        if matmul_precision not in ("highest", "medium", "int8"):
            raise UsageError(f"matmul_precision is 'highest', 'medium' or 'int8', not {matmul_precision!r}")
        options = {
            "fallback": fallback,
            "disable_passes": list(disable_passes),
            "memory_limit": memory_limit,
            "time_limit": time_limit,
            "matmul_precision": matmul_precision,
            "keep_constants": bool(keep_constants),
        }
        self._options = json.dumps(options)
        self._lock = threading.Lock()
        self._loaded: _core.Program | None = None
        self._identity = b""
        self._is_stripped = False
        # The weights of a converted program lie where PyTorch has them.
        self._kept = _kept
        # What it was converted from, for verification.
        self._origin = _origin
        if isinstance(source, Module):
            source = source._core.convert()
        if isinstance(source, _core.Converted):
            self._path, self._converted = "", source
        else:
            self._path, self._converted = os.path.abspath(path_text(source)), None
            _ = self._core  # a file that cannot be run is a problem of this call
            self._identity = _identity(self._path)
        manifest = self._manifest()
        self._fallback = _fallback_ops(manifest)
        self._signatures = {entry["name"]: _Signature(entry) for entry in manifest["entry_points"]}

    @classmethod
    def _made_in(cls, make: Callable[[str], None], fallback: bool, disable_passes: Sequence[str] = ()) -> Program:
        """A program of an asset that `make` saves at the path it is given, which is temporary."""
        path, folder = _temporary_asset()
        try:
            make(path)
            options = {"fallback": fallback, "disable_passes": disable_passes, "keep_constants": False}
            program = cls(path, **options, _returns_torch=True)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        # The files stay mapped while the program lives; afterwards nobody needs them.
        weakref.finalize(program, shutil.rmtree, folder, ignore_errors=True)
        return program

    @property
    def _core(self) -> _core.Program:
        """The program as it runs."""
        # Most calls do without the lock, which a process that forks meanwhile would find taken.
        if self._loaded is not None:
            return self._loaded
        with self._lock:
            if self._loaded is None:
                self._loaded = self._load()
            return self._loaded

    def _load(self) -> _core.Program:
        if not self._path:
            path, folder = _temporary_asset()
            weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
            self._write(path)
            self._path = path
            self._identity = _identity(path)
            # Nobody will load this asset again.
            self._options = json.dumps(json.loads(self._options) | {"keep_constants": False})
        return _core.Program(self._path, self._options)

    def _write(self, path: str, overwrite: bool = False, metadata: str = "") -> None:
        for weights in self._kept:
            weights.check_unchanged()
        self._ir().save(path, overwrite, metadata)

    def _ir(self) -> _core.Converted:
        if self._converted is None:
            self._converted = _core.Converted.open(self._files())
        return self._converted

    def _files(self) -> str:
        """Where the asset is that was loaded; the program itself has it in memory."""
        if _identity(self._path) != self._identity:
            raise UsageError(f"'{self._path}' was replaced or deleted after it was loaded; load it again")
        return self._path

    def _manifest(self) -> dict[str, Any]:
        if self._converted is not None:
            return json.loads(self._converted.manifest())
        manifest = json.loads(_core.read_manifest(self._path))
        # Older assets describe states in another way, which the core has read already.
        described = json.loads(self._core.describe())
        entries = described["entry_points"] if isinstance(described, dict) else described
        return {**manifest, "entry_points": entries}

    @property
    def entry_points(self) -> tuple[EntryPoint, ...]:
        return tuple(signature.entry for signature in self._signatures.values())

    @property
    def fallback_ops(self) -> tuple[FallbackOp, ...]:
        """The operators that PyTorch runs; empty for a native program."""
        return self._fallback

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.run(*args, **kwargs)

    def run(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the only entry point with the original call's arguments; the result has its structure.

        Tensors may be torch's or numpy's; if any is torch's, the results are too. An argument that the model changes in
        place is changed here as well.
        """
        return self.run_entry(self._only_entry(), *args, **kwargs)

    def run_entry(self, entry: str, /, *args: Any, **kwargs: Any) -> Any:
        """Like `run`, for one of several entry points."""
        return self._run(self._core, entry, args, kwargs)

    def session(self) -> Session:
        """The same program with states of its own, so that several users can run it at once."""
        return Session(self, self._core.session())

    def cancel(self) -> None:
        """Ends the calls that run now, from another thread; not those of sessions. See `Session.cancel`."""
        self._core.cancel()

    def reset_states(self) -> None:
        """Gives every state that the program keeps between calls its initial value."""
        self._core.reset_states()

    def read_state(self, name: str) -> Any:
        """A copy of a state that the program keeps between calls."""
        return self._read_state(self._core, name)

    def write_state(self, name: str, value: Any) -> None:
        """Replaces the value of a state that the program keeps between calls."""
        self._write_state(self._core, name, value)

    def _only_entry(self) -> str:
        if len(self._signatures) != 1:
            names = ", ".join(self._signatures)
            raise UsageError(f"the program has several entry points ({names}); use run_entry(name, ...)")
        return next(iter(self._signatures))

    def _run(self, core: _core.Program, entry: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Calls an entry point with the states of `core`. Arguments that it changes are changed in place."""
        signature = self._signatures.get(entry)
        if signature is None:
            raise UsageError(f"there is no entry point '{entry}'; there are {', '.join(self._signatures)}")
        if signature.quick is not None and not kwargs:
            results = signature.quick.run(core, args)
            if results is not NotImplemented:
                return results
        values = signature.flatten(args, kwargs)
        given = [
            (port, value)
            for port, value in zip(signature.entry.inputs, values, strict=True)
            if not _check_literal(port, value)
        ]
        arrays = [_arrays.to_input(value, port.name, port.dtype) for port, value in given if not port.state]
        states = _states(given)
        has_tensors = any(not port.is_scalar for port, _ in given)
        use_torch = any(_arrays.is_torch(value) for value in values) or (self._returns_torch and not has_tensors)
        raw = core.run(
            entry,
            [array for array, _ in arrays],
            [dtype for _, dtype in arrays],
            not use_torch,
            {name: state.argument for name, state in states.items()},
        )
        for state in states.values():
            state.finish()
        return signature.unflatten(_outputs(signature.entry, raw, use_torch))

    def _state_dtype(self, name: str) -> str:
        ports = (port for entry in self.entry_points for port in entry.states)
        return next((port.dtype for port in ports if port.name == name), "")

    def _read_state(self, core: _core.Program, name: str) -> Any:
        raw = core.read_state(name, not self._returns_torch)
        return _arrays.to_torch(raw) if self._returns_torch else _arrays.to_numpy(raw, self._state_dtype(name))

    def _write_state(self, core: _core.Program, name: str, value: Any) -> None:
        array, dtype = _arrays.to_input(value, name, self._state_dtype(name))
        core.write_state(name, array, dtype)

    def optimize(self) -> Program:
        """Does nothing, since conversion leaves programs optimised; gives the program back."""
        return self

    def get_graph(self, name: str = "main") -> Graph:
        """One of the functions: an entry point, or the body of a composite."""
        return Graph(name, self._ir().text(name))

    def strip_debug_info(self) -> None:
        """Forgets where operations come from: lines of Python, modules, and names of nodes."""
        self._ir().strip()
        self._is_stripped = True

    def save_asset(
        self, path: str | os.PathLike[str], overwrite: bool = False, metadata: Mapping[str, str] | None = None
    ) -> Asset:
        """Saves the program, whole or not at all. Replaces an existing asset only if told to."""
        from ingot.asset import Asset

        target = path_text(path)
        if self._path and not metadata and not self._is_stripped:
            _core.copy_asset(self._files(), target, overwrite)  # with what was compiled for this CPU
        else:
            self._write(target, overwrite, json.dumps(_checked_metadata(metadata)))
        if os.path.abspath(target) == self._path:
            self._identity = _identity(self._path)
        return Asset(target)

    def __reduce__(self) -> Any:
        raise TypeError("a program cannot be copied or pickled: save it with save_asset, and load it there")

    def __str__(self) -> str:
        """The program's IR."""
        return self._ir().text()

    def __repr__(self) -> str:
        entries = "; ".join(f"{entry.name}({_names(entry.inputs)})" for entry in self.entry_points)
        return f"<ingot.Program {entries}>"


def load(
    path: str | os.PathLike[str],
    *,
    fallback: bool = False,
    memory_limit: int = 0,
    time_limit: float = 0,
    matmul_precision: str = "highest",
    keep_constants: bool = True,
) -> Program:
    """Loads a saved asset. Does not need torch. The first time on a new kind of CPU it is compiled for it.

    `fallback` lets an asset that was converted with fallback run operators with PyTorch; else it is refused.
    `memory_limit`, in bytes, refuses a program or a call that would need more for weights, states, intermediate values
    and outputs, before it starts and with the figure. A call that takes longer than `time_limit` seconds fails after
    the step that it is at: programs of strangers may have loops without an end.
    `matmul_precision="medium"` lets products and convolutions of float32 round their operands to bfloat16, on CPUs that
    multiply that faster; sums stay in float32. The results have about three digits then. `"int8"` lets those by
    constant weights round them to integers of 8 bits instead, each row, image and filter with a scale of its own: one
    to two digits. Convolutions of float16 and bfloat16 models are computed in float32 and count as such; their products
    do not. Numbers that are not finite make NaN of all results of their row or image.
    Weights as kernels want them, and constants computed from weights, are kept in the asset's cache, where they take
    about as much disk as the weights: later loads are faster, and processes share that memory.
    `keep_constants=False` does without.
    """
    return Program(
        path,
        fallback=fallback,
        memory_limit=memory_limit,
        time_limit=time_limit,
        matmul_precision=matmul_precision,
        keep_constants=keep_constants,
    )


def _temporary_asset() -> tuple[str, str]:
    """A path for an asset, and the folder to delete when it is not needed any more."""
    folder = tempfile.mkdtemp(prefix="ingot-")
    return str(Path(folder) / "program.ingot"), folder


def _checked_metadata(metadata: Mapping[str, str] | None) -> dict[str, str]:
    if not isinstance(metadata, Mapping | None):
        raise UsageError(f"metadata maps texts to texts; {type(metadata).__name__} does not")
    for item in (metadata or {}).items():
        for text in item:
            if not isinstance(text, str):
                raise UsageError(f"the metadata {item[0]!r} must be a string, and its name too, not {text!r}")
            try:
                text.encode()
            except UnicodeEncodeError:
                raise UsageError(f"the metadata {text!r} is no text that can be written") from None
    return dict(metadata or {})


def _fallback_ops(manifest: Mapping[str, Any]) -> tuple[FallbackOp, ...]:
    return tuple(
        FallbackOp(op["name"], op["count"], op["reason"], tuple(op["sources"]))
        for op in (manifest.get("fallback") or {}).get("ops", ())
    )


def _port(described: dict[str, Any]) -> Port:
    return Port(
        name=described["name"],
        dtype=described.get("dtype", ""),
        shape=tuple(described.get("shape", ())),
        is_literal="literal" in described,
        literal=_literal(described.get("literal")),
        is_scalar=described.get("scalar", False),
        state=described.get("state", ""),
    )


def _identity(path: str) -> bytes:
    """Tells an asset from one that was saved over it: the manifest has the checksums of all files."""
    manifest = Path(path, "manifest.json")
    try:
        return hashlib.blake2b(manifest.read_bytes()).digest() if manifest.is_file() else b""
    except OSError:
        return b""


def _literal(described: Any) -> Any:
    """Its value: numbers that JSON has not are written as {"float": "NaN"}."""
    if not isinstance(described, dict):
        return described
    if described.get("float") not in ("NaN", "Infinity", "-Infinity"):
        raise CorruptFileError(f"an argument or result is recorded as {described}, which is no value")
    return float(described["float"])


def _names(ports: Sequence[Port]) -> str:
    return ", ".join(port.name for port in ports) or "nothing"


def _check_literal(port: Port, value: Any) -> bool:
    """Whether the input was fixed when the model was exported; then the value must be the same."""
    if not port.is_literal:
        return False
    plain = value
    if hasattr(value, "item") and getattr(value, "shape", None) == ():
        plain = value.item()  # a number of numpy or torch
    is_value = isinstance(plain, bool | int | float | str | None)
    is_same = is_value and (plain == port.literal or (plain != plain and port.literal != port.literal))  # NaN, too
    if not is_same:
        raise UsageError(f"input '{port.name}' was exported as {port.literal!r} and cannot be {value!r}")
    return True


def _states(given: Sequence[tuple[Port, Any]]) -> dict[str, _arrays.StateArray]:
    """The arguments that the program changes."""
    made: list[_arrays.StateArray] = []
    states = {port.state: _arrays.StateArray(value, port.name, port.dtype, made) for port, value in given if port.state}
    copied = [state for state in made if state.is_copied]
    for port, value in given if copied else ():
        if not port.state and (_arrays.is_torch(value) or hasattr(value, "ctypes")):
            place = _arrays.Place(value)
            for state in copied:
                state.check_apart(port.name, place)
    return states


def _outputs(entry: EntryPoint, raw: list[Any], use_torch: bool) -> list[Any]:
    """The results in order."""
    results: list[Any] = []
    arrays = iter(raw)
    for port in entry.outputs:
        if port.is_literal:
            results.append(port.literal)
            continue
        raw_array = next(arrays)
        array = _arrays.to_torch(raw_array) if use_torch else _arrays.to_numpy(raw_array, port.dtype)
        results.append(array.item() if port.is_scalar else array)
    return results
