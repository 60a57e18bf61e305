"""Converts several exported programs into one, with lowerings of your own and modules kept whole.

converter = ingot.TorchConverter()
converter.add_exported_program(prefill, entrypoint_name="prefill")
converter.add_exported_program(decode, entrypoint_name="decode")
program = converter.to_ingot()
program.save_asset("chat.ingot")
"""

from __future__ import annotations

import contextlib
import enum
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ingot import _core
from ingot._lowering import LoweringFunction, check_name
from ingot._progress import Progress, ProgressOption
from ingot._validate import validate_program
from ingot.conversion import Part, convert_parts
from ingot.errors import UsageError
from ingot.externalize import Body, ExternalizeSpec, bound_calls, externalize

if TYPE_CHECKING:
    import torch
    from torch.export import ExportedProgram

    from ingot._kernel import Kernel
    from ingot.program import Program

# Who imports this will convert: the libraries are loaded here rather than during the first conversion.
_core.load_compiler()

_RESERVED = ("aten", "higher_order", "coreai", "coreaix")


@dataclass
class _Staged:
    """What becomes one entry point."""

    name: str
    source: Any
    """An ExportedProgram, or the module that `export_fn` exports."""
    names: dict[str, list[str]]
    bodies: Sequence[Body] = ()
    export_fn: Callable[[Any], ExportedProgram] | None = None
    specs: list[Any] = field(default_factory=list)
    exported: Any = None
    """The export of a module that has nothing to be kept whole."""

    @contextlib.contextmanager
    def program(self, progress: Progress) -> Iterator[tuple[ExportedProgram, Sequence[Body]]]:
        if self.specs:
            assert self.export_fn is not None

            def show(_: int, body: str) -> None:
                progress.start(f"{self.name}: {body}")

            made = externalize(self.source, self.export_fn, self.specs, progress_bar=show)
            yield made.program, made.bodies
        elif self.bodies:
            with bound_calls(self.source, self.bodies) as program:
                yield program, self.bodies
        else:
            yield (self.source if self.exported is None else self.exported), ()

    def __str__(self) -> str:
        kind = "ExportedProgram" if self.export_fn is None else "nn.Module"
        text = f"{self.name}: {kind} {self.names['input_names']} -> {self.names['output_names']}"
        if self.specs:
            classes = [spec.target_class if isinstance(spec, ExternalizeSpec) else spec for spec in self.specs]
            text += f" externalize=[{', '.join(cls.__name__ for cls in classes)}]"
        return text


