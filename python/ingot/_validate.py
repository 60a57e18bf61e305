"""Which operators of a program cannot be converted: all of them at once, with their places in the model."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import torch

from ingot.decompositions import preserved_overloads

if TYPE_CHECKING:
    from torch.export import ExportedProgram

_MAX_PLACES = 8
"""Places listed for one operator; a model of a hundred layers has the same line a hundred times."""

_FRAME = re.compile(r'File "([^"]+)", line (\d+)')

_ASSERTIONS = frozenset(
    {
        "aten::_assert_async.default",
        "aten::_assert_async.msg",
        "aten::_assert_scalar.default",
        "aten::_assert_tensor_metadata.default",
        "aten::sym_constrain_range.default",
        "aten::sym_constrain_range_for_size.default",
    }
)
"""They check and compute nothing; a program means the same without them."""


@dataclass
class _Offender:
    """An operator that cannot be converted, and where it is used."""

    target: Any
    places: Counter[str] = field(default_factory=Counter)

    def describe(self) -> Iterator[str]:
        count = self.places.total()
        times = "once" if count == 1 else f"{count} times"
        yield f'  {self.target}, {times} (for a lowering: "{qualified_name(self.target)}")'
        for place, repeats in self.places.most_common(_MAX_PLACES):
            yield f"      at {place}" + (f", {repeats} times" if repeats > 1 else "")
        if len(self.places) > _MAX_PLACES:
            yield f"      and at {len(self.places) - _MAX_PLACES} more places"


def qualified_name(target: Any) -> str:
    """`namespace::op.overload` of a torch operator, with `.default` written out."""
    return f"{target.namespace}::{target._schema.name.split('::')[-1]}.{target._overloadname}"


def validate_program(program: ExportedProgram, user_lowerings: set[str], supports: Callable[[str], bool]) -> None:
    """Raises a ValueError that lists every ATen operator nothing can lower, those of sub-graphs too.

    `supports` is asked with names such as "aten::add.Tensor" or "aten::relu.default". `user_lowerings` holds such
    names as well; one without an overload stands for `.default`. Operators of other namespaces are not looked at:
    their lowerings may still come.
    """
    known = {name if "." in name.split("::")[-1] else f"{name}.default" for name in user_lowerings}
    offenders: dict[Any, _Offender] = {}
    for node, outer in _calls(program.graph_module):
        name = qualified_name(node.target)
        if name in _ASSERTIONS or name in known or supports(name):
            continue
        offenders.setdefault(node.target, _Offender(node.target)).places[_place(node, outer)] += 1
    if offenders:
        raise ValueError(_report(sorted(offenders.values(), key=lambda offender: str(offender.target))))


def _calls(
    module: torch.fx.GraphModule, outer: torch.fx.Node | None = None
) -> Iterator[tuple[torch.fx.Node, torch.fx.Node | None]]:
    """The calls of ATen operators in the graph and in the bodies of cond, while_loop, scan, map and their like.

    With a call in a body comes the node that the body belongs to.
    """
    for node in module.graph.nodes:
        if node.op == "get_attr":
            body = attrgetter(node.target)(module)
            if isinstance(body, torch.fx.GraphModule):
                yield from _calls(body, next(iter(node.users), node))
        # Higher-order operators, arithmetic on sizes and getitem are no overloads.
        elif isinstance(node.target, torch._ops.OpOverload) and node.target.namespace == "aten":
            yield node, outer


def _place(node: torch.fx.Node, outer: torch.fx.Node | None) -> str:
    """The line of the user's Python and the module that a node comes from; in a body torch may know neither."""
    nodes = [node] if outer is None else [node, outer]
    lines = (_line(candidate.meta.get("stack_trace") or "") for candidate in nodes)
    line = next(filter(None, lines), f"node '{node.name}'")
    stack = next(filter(None, (candidate.meta.get("nn_module_stack") for candidate in nodes)), {})
    if not stack:
        return line
    path, kind = list(stack.values())[-1][:2]
    # Strict exports put a module of their own around the model.
    path = path.removeprefix("_export_root").removeprefix(".")
    class_name = (kind if isinstance(kind, str) else kind.__name__).rsplit(".", 1)[-1]
    return f"{line}, in module '{path}' ({class_name})" if path else f"{line}, in {class_name}"


def _line(trace: str) -> str:
    """The innermost line that is in a file."""
    frames = [(file, line) for file, line in _FRAME.findall(trace) if not file.startswith("<")]
    return ":".join(frames[-1]) if frames else ""


def _report(offenders: list[_Offender]) -> str:
    composite, unsupported = [], []
    table = torch.export.default_decompositions()
    preserved = preserved_overloads()
    for offender in offenders:
        # Decomposing makes in-place operators functional, whether or not they are in the table.
        can_decompose = offender.target in table or offender.target._schema.is_mutable
        (composite if can_decompose and offender.target not in preserved else unsupported).append(offender)
    calls = sum(offender.places.total() for offender in offenders)
    lines = [f"the program cannot be converted: {len(offenders)} kinds of operator in {calls} calls have no lowering"]
    if composite:
        lines.append(
            "non-decomposed ops (take them apart with "
            "exported_program.run_decompositions(get_decomp_table()) before adding the program):"
        )
        lines += [line for offender in composite for line in offender.describe()]
    if unsupported:
        lines.append("unsupported ATen ops (write a lowering for each with register_torch_lowering()):")
        lines += [line for offender in unsupported for line in offender.describe()]
    return "\n".join(lines)
