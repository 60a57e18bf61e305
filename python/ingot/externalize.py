"""Keeps calls of chosen module classes whole: each becomes a function of its own in the converted program.

A marked module's forward is one custom operator, so that exporting the model leaves one node for each call. The module
is then exported alone for each call, with the shapes found there, while the marked modules inside it are nodes in turn.
"""

from __future__ import annotations

import contextlib
import enum
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import torch

from ingot import _external_ops
from ingot._external_calls import Call, NonTensorInputError, Sizes, calls, dynamic_shapes, example_arguments, read_call
from ingot._external_share import fingerprint, with_weights_of
from ingot._tracing import tracing
from ingot.composite import CompositeDecl, generate_composite_decl
from ingot.decompositions import get_decomp_table

if TYPE_CHECKING:
    from torch.export import ExportedProgram

_STAMP = "_ingot_externalized"


@dataclass(frozen=True)
class ExternalizeSpec:
    """Which modules to keep whole, and what composite operator they are.

    `target_class` and its subclasses match, but never the model itself. `composite_attrs` are names of attributes that
    each instance has; those that are None are left out of the declaration.
    """

    target_class: type[torch.nn.Module]
    composite_op_name: str | None = None
    composite_attrs: Sequence[str] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.target_class, type) or not issubclass(self.target_class, torch.nn.Module):
            raise TypeError(f"target_class must be a class of torch modules, not {self.target_class!r}")
        if self.composite_attrs is None:
            return
        if self.composite_op_name is None:
            raise ValueError("composite_attrs needs composite_op_name: attributes belong to a composite's declaration")
        if isinstance(self.composite_attrs, str) or not all(isinstance(name, str) for name in self.composite_attrs):
            raise TypeError(f"composite_attrs must be a list of attribute names, not {self.composite_attrs!r}")


@dataclass(eq=False)
class Body:
    """What one call of an externalized module computes."""

    op_name: str
    """The operator of this call, and of no other: "coreai_torch_ext::norm_1f0c9a7e"."""
    symbol: str
    """The name of the function: "block.norm_1f0c9a7e"."""
    program: ExportedProgram
    """Calls with equal shapes share this object if they are of one instance, and at least its `graph_module` if the
    instances differ only in the values of their weights."""
    module_path: str
    spec: ExternalizeSpec | None
    """None where only the class was named."""
    input_names: tuple[str, ...]
    """Parameters and buffers by their path in the module, then the tensors given: in the order of the program's."""
    output_names: tuple[str, ...]
    attrs: Mapping[str, Any]
    marked_op: str
    """The operator of all calls of the instance, as an export of the marked model has it."""
    graph_path: str
    """The sub-graph of the calling program that the call is in; "" for the top one."""
    node_name: str
    """The call's node in that graph."""
    caller: ExportedProgram | None
    """The body's program that makes the call; None for the model's."""
    keep_alive: tuple[Any, ...] = field(repr=False, default=())
    """The operators exist as long as a body."""

    @property
    def weight_prefix(self) -> str:
        """Before the name of a weight of the body, it gives the name in the model."""
        return f"{self.module_path}."

    @property
    def declaration(self) -> CompositeDecl | None:
        if self.spec is None or self.spec.composite_op_name is None:
            return None
        version = int(self.attrs.get("version", 1))
        name = self.spec.composite_op_name
        return generate_composite_decl(None, name, self.input_names, self.output_names, self.attrs, version)


@dataclass(frozen=True)
class Externalized:
    """A program in which each externalized call has its own operator, and the bodies, inner ones first."""

    program: ExportedProgram
    bodies: tuple[Body, ...]


@dataclass(eq=False)
class _Mark:
    """A marked module. It is stamped on the module."""

    path: str
    kind: str
    spec: ExternalizeSpec | None
    is_nested: bool
    schema: str
    op: Any
    ops: _external_ops.ModuleOps
    forward: Callable[..., Any]
    previous: Any
    """The forward that was set on the instance, or None."""

    def patch(self, module: torch.nn.Module) -> None:
        op, what = self.op, self.what
        names = [argument.name for argument in op._schema.arguments]
        tensors = [arg.name for arg in op._schema.arguments if str(arg.type) in ("Tensor", "Optional[Tensor]")]

        def forward(*args: Any, **kwargs: Any) -> Any:
            # Operators take arguments by position and by keyword as the forward does, but say little of wrong ones.
            for name, value in (*zip(names, args, strict=False), *kwargs.items()):
                if name in tensors and value is not None and not isinstance(value, torch.Tensor):
                    raise NonTensorInputError(what, name, value)
            return op(*args, **kwargs)

        module.__dict__["forward"] = forward

    def restore(self, module: torch.nn.Module) -> None:
        if self.previous is None:
            module.__dict__.pop("forward", None)
        else:
            module.__dict__["forward"] = self.previous

    def __deepcopy__(self, memo: Any) -> _Mark:
        # Operators cannot be copied; a copy of a marked model calls those of the original.
        return self

    @property
    def what(self) -> str:
        return f"'{self.path}' ({self.kind})"


