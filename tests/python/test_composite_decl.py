"""Declarations of composites as text, and back."""

from __future__ import annotations

import enum
import math
from typing import Any

import pytest
from ingot.composite import CompositeDecl, generate_composite_decl, parse_composite_decl


def declare(attrs: dict[str, Any], **options: Any) -> CompositeDecl:
    return generate_composite_decl(None, "op", ["a"], ["b"], attrs, **options)


def text_of(value: Any) -> str:
    head, tail = (
        '#ingot.composite_declaration<"op" = {input_names = ["a"], op_attrs = {v = ',
        ', version = 1 : si64}, output_names = ["b"]}>',
    )
    text = str(declare({"v": value}))
    assert text.startswith(head)
    assert text.endswith(tail)
    return text.removeprefix(head).removesuffix(tail)


def test_the_whole_text() -> None:
    decl = generate_composite_decl(
        object(), "rms_norm", ["input", "scale"], ("output",), {"eps": 1e-5, "axes": -1}, version=2
    )
    assert str(decl) == (
        '#ingot.composite_declaration<"rms_norm" = {input_names = ["input", "scale"], '
        'op_attrs = {axes = -1 : si64, eps = 1.000000e-05 : f32, version = 2 : si64}, output_names = ["output"]}>'
    )
    assert (decl.name, decl.version) == ("rms_norm", 2)


class Number(enum.IntEnum):
    ONE = 1


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "true"),
        (False, "false"),
        (3, "3 : si64"),
        (-(2**63), f"{-(2**63)} : si64"),
        (Number.ONE, "1 : si64"),
        (0.0, "0.000000e+00 : f32"),
        (0.1, "1.000000e-01 : f32"),
        (-1.5, "-1.500000e+00 : f32"),
        (1 / 3, "3.333333333333333e-01 : f32"),
        (1e300, "1.000000e+300 : f64"),
        (math.inf, "0x7F800000 : f32"),
        ("plain", '"plain"'),
        ('a"b\\c\n', '"a\\22b\\\\c\\0A"'),
        ("é", '"\\C3\\A9"'),
        ([], "[]"),
        ((1, 2), "[1 : si64, 2 : si64]"),
        ([True, 1], "[true, 1 : si64]"),
        ([[1], ["x", []]], '[[1 : si64], ["x", []]]'),
        ({}, "{}"),
        ({"b": 1, "a": {"c": [0.5]}}, "{a = {c = [5.000000e-01 : f32]}, b = 1 : si64}"),
        ({"two words": 1}, '{"two words" = 1 : si64}'),
    ],
)
def test_values(value: Any, text: str) -> None:
    assert text_of(value) == text
    plain = list(value) if isinstance(value, tuple) else value
    name, fields = parse_composite_decl(str(declare({"v": value})))
    assert name == "op"
    assert fields == {"input_names": ["a"], "output_names": ["b"], "op_attrs": {"v": plain, "version": 1}}
    assert type(fields["op_attrs"]["v"]) is type(plain) or isinstance(plain, enum.Enum)


def test_nan() -> None:
    _, fields = parse_composite_decl(str(declare({"v": math.nan})))
    assert math.isnan(fields["op_attrs"]["v"])


@pytest.mark.parametrize(
    "value", [None, object(), {1, 2}, [None], [[None]], {"a": (1, b"x")}, {"a": {"b": None}}, {1: 2}]
)
def test_values_that_cannot_be_written(value: Any) -> None:
    with pytest.raises(TypeError, match="Unsupported value"):
        declare({"v": value})


def test_integers_that_do_not_fit() -> None:
    with pytest.raises(ValueError, match="64 bits"):
        declare({"v": 2**63})


def test_the_callers_objects_are_left_alone() -> None:
    attrs = {"axes": [1, 2]}
    decl = declare(attrs)
    assert attrs == {"axes": [1, 2]}
    before = str(decl)
    attrs["axes"].append(3)
    assert str(decl) == before


def test_the_version_is_the_argument() -> None:
    assert declare({"version": 7}, version=3).version == 3
    assert declare({}).version == 1


def test_names_are_strings() -> None:
    for names in ((1, ["a"], ["b"]), ("op", [1], ["b"]), ("op", ["a"], [None])):
        with pytest.raises(AssertionError, match="strings"):
            generate_composite_decl(None, *names, {})


def test_other_spellings_are_read() -> None:
    text = '#coreai.composite_declaration<"x"={op_attrs={u,n=3:i64,m = -2,f = 1.5,g=2 : f32},input_names=["\\n\\t"]}>'
    assert parse_composite_decl(text) == (
        "x",
        {"op_attrs": {"u": True, "n": 3, "m": -2, "f": 1.5, "g": 2.0}, "input_names": ["\n\t"]},
    )


@pytest.mark.parametrize("text", ["", "#ingot.other<>", '#ingot.composite_declaration<"x" = {a = [1}>', "x" * 9])
def test_other_text_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="composite declaration"):
        parse_composite_decl(text)


def test_text_after_the_end_is_refused() -> None:
    with pytest.raises(ValueError, match="the end"):
        parse_composite_decl(str(declare({})) + " more")
