"""The result types that are found for an op are those of the example in its definition."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import ingot
import pytest
from ingot import _core
from ingot.ir import DYNAMIC, ElementType, ScalarType, TensorType, type_of_tuple, type_to_tuple

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "docs"))
import ops_module  # noqa: E402

# Ops whose results hold more than their operands tell.
NOT_FOUND = {
    *("deform_columns", "embedding_bag", "fft", "overlap_add", "random_multinomial", "random_permutation", "recurrent"),
    *("cholesky", "eig", "eigh", "householder", "inverse", "ldl", "ldl_solve", "lstsq", "lu", "lu_det", "qr", "svd"),
    *("lu_permutation", "lu_solve", "reflect", "triangular_solve"),
}
GROUPS = {
    "layer_norm": [1, 1, 1],
    "group_norm": [1, 1, 1],
    "matmul": [1, 1, 0, 0],
    "conv": [1, 1, 0, 0],
    "recurrent": [1, 1, 1, 0, 0, 0, 0],
}
ROWS = {row.mnemonic: row for row in ops_module.rows()}


def parse_type(text: str) -> Any:
    text = text.strip()
    if not text.startswith("tensor<"):
        return ScalarType(ElementType.of(text))
    inner = text.removeprefix("tensor<").removesuffix(">")
    listed = re.match(r"(?:(?:\d+|\?)x)*", inner).group()
    sizes, element = listed.split("x")[:-1], inner[len(listed) :]
    return TensorType([DYNAMIC if size == "?" else int(size) for size in sizes], element)


def split(text: str) -> list[str]:
    """At commas outside brackets."""
    return [part.strip() for part in re.split(r",(?![^<(]*[>)])", text.strip("() ")) if part.strip()]


def example(mnemonic: str) -> tuple[str, list[Any], list[Any]]:
    """Attributes, operand types and result types."""
    text = " ".join(ROWS[mnemonic].description.split())
    found = re.search(rf"ingot\.{mnemonic}\b(.*?) : (\([^-]*\)) -> (\(.*?\)|\S+)", text)
    assert found, text
    attributes = re.search(r"\{.*\}", found.group(1))
    attribute_text = attributes.group() if attributes else ""
    if mnemonic == "dim":  # its attribute has a place of its own
        attribute_text = "{axis = 0 : i64}"
    return (
        attribute_text,
        [parse_type(part) for part in split(found.group(2))],
        [parse_type(part) for part in split(found.group(3))],
    )


def build(mnemonic: str) -> tuple[list[str], list[str]]:
    attributes, operands, results = example(mnemonic)
    module = _core.Module()
    ports = [
        (f"x{i}", type_to_tuple(each), ["n" if size == DYNAMIC else str(size) for size in getattr(each, "shape", [])])
        for i, each in enumerate(operands)
    ]
    builder = module.begin_graph("main", ports, [], False, False, "")
    values = module.arguments(builder, len(operands))
    dtype = results[0].element_type.name if mnemonic in ops_module.NEEDS_DTYPE else None
    made = builder.create(mnemonic, values, GROUPS.get(mnemonic), attributes, dtype, None)
    return [str(type_of_tuple(builder.type_of(value))) for value in made], [str(each) for each in results]


@pytest.mark.parametrize("mnemonic", sorted(ROWS.keys() - NOT_FOUND))
def test_example(mnemonic: str) -> None:
    found, wanted = build(mnemonic)
    # How many there are is a number of the program here, and known in the example.
    if mnemonic == "iota":
        wanted = ["tensor<?xi64>"]
    assert found == wanted


@pytest.mark.parametrize("mnemonic", sorted(NOT_FOUND))
def test_types_must_be_given(mnemonic: str) -> None:
    with pytest.raises(ingot.UsageError, match="give them"):
        build(mnemonic)