def externalize(
    model: torch.nn.Module,
    export_fn: Callable[[torch.nn.Module], ExportedProgram],
    specs: Iterable[ExternalizeSpec | type],
    decompositions: Mapping[Any, Callable[..., Any]] | None = None,
    progress_bar: Any = None,
) -> Externalized:
    """Exports a model with `export_fn` while its modules are marked; the model is afterwards as it was."""
    _patch_model_for_externalization(model, specs)
    try:
        try:
            program = export_fn(model)
        except NonTensorInputError:
            raise
        except Exception as error:
            raise RuntimeError(
                "Internal error: re-export of the model with externalized modules failed, although the model itself "
                f"can be exported; this is a bug, please report it: {error}"
            ) from error
        bodies = _subexport(model, program, decompositions, progress_bar)
    finally:
        _restore(model)
    bind_calls(program, bodies)
    return Externalized(program, tuple(bodies))


def _patch_model_for_externalization(model: torch.nn.Module, targets: Iterable[ExternalizeSpec | type]) -> None:
    """Marks the modules that `targets` name: until `_subexport_and_restore`, their calls are custom operators."""
    targets = list(targets)
    specs = [_as_spec(target) for target in targets]
    for path, module in model.named_modules():
        if _STAMP in module.__dict__:
            raise RuntimeError(f"module '{path}' is externalized already: call _subexport_and_restore first")
    ops = _external_ops.ModuleOps()
    matched: dict[int, str] = {}
    used: set[int] = set()
    try:
        for path, module in model.named_modules():
            index = next((i for i, spec in enumerate(specs) if isinstance(module, spec.target_class)), None)
            if index is None or module is model:
                continue
            is_nested = any(path.startswith(f"{outer}.") for outer in matched.values())
            spec = specs[index] if isinstance(targets[index], ExternalizeSpec) else None
            _mark(module, path, spec, is_nested, ops)
            matched[id(module)] = path
            used.add(index)
    except BaseException:
        _restore(model)
        raise
    unused = [spec.target_class.__name__ for index, spec in enumerate(specs) if index not in used]
    if unused:
        warnings.warn(f"no submodule of the model matches {', '.join(unused)}", UserWarning, stacklevel=2)


def _as_spec(target: ExternalizeSpec | type) -> ExternalizeSpec:
    return target if isinstance(target, ExternalizeSpec) else ExternalizeSpec(target)


def _mark(
    module: torch.nn.Module,
    path: str,
    spec: ExternalizeSpec | None,
    is_nested: bool,
    ops: _external_ops.ModuleOps,
) -> None:
    schema = _external_ops.schema_of(path, module)
    forward = _external_ops.original_forward(module)
    mark = _Mark(
        path=path,
        kind=type(module).__name__,
        spec=spec,
        is_nested=is_nested,
        schema=schema,
        op=ops.define(path, _external_ops.fresh_hex(), schema, module, forward),
        ops=ops,
        forward=forward,
        previous=module.__dict__.get("forward"),
    )
    module.__dict__[_STAMP] = mark
    mark.patch(module)


def _restore(model: torch.nn.Module) -> None:
    for module in model.modules():
        mark = module.__dict__.pop(_STAMP, None)
        if mark is not None:
            mark.restore(module)


def _subexport_and_restore(model: torch.nn.Module, ep: ExportedProgram, *, progress_bar: Any = None) -> list[Body]:
    """The bodies of all externalized calls in an export of a marked model, inner ones first.

    The model is afterwards as it was before it was marked, also when this fails; without marks there is nothing to do.
    `progress_bar` has `update(n)`, or is a function of the number done and the body's name.
    """
    try:
        return _subexport(model, ep, None, progress_bar)
    finally:
        _restore(model)


def _subexport(
    model: torch.nn.Module,
    program: ExportedProgram,
    decompositions: Mapping[Any, Callable[..., Any]] | None,
    progress_bar: Any,
) -> list[Body]:
    marked = [module for module in model.modules() if _STAMP in module.__dict__]
    if not marked:
        return []
    exporter = _Exporter(marked, decompositions, progress_bar)
    bodies = exporter.export_calls(program, None)
    for module in marked:
        mark: _Mark = module.__dict__[_STAMP]
        if mark.path not in exporter.called:
            text = "skipping unused submodule" if mark.is_nested else "No call sites found for externalized submodule"
            warnings.warn(f"{text} {mark.what}", UserWarning, stacklevel=3)
    return bodies


