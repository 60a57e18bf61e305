"""Externalized modules: which calls are kept whole, and the body that each gets."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import torch.nn.functional as F
from externalized import NORM, Block, Holder, Scale, X, evaluate, exporter, ext_nodes, run, targets
from ingot.composite_ops import RMSNorm
from ingot.externalize import ExternalizeSpec, _patch_model_for_externalization, externalize
from torch.export import Dim

# ---- the spec


def test_spec_rules() -> None:
    with pytest.raises(ValueError, match="composite_op_name"):
        ExternalizeSpec(Scale, composite_attrs=["factor"])
    with pytest.raises(TypeError, match="target_class"):
        ExternalizeSpec(Scale())  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="composite_attrs"):
        ExternalizeSpec(Scale, "scale", "factor")
    spec = ExternalizeSpec(Scale, "scale")
    assert (spec.target_class, spec.composite_op_name, spec.composite_attrs) == (Scale, "scale", None)
    with pytest.raises(TypeError, match="target_class"):
        _patch_model_for_externalization(Holder(lambda m, x: x), ["Scale"])  # type: ignore[list-item]


# ---- what comes out


def test_body_of_a_module_with_weights() -> None:
    spec = ExternalizeSpec(Scale, "scale", ["factor", "missing"])
    result = run(lambda m, x: m.inner(x) + 1, [spec], X, inner=Scale())
    (body,) = result.bodies
    assert body.symbol.startswith("inner_")
    assert len(body.symbol) == len("inner_") + 8
    assert body.op_name == f"coreai_torch_ext::{body.symbol}"
    assert (body.module_path, body.weight_prefix) == ("inner", "inner.")
    assert body.input_names == ("weight", "shift", "hidden", "x")
    assert body.output_names == ("output",)
    assert body.attrs == {"factor": 2.0}
    assert body.spec is spec
    assert "op_attrs = {factor = 2.000000e+00 : f32, version = 1 : si64}" in str(body.declaration)
    assert targets(result.program)[0] == f"{body.op_name.replace('::', '.')}.default"
    assert "aten.silu.default" in targets(body.program), "the table of the model's export holds for bodies too"
    assert {f"{body.weight_prefix}{name}" for name in body.program.state_dict} <= set(result.program.state_dict)


def test_paths_with_dots_numbers_and_odd_names() -> None:
    parts = torch.nn.Sequential(torch.nn.Sequential(torch.nn.Linear(4, 4)))
    result = run(lambda m, x: m.parts(x), [torch.nn.Linear], X, parts=parts)
    (body,) = result.bodies
    assert body.module_path == "parts.0.0"
    assert body.symbol.startswith("parts.0.0_")
    assert body.op_name == f"coreai_torch_ext::{body.symbol.replace('.', '_')}"
    assert body.spec is None
    assert body.declaration is None

    model = torch.nn.Sequential(torch.nn.Linear(4, 4))
    result = externalize(model, exporter(X), [torch.nn.Linear])
    assert result.bodies[0].symbol.startswith("0_")


def test_subclasses_match_and_the_first_spec_wins() -> None:
    class Sub(Scale):
        pass

    first, second = ExternalizeSpec(Sub, "sub"), ExternalizeSpec(Scale, "scale")
    result = run(lambda m, x: m.b(m.a(x)), [first, second], X, a=Scale(), b=Sub())
    assert [(body.module_path, body.spec) for body in result.bodies] == [("a", second), ("b", first)]


def test_a_spec_that_never_wins_is_named() -> None:
    class Sub(Scale):
        pass

    with pytest.warns(UserWarning, match="Sub"):
        result = run(lambda m, x: m.a(x), [ExternalizeSpec(Scale, "scale"), Sub], X, a=Sub())
    assert result.bodies[0].spec.composite_op_name == "scale"


def test_the_root_never_matches() -> None:
    model = Scale().eval()
    with pytest.warns(UserWarning, match="Scale"):
        result = externalize(model, exporter(X), [Scale])
    assert result.bodies == ()


def test_one_instance_called_several_times() -> None:
    y = torch.randn(2, 4)
    result = run(lambda m, x, y: (m.inner(m.inner(x)), m.inner(y)), [Scale], X, y, inner=Scale())
    bodies = result.bodies
    assert len({body.op_name for body in bodies}) == len({body.symbol for body in bodies}) == 3
    assert len({body.marked_op for body in bodies}) == 1
    assert bodies[0].program is bodies[1].program, "equal calls are exported once"
    assert bodies[2].program is not bodies[0].program
    assert [str(node.target).split(".")[1] for node in ext_nodes(result.program)] == [
        body.op_name.split("::")[1] for body in bodies
    ]


def test_several_instances_share_a_graph_but_no_weights() -> None:
    result = run(lambda m, x: m.c(m.b(m.a(x))), [Scale], X, a=Scale(), b=Scale(), c=Scale(factor=3.0))
    a, b, c = result.bodies
    assert a.program is not b.program
    assert a.program.graph_module is b.program.graph_module
    assert not torch.equal(a.program.state_dict["weight"], b.program.state_dict["weight"])
    assert not torch.equal(a.program.constants["hidden"], b.program.constants["hidden"])
    assert c.program.graph_module is not a.program.graph_module, "another attribute gives another body"


def test_modules_that_cannot_be_compared_are_exported_each() -> None:
    a, b = Scale(), Scale()
    a.note, b.note = object(), object()
    result = run(lambda m, x: m.b(m.a(x)), [Scale], X, a=a, b=b)
    assert result.bodies[0].program.graph_module is not result.bodies[1].program.graph_module


def test_optional_tensors() -> None:
    def forward(m: Any, x: torch.Tensor) -> torch.Tensor:
        return m.inner(m.inner(m.inner(m.inner(x), x), last=x), last=x, extra=x)

    result = run(forward, [Scale], X, inner=Scale())
    assert [body.input_names[3:] for body in result.bodies] == [
        ("x",),
        ("x", "extra"),
        ("x", "last"),
        ("x", "extra", "last"),
    ]


def test_an_explicit_none_is_omitted() -> None:
    result = run(lambda m, x: m.inner(x, None, x), [Scale], X, inner=Scale())
    assert result.bodies[0].input_names[3:] == ("x", "last")


def test_several_results() -> None:
    class Two(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            return x + 1, x.sum(-1)

    result = run(lambda m, x: m.inner(x), [Two], X, inner=Two())
    assert result.bodies[0].output_names == ("output_0", "output_1")


def test_parameter_names_that_python_has_too() -> None:
    result = run(lambda m, x: m.norm(x), [NORM], X, norm=RMSNorm(4))
    (body,) = result.bodies
    assert body.input_names == ("input", "scale")
    assert str(body.declaration) == (
        '#ingot.composite_declaration<"rms_norm" = {input_names = ["input", "scale"], op_attrs = '
        '{axes = -1 : si64, eps = 1.000000e-05 : f32, version = 1 : si64}, output_names = ["output"]}>'
    )


def test_attributes_of_each_instance() -> None:
    result = run(lambda m, x: m.b(m.a(x)), [NORM], X, a=RMSNorm(4, eps=1e-3), b=RMSNorm(4, eps=1e-6))
    assert [body.attrs["eps"] for body in result.bodies] == [1e-3, 1e-6]


def test_a_missing_attribute() -> None:
    with pytest.raises(AttributeError, match="nothing"):
        run(lambda m, x: m.inner(x), [ExternalizeSpec(Scale, "scale", ["nothing"])], X, inner=Scale())


# ---- nesting


def test_nested_modules() -> None:
    result = run(lambda m, x: m.b(m.a(x)), [Block, NORM], X, a=Block(), b=Block())
    assert [body.module_path for body in result.bodies] == ["a.norm.rms_norm", "a", "b.norm.rms_norm", "b"]
    inner, outer = result.bodies[:2]
    assert f"{inner.op_name.replace('::', '.')}.default" in targets(outer.program)
    assert inner.caller is outer.program
    assert outer.caller is None
    assert outer.input_names == ("norm.weight", "linear.weight", "linear.bias", "x")
    assert [node.name for node in ext_nodes(outer.program)] == [inner.node_name]


def test_nested_modules_of_every_call_of_their_parent() -> None:
    y = torch.randn(2, 4)
    result = run(lambda m, x, y: (m.a(x), m.a(y)), [Block, NORM], X, y, a=Block())
    assert [body.module_path for body in result.bodies] == ["a.norm.rms_norm", "a", "a.norm.rms_norm", "a"]
    inner = [body for body in result.bodies if body.caller is not None]
    outer = [body for body in result.bodies if body.caller is None]
    assert [body.caller for body in inner] == [body.program for body in outer]
    shapes = [node.meta["val"].shape[0] for body in outer for node in ext_nodes(body.program)]
    assert shapes == [3, 2]


def test_a_part_that_is_used_inside_and_outside() -> None:
    shared = Scale()

    class Outer(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = shared

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.inner(x) * 2

    result = run(lambda m, x: m.same(m.outer(x)), [Outer, Scale], X, outer=Outer(), same=shared)
    assert [(body.module_path, body.caller is None) for body in result.bodies] == [
        ("outer.inner", False),
        ("outer", True),
        ("outer.inner", True),
    ]


def test_calls_in_branches() -> None:
    def forward(m: Any, x: torch.Tensor) -> torch.Tensor:
        return torch.cond(x.sum() > 0, lambda v: m.inner(v), lambda v: v - 1, (x,))

    class Shrink(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x - torch.tanh(x)

    model = Holder(forward, inner=Shrink()).eval()
    result = externalize(model, exporter(X), [Shrink])
    (body,) = result.bodies
    assert body.graph_path
    assert body.graph_path in dict(result.program.graph_module.named_modules())
    torch.testing.assert_close(result.program.module()(X), model(X))


# ---- dynamic shapes


def test_dynamic_sizes_stay_dynamic_and_shared() -> None:
    n = Dim("n", min=2, max=50)
    y = torch.randn(3, 4)
    result = run(lambda m, x, y: m.inner(x, y), [Scale], X, y, shapes=({0: n}, {0: n}), inner=Scale())
    (body,) = result.bodies
    first, second = [node.meta["val"] for node in body.program.graph.nodes if node.op == "placeholder"][-2:]
    assert isinstance(first.shape[0], torch.SymInt)
    assert str(first.shape[0]) == str(second.shape[0])
    (bounds,) = body.program.range_constraints.values()
    assert (bounds.lower, bounds.upper) == (2, 50)
    z = torch.randn(7, 4)
    weights = {**body.program.state_dict, **body.program.constants}
    expected = F.silu(z * weights["weight"] + weights["shift"]) * 2 + weights["hidden"] + z
    torch.testing.assert_close(evaluate(body.program, (), z, z), expected)


def test_sizes_that_depend_on_others() -> None:
    class Cat(torch.nn.Module):
        def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            return torch.cat((x, y)) + 1

    def forward(m: Any, x: torch.Tensor) -> torch.Tensor:
        return m.cat(x, torch.cat((x, x, x[:1]))) * m.cat(torch.cat((x, x, x[:1])), x)

    n = Dim("n", min=2, max=50)
    result = run(forward, [Cat], X, shapes=({0: n},), cat=Cat())
    program = result.bodies[0].program
    sizes = [node.meta["val"].shape[0] for node in program.graph.nodes if node.op == "placeholder"]
    assert sizes[1].node.expr == 2 * sizes[0].node.expr + 1
    z = torch.randn(5, 4)
    assert evaluate(program, (), z, torch.randn(11, 4)).shape == (16, 4)


class Cosine(torch.nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor | None = None) -> torch.Tensor:
        return x.cos() if y is None else x.cos() + y.flatten()


def test_sizes_that_no_dim_can_name() -> None:
    n, m = Dim("n", min=2, max=50), Dim("m", min=2, max=50)
    # The body relates the product of two sizes with those sizes.
    result = run(lambda m, x: m.part(x.flatten(), x), [Cosine], X, shapes=({0: n, 1: m},), part=Cosine())
    program = result.bodies[0].program
    values = [node.meta["val"] for node in program.graph.nodes if node.op == "placeholder"]
    assert all(isinstance(size, torch.SymInt) for value in values for size in value.shape)
    assert evaluate(program, (), torch.randn(30), torch.randn(5, 6)).shape == (30,)


def test_sizes_that_only_data_tells() -> None:
    result = run(lambda m, x: m.part(x[x > 0]), [Cosine], X, part=Cosine())
    (node,) = [node for node in result.bodies[0].program.graph.nodes if node.op == "placeholder"]
    assert isinstance(node.meta["val"].shape[0], torch.SymInt)


def test_equal_dynamic_calls_in_different_programs_are_exported_once() -> None:
    n = Dim("n", min=2, max=50)
    result = run(lambda m, x: m.b(m.a(x)), [Block, NORM], X, shapes=({0: n},), a=Block(), b=Block())
    norms = [body for body in result.bodies if body.caller is not None]
    assert norms[0].program is norms[1].program
