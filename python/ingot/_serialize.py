"""An ExportedProgram as the importer takes it: torch's JSON schema, and weights by address."""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Iterable, Iterator, Mapping
from copy import deepcopy
from typing import TYPE_CHECKING, Any, NamedTuple

from ingot._core import WeightRef
from ingot._tree import spec_text
from ingot.errors import UnsupportedError, UsageError

if TYPE_CHECKING:
    import torch
    from torch.export import ExportedProgram


class KeptWeights:
    """Tensors that are read where PyTorch has them, until the program is first called."""

    def __init__(self) -> None:
        self._tensors: list[tuple[str, torch.Tensor, int | None]] = []

    def add(self, name: str, tensor: torch.Tensor) -> None:
        self._tensors.append((name, tensor, _version(tensor)))

    def check_unchanged(self) -> None:
        changed = [name for name, tensor, version in self._tensors if _version(tensor) != version]
        if changed:
            more = f" and {len(changed) - 1} more" if len(changed) > 1 else ""
            raise UsageError(
                f"weight '{changed[0]}'{more} was changed after the conversion, before the program was first called: "
                "convert the model again, or call the program before you go on with the model"
            )


def _version(tensor: torch.Tensor) -> int | None:
    """Counts writes. Tensors of torch.inference_mode do not."""
    return None if tensor.is_inference() else tensor._version


class SerializedProgram(NamedTuple):
    json: bytes
    weights: list[WeightRef]
    kept: KeptWeights
    """What the weights point into."""


def copied_states(programs: Iterable[ExportedProgram]) -> dict[int, torch.UntypedStorage]:
    """Copies of the memory that the programs write to, by where the original is: the model goes on with its own."""
    copies: dict[int, torch.UntypedStorage] = {}
    for program in programs:
        written = _written_buffers(program)
        for name, tensor, _ in _tensors(program):
            if name in written:
                storage = _plain(name, tensor).untyped_storage()
                if storage.data_ptr() not in copies:
                    copies[storage.data_ptr()] = storage.clone()
    return copies


def serialize(program: ExportedProgram, copies: Mapping[int, torch.UntypedStorage] | None = None) -> SerializedProgram:
    """The same JSON that torch.export.save writes, without a file and without copying weights.

    What lies in memory of which there are `copies` is taken from those.
    """
    weights: list[WeightRef] = []
    kept = KeptWeights()
    for name, tensor, is_constant in _tensors(program):
        held = _in_copy(_plain(name, tensor), copies or {})
        kept.add(name, held)
        weights.append(weight_ref(name, held, is_constant, _is_parameter(tensor)))
    return SerializedProgram(_written(program), weights, kept)


def _written_buffers(program: ExportedProgram) -> set[str]:
    """All that may be written: of operators in place it shows only in the conversion which buffers they write."""
    signature = program.graph_signature
    if any(op._schema.is_mutable for op in _operators(program)):
        return set(signature.buffers)
    return set(signature.buffers_to_mutate.values())


def _operators(program: ExportedProgram) -> Iterator[Any]:
    import torch

    for module in program.graph_module.modules():
        for node in module.graph.nodes if isinstance(module, torch.fx.GraphModule) else ():
            if isinstance(node.target, torch._ops.OpOverload):
                yield node.target


def _in_copy(tensor: torch.Tensor, copies: Mapping[int, torch.UntypedStorage]) -> torch.Tensor:
    import torch

    copy: Any = copies.get(tensor.untyped_storage().data_ptr())
    if copy is None:
        return tensor
    return torch.empty(0, dtype=tensor.dtype).set_(copy, tensor.storage_offset(), tensor.size(), tensor.stride())