class _Exporter:
    """Exports marked modules for their calls, and what is marked inside them for the calls found there."""

    def __init__(
        self,
        modules: Sequence[torch.nn.Module],
        decompositions: Mapping[Any, Callable[..., Any]] | None,
        progress_bar: Any,
    ) -> None:
        self._modules = {module.__dict__[_STAMP].op: module for module in modules}
        self._table = dict(get_decomp_table() if decompositions is None else decompositions)
        self._progress_bar = progress_bar
        self._programs: dict[Any, ExportedProgram] = {}
        self._done = 0
        self.called: set[str] = set()

    def export_calls(self, program: ExportedProgram, caller: ExportedProgram | None) -> list[Body]:
        bodies: list[Body] = []
        own: list[Body] = []
        for graph_path, node in calls(program):
            module = self._modules.get(node.target)
            if module is None:
                continue
            mark: _Mark = module.__dict__[_STAMP]
            self.called.add(mark.path)
            call = read_call(node, mark.what)
            # Read now, so that a missing attribute is known before anything is exported.
            attrs = _read_attrs(module, mark.spec)
            exported, inner = self._export(program, module, mark, call)
            bodies += inner
            own.append(_body(module, mark, call, exported, attrs, (graph_path, node.name), caller))
            bodies.append(own[-1])
            self._advance(own[-1].symbol)
        if caller is not None:
            bind_calls(program, own, caller)
        return bodies

    def _advance(self, symbol: str) -> None:
        self._done += 1
        if hasattr(self._progress_bar, "update"):
            self._progress_bar.update(1)
        elif callable(self._progress_bar):
            self._progress_bar(self._done, symbol)

    def _export(
        self, program: ExportedProgram, module: torch.nn.Module, mark: _Mark, call: Call
    ) -> tuple[ExportedProgram, list[Body]]:
        sizes = Sizes(program)
        place = sizes.signature(call)
        if (mark.op, place) in self._programs:
            return self._programs[mark.op, place], []
        kind = None if mark.previous is not None else fingerprint(module, frozenset({_STAMP, "forward"}))
        equal = self._programs.get((kind, place)) if kind is not None else None
        if equal is not None:
            exported = self._programs[mark.op, place] = with_weights_of(module, equal)
            return exported, []
        mark.restore(module)
        try:
            with _without_hooks(module):
                exported = self._export_module(module, call, sizes)
        except Exception as error:
            raise RuntimeError(f"Internal error: failed to export submodule {mark.what}: {error}") from error
        finally:
            mark.patch(module)
        _check_pure(exported, mark)
        _check_dynamic(exported, mark, call)
        self._programs[mark.op, place] = exported
        if kind is not None:
            self._programs[kind, place] = exported
        return exported, self.export_calls(exported, exported)

    def _export_module(self, module: torch.nn.Module, call: Call, sizes: Sizes) -> ExportedProgram:
        args, kwargs = example_arguments(call, sizes)
        with tracing(), torch.no_grad():
            try:
                shapes = dynamic_shapes(call, sizes.dim)
                exported = torch.export.export(module, args, kwargs, dynamic_shapes=shapes, strict=False)
            except torch._dynamo.exc.UserError:
                # Sizes may be related in a way that Dims cannot say; torch can find out what the module needs.
                shapes = dynamic_shapes(call, lambda _: torch.export.Dim.AUTO)
                exported = torch.export.export(module, args, kwargs, dynamic_shapes=shapes, strict=False)
            return exported.run_decompositions(dict(self._table))


@contextlib.contextmanager
def _without_hooks(module: torch.nn.Module) -> Iterator[None]:
    """Hooks run around the call, where the calling program has them already."""
    names = ("_forward_hooks", "_forward_pre_hooks")
    saved = {name: dict(getattr(module, name)) for name in names}
    try:
        for name in names:
            getattr(module, name).clear()
        yield
    finally:
        for name, hooks in saved.items():
            getattr(module, name).update(hooks)


def _check_pure(program: ExportedProgram, mark: _Mark) -> None:
    signature = program.graph_signature
    written = [*signature.buffers_to_mutate.values(), *getattr(signature, "parameters_to_mutate", {}).values()]
    problem = f"writes to its buffer '{written[0]}'" if written else ""
    if signature.user_inputs_to_mutate:
        problem = f"writes to its argument '{next(iter(signature.user_inputs_to_mutate.values()))}'"
    inputs = {node.name for node in program.graph.nodes if node.op == "placeholder"}
    for output in signature.output_specs:
        if not problem and getattr(output.arg, "name", None) in inputs:
            problem = f"returns its argument or weight '{output.arg.name}' unchanged"
    if problem:
        raise RuntimeError(
            f"{mark.what} cannot be externalized: its forward {problem}. An externalized module must only compute: "
            "take it off the list, or move this out of it"
        )


