"""Our tree specs against torch's own."""

from __future__ import annotations

import subprocess
import sys
from collections import OrderedDict, defaultdict, deque, namedtuple
from dataclasses import dataclass
from pathlib import Path

import ingot
import pytest
import torch
from ingot._tree import Tree
from ingot.errors import CorruptFileError, UsageError
from torch.utils import _pytree as pytree

Point = namedtuple("Point", ["x", "y"])
pytree._register_namedtuple(Point, serialized_type_name="tests.Point")

VALUES = [
    1,
    None,
    (1, 2),
    [1, [2, (3,)]],
    {"b": 1, "a": (2, 3)},
    OrderedDict(z=1, a=2),
    deque([1, 2]),
    deque([1, 2], maxlen=3),
    defaultdict(list, {"q": 1}),
    {(1, ("a", 2)): 1},
    Point(1, (2, 3)),
    ((1, {"k": [2]}), {}),
    ((), {"x": 1}),
]


@pytest.mark.parametrize("value", VALUES, ids=str)
def test_same_leaves_and_back(value: object) -> None:
    leaves, spec = pytree.tree_flatten(value)
    tree = Tree.parse(pytree.treespec_dumps(spec))
    assert tree is not None
    assert tree.leaf_count == len(leaves)
    assert list(tree.flatten(value)) == leaves
    rebuilt = tree.unflatten(iter(leaves))
    assert rebuilt == value
    assert type(rebuilt) is type(value)
    for detail in ("maxlen", "default_factory"):
        assert getattr(rebuilt, detail, None) == getattr(value, detail, None)


@pytest.mark.parametrize(
    ("value", "other"),
    [((1, 2), (1,)), ((1, 2), [1, 2]), ({"a": 1}, {"b": 1}), ({"a": 1}, {}), ([1], 3), ({"a": 1}, {"a": 1, "b": 2})],
)
def test_other_structures_are_refused(value: object, other: object) -> None:
    tree = Tree.parse(pytree.treespec_dumps(pytree.tree_structure(value)))
    assert tree is not None
    with pytest.raises(UsageError):
        list(tree.flatten(other))


def test_unknown_types_become_named_tuples() -> None:
    node = '{"type": "elsewhere.Thing", "context": "[\\"a\\", \\"b\\"]", "children_spec": [%s, %s]}'
    leaf = '{"type": null, "context": null, "children_spec": []}'
    tree = Tree.parse(f"[1, {node % (leaf, leaf)}]")
    assert tree is not None
    thing = tree.unflatten(iter([1, 2]))
    assert (thing.a, thing.b) == (1, 2)


LEAF = '{"type": null, "context": null, "children_spec": []}'


@pytest.mark.parametrize(
    "text",
    [
        "[1, {\"type\": \"a\x01b\"}]", "[", "7", "[1]", "[1, []]", '[1, {"type": 3, "children_spec": []}]',
        '[1, {"type": null, "children_spec": 3}]', "[" * 100_000,
        '[1, {"type": "builtins.dict", "context": "[\\"a\\"]", "children_spec": []}]',
        '[1, {"type": "builtins.dict", "context": "[{}]", "children_spec": [' + LEAF + "]}]",
        '[1, {"type": "collections.defaultdict", "context": "[]", "children_spec": []}]',
        '[1, {"type": "builtins.tuple", "children_spec": [' * 5000 + LEAF + "]}" * 5000 + "]",
        "[1, " + '{"type": "builtins.tuple", "children_spec": [' * 300 + LEAF + "]}" * 300 + "]",
    ],
    ids=range(13),
)  # fmt: skip
def test_damaged_specs_are_errors_of_the_file(text: str) -> None:
    with pytest.raises(CorruptFileError, match="damaged"):
        Tree.parse(text)


def test_names_that_fields_cannot_have() -> None:
    node = f'{{"type": "a.class", "context": "[\\"_\\", \\"_\\"]", "children_spec": [{LEAF}, {LEAF}]}}'
    tree = Tree.parse(f"[1, {node}]")
    assert tree is not None and tree.unflatten(iter([1, 2])) == (1, 2)


Pair = namedtuple("Pair", ["first", "second"])


@dataclass
class Record:
    left: torch.Tensor
    right: torch.Tensor


torch.export.register_dataclass(Record)


class Named(torch.nn.Module):
    def forward(self, pair: Pair, record: Record) -> tuple[object, ...]:
        return Pair(pair.first + record.left, pair.second), Record(pair.first, record.right), pair.first.topk(2)


LOOK = """
import sys, ingot, numpy as np
x = np.ones((3, 4), np.float32)
pair, record, top = ingot.load(sys.argv[1])((x, x), (x, x))
assert pair.first.shape == (3, 4) and record.right.shape == (3, 4) and top.values.shape == (3, 2)
"""


def test_types_without_a_registered_name(tmp_path: Path) -> None:
    x = torch.randn(3, 4)
    program = ingot.convert(torch.export.export(Named(), (Pair(x, x), Record(x, x))))
    program.save_asset(tmp_path / "a.ingot")
    for each in (program, ingot.load(tmp_path / "a.ingot")):
        pair, record, top = each(Pair(x, x), Record(x, x))
        assert type(pair) is Pair and type(record) is Record and isinstance(top, torch.return_types.topk)
        assert torch.equal(pair.first, x + x) and torch.equal(record.left, x)
        assert torch.equal(top.values, x.topk(2).values)
    # Where the classes are not known, the parts have their names still.
    subprocess.run([sys.executable, "-c", LOOK, tmp_path / "a.ingot"], check=True)


def test_no_spec() -> None:
    assert Tree.parse("") is None
