"""`torch.compile(model, backend="ingot")`: the graphs that Dynamo finds, as native programs.

PyTorch finds the backend by the package's entry point; nothing has to be imported. A graph is converted when it is
first called, and stays in eager PyTorch, with one warning, where it cannot be or where its results need gradients.

Parameters and buffers become weights of the program. They are watched: a program is made anew when they were changed.
Only what is written through `tensor.data`, which PyTorch itself does not notice, goes unseen.
"""

from __future__ import annotations

import warnings
import weakref
from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter
from typing import Any

import torch

from ingot._compile_graph import GraphInfo, NotNative, Settings
from ingot._compile_program import NativeGraph, make_native
from ingot._tracing import tracing
from ingot.errors import IngotError, UsageError

_MAX_PROGRAMS = 64
"""Of one graph: as many modules, or sizes where they cannot vary, share it."""
_MAX_CHANGES = 4
"""How often the parameters of a graph may change before it is left to eager PyTorch."""
_MAX_LINES = 6
"""Of an error, in a warning."""
_versions = attrgetter("_version")


def ingot_backend(
    graph_module: torch.fx.GraphModule,
    example_inputs: Sequence[Any],
    *,
    options: Mapping[str, Any] | None = None,
    mode: str | None = None,
) -> Callable[..., Any]:
    """The function that Dynamo calls instead of the graph.

    `options`, given to torch.compile: `fallback` (True: PyTorch runs single operators without a native form; False: the
    whole graph stays in eager then) and `disable_passes`, as `ingot.convert` takes them. Every `mode` is the same.
    """
    settings = _settings(options or {})
    try:
        info = GraphInfo(graph_module)
    except NotNative as problem:
        _warn(str(problem))
        return graph_module.forward
    return CompiledGraph(graph_module, info, settings)


def _settings(options: Mapping[str, Any]) -> Settings:
    if unknown := [name for name in options if name not in Settings._fields]:
        raise UsageError(f"the backend has no option '{unknown[0]}'; it has {', '.join(Settings._fields)}")
    return Settings(**options)


def _warn(reason: str) -> None:
    warnings.warn(f"ingot: a graph stays in eager PyTorch: {reason}", UserWarning, stacklevel=3)


class _Entry:
    """A program and the weights that it was made of, which it does not keep alive."""

    def __init__(self, native: NativeGraph, weights: Sequence[torch.Tensor], forget: Callable[[Any], None]) -> None:
        self.native = native
        self.state = _state_of(weights)
        self.references = [weakref.ref(weight, forget) for weight in weights]


def _state_of(weights: Sequence[torch.Tensor]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """What tells whether weights were changed or given other memory."""
    return tuple(map(_versions, weights)), tuple(map(torch.Tensor.data_ptr, weights))


class CompiledGraph:
    """A graph of Dynamo's. Modules of one class share it, so that it has a program for the weights of each."""

    def __init__(self, graph_module: torch.fx.GraphModule, info: GraphInfo, settings: Settings) -> None:
        self._graph_module = graph_module
        self._info = info
        self._settings = settings
        self._entries: dict[Any, _Entry] = {}
        self._weights = info.weights
        self._sizes_in_key = False
        self._is_eager = False
        self._changes = 0
        self._has_warned = False

    def __call__(self, *args: Any) -> Any:
        if self._is_eager:
            return self._graph_module(*args)
        weights = [args[index] for index in self._weights]
        entry = self._entries.get(self._key(weights, args))
        if entry is None or entry.state != _state_of(weights):
            entry = self._prepare(args)
            if entry is None:
                return self._graph_module(*args)
        native = entry.native
        if native.states and native.overlaps(args):
            return self._graph_module(*args)
        try:
            return native.run(args)
        except IngotError as error:
            # Nothing has been written to when arguments were refused; otherwise it may have been.
            if native.states and not isinstance(error, UsageError):
                raise
            results = self._graph_module(*args)  # which raises PyTorch's own error if the arguments are to blame
            self._warn_once(f"a call of its native program failed: {error}")
            return results

    def _key(self, weights: Sequence[torch.Tensor], args: Sequence[Any]) -> Any:
        ids = tuple(map(id, weights))
        return (ids, self._info.sizes(args)) if self._sizes_in_key else ids

    def _prepare(self, args: Sequence[Any]) -> _Entry | None:
        """The program for these weights, made anew if they were changed; None: eager PyTorch takes the call."""
        # Tracing changes state of the whole process, and so does Dynamo.
        with tracing():
            if self._is_eager:
                return None
            weights = [args[index] for index in self._weights]
            key = self._key(weights, args)
            entry = self._entries.get(key)
            if entry is not None:
                if entry.state == _state_of(weights):
                    return entry
                self._note_change(entry, weights)
            try:
                self._check_limits()
                return self._make(args)
            except NotNative as problem:
                self._stay_eager(str(problem))
            except Exception as error:
                # Whatever export, conversion or loading cannot do, eager PyTorch can.
                self._stay_eager(_text_of(error))
            return None

    def _make(self, args: Sequence[Any]) -> _Entry:
        made = make_native(self._graph_module, self._info, args, self._weights, self._settings)
        if made.weights != self._weights:  # it writes to some of them
            self._weights = made.weights
            self._entries = {}
        self._sizes_in_key |= made.has_fixed_sizes
        weights = [args[index] for index in self._weights]
        key = self._key(weights, args)
        entries = self._entries
        entry = _Entry(made, weights, lambda _: entries.pop(key, None))
        entries[key] = entry
        return entry

    def _note_change(self, entry: _Entry, weights: Sequence[torch.Tensor]) -> None:
        """Buffers that change are arguments from now on; parameters are expected to settle."""
        changed = [
            index
            for index, weight, *before_and_after in zip(
                self._weights, weights, *entry.state, *_state_of(weights), strict=True
            )
            if before_and_after[:2] != before_and_after[2:] and not isinstance(weight, torch.nn.Parameter)
        ]
        if changed:
            self._weights = [index for index in self._weights if index not in changed]
            self._entries = {}
        else:
            self._changes += 1

    def _check_limits(self) -> None:
        if self._changes > _MAX_CHANGES:
            raise NotNative(f"its parameters were changed {self._changes} times, and weights are part of a program")
        if len(self._entries) >= _MAX_PROGRAMS:
            raise NotNative(f"it was called with more than {_MAX_PROGRAMS} sets of weights or sizes")

    def _stay_eager(self, reason: str) -> None:
        self._is_eager = True
        self._entries = {}
        self._warn_once(reason)

    def _warn_once(self, reason: str) -> None:
        if not self._has_warned:
            self._has_warned = True
            _warn(reason)


def _text_of(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return "\n".join([f"{type(error).__name__}: {lines[0]}", *lines[1:_MAX_LINES]] if lines else [type(error).__name__])