def _check_dynamic(program: ExportedProgram, mark: _Mark, call: Call) -> None:
    """A size that varies at the call must vary in the body: a body of one size would compute something else."""
    specs = program.graph_signature.user_inputs
    nodes = {node.name: node for node in program.graph.nodes if node.op == "placeholder"}
    for (name, value), placeholder in zip(call.tensors.items(), specs, strict=True):
        inner = nodes[placeholder].meta["val"]
        for axis, (outside, inside) in enumerate(zip(value.shape, inner.shape, strict=True)):
            if isinstance(inside, int) and not isinstance(outside, int):
                raise RuntimeError(
                    f"{mark.what} cannot be externalized: axis {axis} of its argument '{name}' varies, but its "
                    f"forward works for the size {inside} only"
                )


def _read_attrs(module: torch.nn.Module, spec: ExternalizeSpec | None) -> dict[str, Any]:
    names = (spec.composite_attrs if spec is not None else None) or ()
    values = {name: getattr(module, name) for name in names}
    plain = {name: value.value if isinstance(value, enum.Enum) else value for name, value in values.items()}
    return {name: value for name, value in plain.items() if value is not None}


def _body(
    module: torch.nn.Module,
    mark: _Mark,
    call: Call,
    program: ExportedProgram,
    attrs: Mapping[str, Any],
    place: tuple[str, str],
    caller: ExportedProgram | None,
) -> Body:
    digits = _external_ops.fresh_hex()
    op = mark.ops.define(mark.path, digits, mark.schema, module, mark.forward)
    count = len(program.graph_signature.user_outputs)
    return Body(
        op_name=op._schema.name,
        symbol=f"{mark.path}_{digits}",
        program=program,
        module_path=mark.path,
        spec=mark.spec,
        input_names=(*_weight_names(program), *call.tensors),
        output_names=("output",) if count == 1 else tuple(f"output_{index}" for index in range(count)),
        attrs=attrs,
        marked_op=mark.op._schema.name,
        graph_path=place[0],
        node_name=place[1],
        caller=caller,
        keep_alive=(mark.ops, module),
    )


def _weight_names(program: ExportedProgram) -> list[str]:
    """Parameters and buffers in the order of the program's inputs; tensors that the forward makes are none."""
    kinds = (torch.export.graph_signature.InputKind.PARAMETER, torch.export.graph_signature.InputKind.BUFFER)
    return [spec.target for spec in program.graph_signature.input_specs if spec.kind in kinds and spec.target]


def bind_calls(
    program: ExportedProgram, bodies: Iterable[Body], caller: ExportedProgram | None = None
) -> list[tuple[torch.fx.Node, Any]]:
    """Lets each externalized call in a program use the operator of its own body.

    Returns the nodes with the operators they had. The program is the one that the bodies were made for.
    """
    own = [body for body in bodies if body.caller is caller]
    by_place = {(body.marked_op, body.graph_path, body.node_name): body for body in own}
    by_op: dict[str, list[Body]] = {}
    for body in own:
        by_op.setdefault(body.marked_op, []).append(body)
    changed: list[tuple[torch.fx.Node, Any]] = []
    for graph_path, node in calls(program):
        marked_op = node.target._schema.name
        if marked_op not in by_op:
            continue
        candidates = by_op[marked_op]
        # Later passes may have renamed nodes; a body that is alone can only be meant.
        body = by_place.get((marked_op, graph_path, node.name)) or (candidates[0] if len(candidates) == 1 else None)
        if body is None:
            unbind_calls(changed)
            raise RuntimeError(f"the externalized call '{node.name}' is not one that the bodies were exported for")
        changed.append((node, node.target))
        namespace, name = body.op_name.split("::")
        node.target = getattr(getattr(torch.ops, namespace), name).default
    _recompile(changed)
    return changed


def unbind_calls(changed: Iterable[tuple[torch.fx.Node, Any]]) -> None:
    changed = list(changed)
    for node, target in changed:
        node.target = target
    _recompile(changed)


def _recompile(changed: Sequence[tuple[torch.fx.Node, Any]]) -> None:
    for module in {id(node.graph): node.graph.owning_module for node, _ in changed}.values():
        if module is not None:
            module.recompile()


@contextlib.contextmanager
def bound_calls(program: ExportedProgram, bodies: Iterable[Body]) -> Iterator[ExportedProgram]:
    """`bind_calls` for a program that belongs to somebody else: it is as it was afterwards."""
    changed = bind_calls(program, bodies)
    try:
        yield program
    finally:
        unbind_calls(changed)
