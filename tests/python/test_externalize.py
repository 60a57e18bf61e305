"""Externalized modules: which calls are kept whole, and the body that each gets."""

from __future__ import annotations

import gc
import warnings
import weakref
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from bodies import evaluate
from ingot.composite_ops import RMSNorm, RMSNormImpl
from ingot.decompositions import get_decomp_table
from ingot.externalize import (
    Body,
    Externalized,
    ExternalizeSpec,
    _patch_model_for_externalization,
    _subexport_and_restore,
    bound_calls,
    externalize,
)
from torch.export import Dim, ExportedProgram

NORM = ExternalizeSpec(RMSNormImpl, "rms_norm", ["axes", "eps"])


class Scale(torch.nn.Module):
    """Owns a parameter, a buffer and a buffer that is not saved."""

    def __init__(self, width: int = 4, factor: float = 2.0) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.randn(width))
        self.register_buffer("shift", torch.randn(width))
        self.register_buffer("hidden", torch.randn(width), persistent=False)
        self.factor = factor
        self.missing = None

    def forward(
        self, x: torch.Tensor, extra: torch.Tensor | None = None, last: torch.Tensor | None = None
    ) -> torch.Tensor:
        y = F.silu(x * self.weight + self.shift) * self.factor + self.hidden
        y = y if extra is None else y + extra
        return y if last is None else y * last


