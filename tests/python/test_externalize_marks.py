"""Externalized modules: what their forward may do, how models are marked and restored, and the form in two steps."""

from __future__ import annotations

import warnings
import weakref
from typing import Any

import pytest
import torch
from externalized import NORM, Block, Holder, Scale, X, evaluate, exporter, registered, run, targets
from ingot.composite_ops import RMSNorm
from ingot.decompositions import get_decomp_table
from ingot.externalize import (
    Body,
    Externalized,
    _patch_model_for_externalization,
    _subexport_and_restore,
    bound_calls,
    externalize,
)
from torch.export import ExportedProgram

# ---- rules of the forward


def test_only_tensors() -> None:
    class Times(torch.nn.Module):
        def forward(self, x: torch.Tensor, factor: int = 3) -> torch.Tensor:
            return x * factor

    with pytest.raises(TypeError, match="Only Tensor inputs are supported for externalized submodules"):
        run(lambda m, x: m.times(x, 2), [Times], X, times=Times())
    with pytest.raises(TypeError, match="Only Tensor inputs are supported for externalized submodules"):
        # Without the mark this runs.
        run(lambda m, x: m.times(x, m.times(2)), [Times], X, times=Times())
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
    program = exporter(X)(model).run_decompositions(get_decomp_table())
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
