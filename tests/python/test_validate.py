"""The report of operators that cannot be converted, and the table that torch decomposes by."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from ingot._validate import validate_program
from ingot.decompositions import PRESERVED_OPS, get_decomp_table

HERE = Path(__file__).name


class Inner(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.erfinv(x) + torch.erfinv(x * 2)


class Model(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.blocks = torch.nn.ModuleList([Inner(), Inner()])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for block in self.blocks:
            x = block(x)
        x = torch.nn.functional.huber_loss(x, x * 2, reduction="none")
        return torch.cond(x.sum() > 0, lambda v: torch.lgamma(v), lambda v: v.sin(), (x,))


def without(*names: str) -> Callable[[str], bool]:
    """Supports everything but these."""
    return lambda name: name.split("::")[1].split(".")[0] not in names


def export(module: torch.nn.Module, *args: torch.Tensor) -> torch.export.ExportedProgram:
    return torch.export.export(module, args)


@pytest.fixture(scope="module")
def program() -> torch.export.ExportedProgram:
    return export(Model().eval(), torch.rand(3))


def report(program: Any, supports: Callable[[str], bool], lowerings: set[str] | None = None) -> str:
    with pytest.raises(ValueError) as error:
        validate_program(program, lowerings or set(), supports)
    return str(error.value)


def test_nothing_to_report(program: torch.export.ExportedProgram) -> None:
    validate_program(program, set(), lambda _: True)


def test_everything_in_one_report(program: torch.export.ExportedProgram) -> None:
    text = report(program, without("erfinv", "huber_loss", "lgamma"))
    assert "3 kinds of operator in 6 calls" in text
    decomposed, _, unsupported = text.partition("unsupported ATen ops")
    assert "run_decompositions(get_decomp_table())" in decomposed
    assert "aten.huber_loss.default, once" in decomposed
    assert "register_torch_lowering()" in unsupported
    assert 'aten.erfinv.default, 4 times (for a lowering: "aten::erfinv.default")' in unsupported
    assert "aten.lgamma.default" in unsupported, "in a branch"
    assert "sin" not in text.replace("using", "")


def test_places(program: torch.export.ExportedProgram) -> None:
    text = report(program, without("erfinv", "lgamma"))
    line = Inner.forward.__code__.co_firstlineno + 1
    for index in range(2):
        assert f"{HERE}:{line}, in module 'blocks.{index}' (Inner), 2 times" in text
    assert f"{HERE}:{Model.forward.__code__.co_firstlineno + 4}, in Model" in text, "in a branch"


def test_lowerings_of_the_user(program: torch.export.ExportedProgram) -> None:
    supports = without("erfinv", "lgamma")
    validate_program(program, {"aten::erfinv.default", "aten::lgamma"}, supports)
    assert "erfinv" not in report(program, supports, {"aten::erfinv"})
    assert "erfinv" in report(program, supports, {"aten::erfinv.out"})


def test_only_one_kind() -> None:
    class Loss(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return F.huber_loss(x, x * 2)

    program = export(Loss(), torch.rand(3))
    text = report(program, without("huber_loss"))
    assert "unsupported ATen ops" not in text
    decomposed = program.run_decompositions(get_decomp_table())
    validate_program(decomposed, set(), without("huber_loss"))


def test_preserved_operators_are_never_to_be_decomposed() -> None:
    class Silu(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return F.silu(x)

    program = export(Silu(), torch.rand(3))
    text = report(program, without("silu"))
    assert "unsupported ATen ops" in text
    assert "run_decompositions" not in text


def test_writes_in_place_go_away_by_decomposing() -> None:
    class InPlace(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            y = x + 1
            y.erfinv_()
            return y

    assert "run_decompositions" in report(export(InPlace(), torch.rand(3)), without("erfinv_"))


def test_what_is_no_aten_operator() -> None:
    class Sizes(torch.nn.Module):
        def forward(self, x: torch.Tensor, n: torch.Tensor) -> Any:
            count = n.item()
            torch._check(count >= 2)
            torch._check(count < 100)

            def step(i: torch.Tensor, v: torch.Tensor) -> Any:
                return i + 1, v * 2

            _, looped = torch._higher_order_ops.while_loop(lambda i, v: i < 3, step, (torch.tensor(0), x))
            return torch.zeros(count * 2 + x.shape[0]), torch.max(looped, 0)[0]

    shapes = ({0: torch.export.Dim("n", min=4)}, None)
    program = torch.export.export(Sizes(), (torch.rand(6), torch.tensor(5)), dynamic_shapes=shapes)
    seen: list[str] = []
    validate_program(program, set(), lambda name: not seen.append(name))
    assert "aten::mul.Tensor" in seen, "the body of a loop is looked at"
    assert all(name.startswith("aten::") and name.count(".") == 1 for name in seen)
    assert not any("assert" in name or "constrain_range" in name for name in seen)


def test_other_namespaces_are_not_checked() -> None:
    with torch.library._scoped_library("ingot_validate_test", "DEF") as library:
        library.define("twice(Tensor x) -> Tensor")
        library.impl("twice", lambda x: x * 2, "CompositeExplicitAutograd")
        torch.library.register_fake("ingot_validate_test::twice", torch.empty_like, lib=library)

        class Custom(torch.nn.Module):
            def forward(self, x: torch.Tensor) -> torch.Tensor:
                return torch.ops.ingot_validate_test.twice(x)

        validate_program(export(Custom(), torch.rand(3)), set(), lambda _: False)


def test_many_places_are_cut() -> None:
    class Long(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.blocks = torch.nn.ModuleList([Inner() for _ in range(11)])

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            for block in self.blocks:
                x = block(x)
            return x

    text = report(export(Long(), torch.rand(3)), without("erfinv"))
    assert "22 times" in text
    assert "and at 3 more places" in text


def test_the_table_is_the_callers_own() -> None:
    table = get_decomp_table()
    assert type(table) is dict
    default = torch.export.default_decompositions()
    kept = {getattr(torch.ops.aten, name).default for name in PRESERVED_OPS}
    assert set(default.keys()) - set(table) == {op for op in kept if op in default}
    table.clear()
    assert get_decomp_table()


def test_preserved_operators_stay_whole() -> None:
    class Every(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> Any:
            y = F.silu(x) + F.hardswish(x) + F.hardsigmoid(x) + F.instance_norm(x)
            pads = [
                F.pad(v, pad, mode)
                for mode in ("reflect", "replicate")
                for v, pad in ((x[0], (1, 1)), (x, (1, 1, 1, 1)), (x[None], (1, 1, 1, 1, 1, 1)))
            ]
            return y, F.pixel_shuffle(x, 2), F.scaled_dot_product_attention(x, x, x), pads

    program = export(Every(), torch.rand(1, 4, 3, 5)).run_decompositions(get_decomp_table())
    names = {str(node.target) for node in program.graph.nodes if node.op == "call_function"}
    assert {f"aten.{name}.default" for name in PRESERVED_OPS} <= names
