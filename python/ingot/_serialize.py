"""An ExportedProgram as the importer takes it: torch's JSON schema, and weights by address."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from ingot._core import WeightRef
from ingot.errors import UnsupportedError

if TYPE_CHECKING:
    import torch
    from torch.export import ExportedProgram


class SerializedProgram(NamedTuple):
    json: bytes
    weights: list[WeightRef]
    keep_alive: list[object]
    """What the weights point into; hold it until the conversion is done."""


def serialize(program: ExportedProgram) -> SerializedProgram:
    """The same JSON that torch.export.save writes, without a file and without copying weights."""
    weights: list[WeightRef] = []
    keep_alive: list[object] = [program]
    for name, tensor, is_constant in _tensors(program):
        plain = _plain(name, tensor)
        keep_alive.append(plain)
        weights.append(weight_ref(name, plain, is_constant, _is_parameter(tensor)))
    return SerializedProgram(_written(program), weights, keep_alive)


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
        calls = _without_return_types(program.module_call_graph)
        graph_serializer = serde.GraphModuleSerializer(program.graph_signature, calls)
        graph_module = graph_serializer.serialize(program.graph_module)
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


def _without_return_types(calls: list[Any]) -> list[Any]:
    """Results such as torch.return_types.topk, which torch cannot write down, become plain tuples."""
    from torch.utils import _pytree as pytree

    def plain(spec: Any) -> Any:
        if spec.is_leaf():
            return spec
        children = [plain(child) for child in spec.children()]
        if spec.type.__module__ == "torch.return_types":
            return pytree.TreeSpec(tuple, None, children)
        same = all(new is old for new, old in zip(children, spec.children(), strict=True))
        return spec if same else pytree.TreeSpec(spec.type, spec.context, children)

    def replaced(call: Any) -> Any:
        if call.signature is None:
            return call
        signature = call.signature
        specs = {"in_spec": plain(signature.in_spec), "out_spec": plain(signature.out_spec)}
        return dataclasses.replace(call, signature=dataclasses.replace(signature, **specs))

    return [replaced(call) for call in calls]


def custom_schemas(program: ExportedProgram) -> list[str]:
    """The schemas of operators that are not PyTorch's own: what they take, give and write to."""
    import torch

    schemas: dict[str, None] = {}
    for module in program.graph_module.modules():
        for node in module.graph.nodes if isinstance(module, torch.fx.GraphModule) else ():
            if isinstance(node.target, torch._ops.OpOverload) and node.target.namespace not in ("aten", "prims"):
                schemas[str(node.target._schema)] = None
    return list(schemas)


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
    return tensor.detach().cpu().resolve_conj().resolve_neg()


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