def _written(program: ExportedProgram) -> bytes:
    from torch._export.serde.serialize import SerializeError

    try:
        return _json_of(program)
    except (SerializeError, NotImplementedError) as error:
        lines = [line.strip() for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
        why = lines[0] if len(lines) == 1 else f"{lines[0]}\n  {lines[-1]}"
        raise UnsupportedError(f"PyTorch cannot write the exported program down: {why}") from error


def without_transforms(program: ExportedProgram) -> ExportedProgram:
    """torch.vmap inside a model is recorded as calls of Python functions, which no file holds; tracing the program once
    more, without decomposing anything, leaves the operators that it stands for."""
    import torch

    targets = [node.target for node in program.graph.nodes if node.op == "call_function"]
    if any(getattr(target, "__module__", "") == "torch._functorch.predispatch" for target in targets):
        with torch.no_grad():
            return program.run_decompositions({})
    return program


def _with_plain_types(call: Any) -> Any:
    """What torch insists on writing down is replaced afterwards: it cannot write every type."""
    from torch.utils import _pytree as pytree

    if call.signature is None:
        return call
    specs = {name: pytree.tree_structure([]) for name in ("in_spec", "out_spec")}
    return dataclasses.replace(call, signature=dataclasses.replace(call.signature, **specs))


def _json_of(program: ExportedProgram) -> bytes:
    """What torch._export.serde.serialize gives.

    That also brings a copy of the result into a canonical form, only to see whether it can, in most of its time.
    """
    import torch
    from torch._export.non_strict_utils import _enable_graph_inputs_of_type_nn_module
    from torch._export.serde import schema
    from torch._export.serde import serialize as serde

    program.validate()
    with _enable_graph_inputs_of_type_nn_module(program.example_inputs):
        calls = [_with_plain_types(call) for call in program.module_call_graph]
        graph_serializer = serde.GraphModuleSerializer(program.graph_signature, calls)
        graph_module = graph_serializer.serialize(_with_sums(program.graph_module))
    for call, written in zip(program.module_call_graph, graph_module.module_call_graph, strict=True):
        if call.signature is not None:
            written.signature.in_spec = spec_text(call.signature.in_spec)
            written.signature.out_spec = spec_text(call.signature.out_spec)
    major, minor = schema.SCHEMA_VERSION
    serialized = schema.ExportedProgram(
        graph_module=graph_module,
        opset_version={"aten": torch._C._get_max_operator_version()},
        range_constraints=serde.serialize_range_constraints(program.range_constraints),
        schema_version=schema.SchemaVersion(major=major, minor=minor),
        verifiers=[verifier.dialect for verifier in program.verifiers],
        torch_version=torch.__version__,
        guards_code=program._guards_code,
    )
    return serde._to_json_bytes(serialized)


def _with_sums(module: torch.fx.GraphModule) -> torch.fx.GraphModule:
    """torch.sym_sum, which torch cannot write down, as additions."""
    import torch

    if not any(node.target is torch.sym_sum for node in module.graph.nodes):
        return module
    copy = torch.fx.GraphModule(module, deepcopy(module.graph))
    copy.meta.update(module.meta)
    for node in list(copy.graph.nodes):
        if node.target is torch.sym_sum:
            total, *rest = node.args[0]
            for term in rest:
                with copy.graph.inserting_before(node):
                    added = copy.graph.call_function(operator.add, (total, term))
                values = [item.meta["val"] if isinstance(item, torch.fx.Node) else item for item in (total, term)]
                added.meta.update(node.meta, val=values[0] + values[1])
                total = added
            node.replace_all_uses_with(total)
            copy.graph.erase_node(node)
    return copy


def custom_schemas(program: ExportedProgram) -> list[str]:
    """The schemas of operators that are not PyTorch's own: what they take, give and write to."""
    own = (op for op in _operators(program) if op.namespace not in ("aten", "prims"))
    return list(dict.fromkeys(str(op._schema) for op in own))


def _tensors(program: ExportedProgram) -> Iterator[tuple[str, torch.Tensor, bool]]:
    import torch

    for name, tensor in program.state_dict.items():
        yield name, tensor, False
    for name, value in program.constants.items():
        # Other objects have no data to pass; the importer reports the nodes that use them.
        if isinstance(value, torch.Tensor):
            yield name, value, True


def _plain(name: str, tensor: torch.Tensor) -> torch.Tensor:
    """A strided tensor in the CPU's memory with the same content; the same one where it is that already."""
    import torch
    from torch._subclasses.fake_tensor import FakeTensor

    if isinstance(tensor, FakeTensor) or tensor.device.type == "meta":
        raise UnsupportedError(f"weight '{name}' has no data (it is on the meta device)")
    if type(tensor.data) is not torch.Tensor:
        kind = type(tensor.data).__name__
        raise UnsupportedError(f"weight '{name}' is a {kind}; replace it by a plain tensor before exporting")
    if tensor.layout is not torch.strided:
        raise UnsupportedError(f"weight '{name}' has the layout {tensor.layout}; make it dense before exporting")
    made = tensor.detach().cpu().resolve_conj().resolve_neg()
    try:
        made.untyped_storage().data_ptr()
    except RuntimeError as error:  # of a tensor that torch.func or a tracer has wrapped
        raise UnsupportedError(
            f"constant '{name}' has no data: it was made while the model was traced, and the exported program kept it; "
            "see whether the exported program runs by itself (program.module())"
        ) from error
    return made


def _is_parameter(tensor: torch.Tensor) -> bool:
    import torch

    return isinstance(tensor, torch.nn.Parameter)


def weight_ref(name: str, tensor: torch.Tensor, is_constant: bool, is_parameter: bool) -> WeightRef:
    storage = tensor.untyped_storage()
    return WeightRef(
        name=name,
        is_constant=is_constant,
        is_parameter=is_parameter,
        dtype=str(tensor.dtype).removeprefix("torch."),
        sizes=list(tensor.size()),
        strides=list(tensor.stride()),
        storage_offset=tensor.storage_offset(),
        storage=storage.data_ptr(),
        storage_bytes=storage.nbytes(),
    )