class TorchConverter:
    """Stages exported programs as entry points and converts them together; what they share, they share there too."""

    class Mode(enum.Enum):
        """What a converted program keeps of where its operations come from."""

        DEBUG = "debug"
        """Names of nodes, modules and lines of Python."""
        RELEASE = "release"
        """Nothing."""

    def __init__(
        self,
        *,
        mode: Mode = Mode.DEBUG,
        progress: ProgressOption = True,
        keep_paths: bool = False,
        composites: bool = False,
    ) -> None:
        """`progress`: False for no bars, which only terminals have; or a function of (what, done, of how many).

        Source files are recorded relative to the working folder, unless `keep_paths`. With `composites`, norms,
        pooling, attention and a few other ATen operators are functions with a declaration each, for compilers that have
        them whole; what they compute is the same.
        """
        self._mode = self.Mode(mode)
        self._progress = progress
        self._options = {"keep_paths": keep_paths, "composites": composites}
        self._staged: dict[str, _Staged] = {}
        self._lowerings: dict[str, LoweringFunction] = {}
        self._kernels: list[Kernel] = []

    def add_exported_program(
        self,
        exported_program: ExportedProgram,
        input_names: Sequence[str] | None = None,
        output_names: Sequence[str] | None = None,
        state_names: Sequence[str] | None = None,
        entrypoint_name: str = "main",
        _externalized_exported_programs: Sequence[Body] | None = None,
    ) -> TorchConverter:
        """Stages a program, decomposed or not. It is not changed.

        Names are given in the order of the program's inputs, outputs and states; states are the buffers that it writes
        to, then the arguments that it writes to. Without names, those of the exported graph are taken.
        """
        self._check_new(entrypoint_name)
        self._validate(exported_program)
        names = _names(input_names, output_names, state_names)
        bodies = list(_externalized_exported_programs or ())
        self._staged[entrypoint_name] = _Staged(entrypoint_name, exported_program, names, bodies)
        return self

    def add_pytorch_module(
        self,
        model: torch.nn.Module,
        *,
        export_fn: Callable[[torch.nn.Module], ExportedProgram],
        externalize_modules: Sequence[ExternalizeSpec | type] | None = None,
        input_names: Sequence[str] | None = None,
        output_names: Sequence[str] | None = None,
        state_names: Sequence[str] | None = None,
        entrypoint_name: str = "main",
    ) -> TorchConverter:
        """Stages a module that `export_fn` exports. Modules of the classes in `externalize_modules` stay functions."""
        self._check_new(entrypoint_name)
        try:
            exported = export_fn(model)
        except Exception as error:
            raise RuntimeError(
                f"Your model failed to export: {error}\nmake torch.export work for it before converting it"
            ) from error
        self._validate(exported)
        names = _names(input_names, output_names, state_names)
        specs = list(externalize_modules or ())
        staged = _Staged(entrypoint_name, model, names, export_fn=export_fn, specs=specs)
        staged.exported = None if specs else exported
        self._staged[entrypoint_name] = staged
        return self

    def to_ingot(self, *, entrypoints: Iterable[str] | None = None) -> Program:
        """One program with everything that is staged, or the entry points named."""
        chosen = self._choose(entrypoints)
        parts: list[Part] = []
        with contextlib.ExitStack() as exported, Progress(self._progress, len(chosen)) as progress:
            for staged in chosen:
                progress.start(staged.name)
                program, bodies = exported.enter_context(staged.program(progress))
                parts.append(Part.entry(program, staged.name, placeholder_names=True, **staged.names))
                parts += [_body_part(body) for body in bodies]
                progress.step(staged.name)
            parts = exported.enter_context(self._with_kernels(parts))
            converted = convert_parts(parts, self._options, self._lowerings)
        if self._mode is self.Mode.RELEASE:
            converted.strip_debug_info()
        return converted

    def clear(self, *, entrypoints: Iterable[str] | None = None) -> None:
        """Forgets what is staged, or the entry points named. Lowerings stay."""
        for name in list(self._staged) if entrypoints is None else _as_list(entrypoints):
            self._staged.pop(name, None)

    def register_torch_lowering(
        self, qualified_name: str, allow_override: bool = False
    ) -> Callable[[LoweringFunction], LoweringFunction]:
        """Decorates a function that lowers nodes of an operator ("acme::softclip.default"); see `ingot.lowering`.

        `.default` may be left out. An operator that has a lowering keeps it unless `allow_override`.
        """
        name = check_name(qualified_name)
        if not allow_override:
            self._check_unregistered(name)

        def register(function: LoweringFunction) -> LoweringFunction:
            self._lowerings[name] = function
            return function

        return register

    def register_custom_kernels(self, kernels: Iterable[Kernel]) -> TorchConverter:
        """Makes kernels of your own known: their calls in programs run them."""
        from ingot._kernel import Kernel

        for kernel in kernels:
            if not isinstance(kernel, Kernel):
                raise TypeError(f"a TorchKernel or TorchMetalKernel is needed, not {type(kernel).__name__}")
            self.register_torch_lowering(kernel.op_name)(kernel.lower)
            self._kernels.append(kernel)
        return self

    def __repr__(self) -> str:
        entries = "; ".join(str(staged) for staged in self._staged.values()) or "(none)"
        return f"TorchConverter({entries}; custom_lowerings: {sorted(self._lowerings)})"

    def _with_kernels(self, parts: list[Part]) -> contextlib.AbstractContextManager[list[Part]]:
        if not self._kernels:
            return contextlib.nullcontext(parts)
        from ingot._kernel_bodies import bound_kernels

        # A lowering may have replaced a kernel since.
        used = [kernel for kernel in self._kernels if self._lowerings[check_name(kernel.op_name)] == kernel.lower]
        return bound_kernels(parts, {kernel.op_name: kernel for kernel in used})

    def _check_new(self, name: str) -> None:
        if name in self._staged:
            raise UsageError(f"the entry point '{name}' is already staged; each staged program needs a name of its own")

    def _check_unregistered(self, name: str) -> None:
        namespace = name.partition("::")[0]
        if name in self._lowerings:
            reason = "has a lowering in this converter"
        elif namespace in _RESERVED:
            reason = f"is of the reserved namespace '{namespace}', whose operators are Ingot's"
        else:
            return
        raise UsageError(f"'{name}' is already registered: it {reason}; set allow_override=True to replace it")

    def _validate(self, program: ExportedProgram) -> None:
        import torch

        if not isinstance(program, torch.export.ExportedProgram):
            raise TypeError(f"an ExportedProgram is needed, not {type(program).__name__}")
        validate_program(program, set(self._lowerings), _core.Converted.has_lowering)

    def _choose(self, entrypoints: Iterable[str] | None) -> list[_Staged]:
        if entrypoints is None:
            chosen = list(self._staged.values())
        else:
            wanted = _as_list(entrypoints)
            chosen = [self._staged[name] for name in wanted if name in self._staged]
            if unknown := [name for name in wanted if name not in self._staged]:
                known = ", ".join(self._staged) or "none"
                text = f"No programs to convert are called {', '.join(map(repr, unknown))}; staged are: {known}"
                raise (UsageError if chosen else RuntimeError)(text)
        if not chosen:
            raise RuntimeError("No programs to convert: stage some with add_exported_program or add_pytorch_module")
        return chosen


def _as_list(names: Iterable[str]) -> list[str]:
    return [names] if isinstance(names, str) else list(names)


def _names(
    inputs: Sequence[str] | None, outputs: Sequence[str] | None, states: Sequence[str] | None
) -> dict[str, list[str]]:
    given = {"input_names": inputs, "output_names": outputs, "state_names": states}
    for parameter, names in given.items():
        if isinstance(names, str):
            raise UsageError(f"{parameter} must be a list of names, not the string '{names}'")
    return {parameter: list(names or ()) for parameter, names in given.items()}


def _body_part(body: Body) -> Part:
    declaration = body.declaration
    text = "" if declaration is None else declaration.as_dictionary()
    return Part.body(body.program, body.op_name, body.symbol, body.weight_prefix, text)