class Block(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm = RMSNorm(4)
        self.linear = torch.nn.Linear(4, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.linear(self.norm(x))


class Holder(torch.nn.Module):
    """A model with the given parts and the given forward."""

    def __init__(self, run: Callable[..., Any], **parts: torch.nn.Module) -> None:
        super().__init__()
        self.run = run
        for name, part in parts.items():
            self.add_module(name, part)

    def forward(self, *args: torch.Tensor) -> Any:
        return self.run(self, *args)


def exporter(*args: torch.Tensor, shapes: Any = None, strict: bool = False) -> Callable[..., ExportedProgram]:
    def export(model: torch.nn.Module) -> ExportedProgram:
        dynamic = None if shapes is None else (shapes,)
        exported = torch.export.export(model, args, dynamic_shapes=dynamic, strict=strict)
        return exported.run_decompositions(get_decomp_table())

    return export


def run(run_model: Callable[..., Any], specs: list[Any], *args: torch.Tensor, shapes: Any = None, **parts: Any) -> Any:
    model = Holder(run_model, **parts).eval()
    result = externalize(model, exporter(*args, shapes=shapes), specs)
    with torch.no_grad():
        torch.testing.assert_close(evaluate(result.program, result.bodies, *args), model(*args))
    return result


def targets(program: ExportedProgram) -> list[str]:
    return [str(node.target) for node in program.graph.nodes if node.op == "call_function"]


def ext_nodes(program: ExportedProgram) -> list[torch.fx.Node]:
    return [node for node in program.graph.nodes if str(node.target).startswith("coreai_torch_ext.")]


def registered() -> list[str]:
    gc.collect()
    return [name for name in torch._C._dispatch_get_all_op_names() if name.startswith("coreai_torch_ext::")]


X = torch.randn(3, 4, generator=torch.Generator().manual_seed(0))


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


# ---- rules of the forward


def test_only_tensors() -> None:
    class Times(torch.nn.Module):
        def forward(self, x: torch.Tensor, factor: int = 3) -> torch.Tensor:
            return x * factor

    with pytest.raises(TypeError, match="Only Tensor inputs are supported for externalized submodules"):
        run(lambda m, x: m.times(x, 2), [Times], X, times=Times())
    assert run(lambda m, x: m.times(x), [Times], X, times=Times()).bodies[0].input_names == ("x",)


def test_annotations_are_needed() -> None:
    class Bare(torch.nn.Module):
        def forward(self, x):
            return x + 1

    model = Holder(lambda m, x: m.norm(m.bare(x)), norm=RMSNorm(4), bare=Bare())
    with pytest.raises(ValueError, match=r"'bare' \(Bare\).*annotation"):
        externalize(model, exporter(X), [NORM, Bare])
    assert_unmarked(model)


def test_keyword_only_tensors_are_refused() -> None:
    class Keyword(torch.nn.Module):
        def forward(self, x: torch.Tensor, *, y: torch.Tensor) -> torch.Tensor:
            return x + y

    with pytest.raises(NotImplementedError, match="keyword-only"):
        externalize(Holder(lambda m, x: m.k(x, y=x), k=Keyword()), exporter(X), [Keyword])


class Counter(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("count", torch.zeros(4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.count.add_(1)
        return x + self.count


class Writer(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x.add_(1)
        return x * 2


class Returner(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x


@pytest.mark.parametrize(
    ("part", "message"),
    [(Counter, "buffer 'count'"), (Writer, "argument 'x'"), (Returner, "returns its argument")],
)
def test_modules_that_do_not_only_compute(part: type, message: str) -> None:
    model = Holder(lambda m, x: m.part(x + 0) * 1, part=part())
    with pytest.raises(RuntimeError, match=message):
        externalize(model, exporter(X), [part])
    assert_unmarked(model)
    if part is Counter:
        assert torch.equal(model.part.count, torch.zeros(4))


def test_views_of_arguments_are_fine() -> None:
    class View(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x.transpose(0, 1)

    run(lambda m, x: m.view(x) + 1, [View], X, view=View())


def test_hooks_run_once() -> None:
    part = Scale()
    part.register_forward_hook(lambda module, args, result: result * 10)
    run(lambda m, x: m.part(x), [Scale], X, part=part)
    assert len(part._forward_hooks) == 1


# ---- marking and restoring


def assert_unmarked(model: torch.nn.Module) -> None:
    for module in model.modules():
        assert "forward" not in module.__dict__
    assert registered() == []


def test_unused_modules_are_named() -> None:
    class Outer(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = Scale()

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x + 1

    model = Holder(lambda m, x: m.outer(x) * 2, outer=Outer(), idle=Scale()).eval()
    with pytest.warns(UserWarning) as caught:
        result = externalize(model, exporter(X), [Outer, Scale])
    texts = [str(warning.message) for warning in caught if warning.category is UserWarning]
    assert any("No call sites found" in text and "'idle'" in text for text in texts)
    assert any("skipping unused submodule" in text and "'outer.inner'" in text for text in texts)
    assert [body.module_path for body in result.bodies] == ["outer"]


def test_the_model_is_restored_and_the_operators_are_gone() -> None:
    model = Holder(lambda m, x: m.a(x), a=Block()).eval()
    before = {name: id(value) for name, value in model.state_dict(keep_vars=True).items()}
    result = externalize(model, exporter(X), [Block, NORM])
    assert len(registered()) == 4, "one for each module and one for each call"
    assert {name: id(value) for name, value in model.state_dict(keep_vars=True).items()} == before
    del result
    assert_unmarked(model)


def test_a_failing_export() -> None:
    model = Holder(lambda m, x: m.a(x), a=Block())

    def fail(_: torch.nn.Module) -> ExportedProgram:
        raise KeyError("nothing")

    with pytest.raises(RuntimeError, match=r"Internal error: re-export.*bug") as error:
        externalize(model, fail, [Block])
    assert isinstance(error.value.__cause__, KeyError)
    del error
    assert_unmarked(model)


def test_a_forward_of_the_instance_comes_back() -> None:
    part = Scale()

    def special(x: torch.Tensor) -> torch.Tensor:
        return x * 100

    part.forward = special
    run(lambda m, x: m.part(x), [Scale], X, part=part)
    assert part.forward is special


def test_marking_twice_is_refused() -> None:
    model = Holder(lambda m, x: m.a(x), a=Scale())
    _patch_model_for_externalization(model, [Scale])
    with pytest.raises(RuntimeError, match="already"):
        _patch_model_for_externalization(model, [Scale])
    assert "forward" in model.a.__dict__, "the first marks stay"


def test_a_marked_model_that_is_dropped_takes_its_operators_along() -> None:
    model = Holder(lambda m, x: m.a(x), a=Scale())
    _patch_model_for_externalization(model, [Scale])
    watched = weakref.ref(model.a)
    assert len(registered()) == 1
    del model
    assert registered() == []
    assert watched() is None


def test_marked_modules_run_and_learn() -> None:
    model = Holder(lambda m, x: m.a(x).square(), a=Scale())
    x = X.clone().requires_grad_()
    model(x).sum().backward()
    expected = x.grad.clone(), model.a.weight.grad.clone()
    x.grad = model.a.weight.grad = None
    _patch_model_for_externalization(model, [Scale])
    model(x).sum().backward()
    torch.testing.assert_close((x.grad, model.a.weight.grad), expected)


# ---- two steps


def test_two_steps() -> None:
    model = Holder(lambda m, x: m.b(m.a(x)), a=Block(), b=Block()).eval()
    _patch_model_for_externalization(model, [Block, NORM])
    program = exporter(X)(model)
    steps: list[Any] = []
    bodies = _subexport_and_restore(model, program, progress_bar=lambda done, name: steps.append((done, name)))
    assert [name for _, name in steps] == [body.symbol for body in bodies]
    assert all(isinstance(body, Body) for body in bodies)
    assert "forward" not in model.a.__dict__
    assert _subexport_and_restore(model, program) == []
    before = targets(program)
    with bound_calls(program, bodies) as bound:
        assert targets(bound) != before
        torch.testing.assert_close(evaluate(bound, bodies, X), model(X))
    assert targets(program) == before


def test_two_steps_restore_when_they_fail() -> None:
    model = Holder(lambda m, x: m.part(x + 0) * 1, part=Writer())
    _patch_model_for_externalization(model, [Writer])
    program = exporter(X)(model)
    with pytest.raises(RuntimeError, match="argument 'x'"):
        _subexport_and_restore(model, program)
    assert "forward" not in model.part.__dict__
    assert _subexport_and_restore(model, program) == []


def test_no_marks_no_bodies() -> None:
    model = Block().eval()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert _subexport_and_restore(model, None) == []  # type: ignore[arg-type]


def test_strict_exports() -> None:
    model = Holder(lambda m, x: m.a(x), a=Block()).eval()
    result = externalize(model, exporter(X, strict=True), [Block, NORM])
    assert isinstance(result, Externalized)
    assert len(result.bodies) == 2
    torch.testing.assert_close(evaluate(result.program, result.bodies, X), model(X))


def test_bodies_and_programs_can_be_serialized() -> None:
    from ingot._serialize import custom_schemas, serialize

    result = run(lambda m, x: m.a(x), [Block, NORM], X, a=Block())
    for program in (result.program, *(body.program for body in result.bodies)):
        assert serialize(program).json
    (schema,) = custom_schemas(result.program)
    assert schema.startswith(result.bodies[-1].op_name)
