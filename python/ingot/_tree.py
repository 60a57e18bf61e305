"""Nested arguments and results, by the tree specs that torch.export records. Works without torch.

A spec is JSON: [1, node] with node = {"type": name or null, "context": text, "children_spec": [node]}.
"""

from __future__ import annotations

import json
import sys
from collections import OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable, Iterator
from typing import Any

from ingot.errors import CorruptFileError, UsageError

_SEQUENCE_TYPES: dict[str, type] = {"builtins.tuple": tuple, "builtins.list": list, "collections.deque": deque}
_DEEPEST = 100
"""Levels of a structure; far more than models have, and far less than Python's stack."""
_FACTORIES: dict[str, Callable[[], Any]] = {
    kind.__name__: kind for kind in (bool, dict, float, int, list, set, str, tuple)
}
_MAPPINGS = ("builtins.dict", "collections.OrderedDict", "collections.defaultdict")


class Tree:
    """One node of a spec."""

    def __init__(self, node: dict[str, Any], depth: int = 0) -> None:
        if depth > _DEEPEST:
            raise ValueError("a structure is not that deep")
        self.type: str | None = node["type"]
        self.context: Any = _parse_context(node.get("context"))
        self.children = [Tree(child, depth + 1) for child in node["children_spec"]]
        self._node = node
        if not isinstance(self.type, str | None):
            raise TypeError("a type has a name")
        if self.type in _MAPPINGS and len(set(self.keys)) != len(self.children):
            raise ValueError("a mapping has one key for each value")

    @classmethod
    def parse(cls, text: str) -> Tree | None:
        """The tree of a recorded spec; None if nothing was recorded."""
        if not text:
            return None
        try:
            return cls(json.loads(text)[1])
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
            raise CorruptFileError("the recorded structure of the arguments or results is damaged") from None

    @property
    def is_leaf(self) -> bool:
        return self.type is None

    @property
    def leaf_count(self) -> int:
        return 1 if self.is_leaf else sum(child.leaf_count for child in self.children)

    @property
    def keys(self) -> list[Any]:
        """Of a mapping, in order."""
        keys = self.context
        if self.type == "collections.defaultdict":
            keys = keys["dict_context"] if isinstance(keys, dict) else keys[1]
        return [_key(key) for key in keys or []]

    def flatten(self, value: Any, where: str = "the arguments") -> Iterator[Any]:
        """The leaves of `value`, which must have this structure."""
        if self.is_leaf:
            yield value
        elif self.type in _MAPPINGS:
            yield from self._flatten_mapping(value, where)
        else:
            children = self._child_values(value, where)
            if len(children) != len(self.children):
                raise UsageError(f"{where} should have {len(self.children)} values, not {len(children)}")
            for index, (child, item) in enumerate(zip(self.children, children, strict=True)):
                yield from child.flatten(item, f"{where}[{index}]")

    def _flatten_mapping(self, value: Any, where: str) -> Iterator[Any]:
        if not isinstance(value, dict):
            raise UsageError(f"{where} should be a dict, not {type(value).__name__}")
        missing = [key for key in self.keys if key not in value]
        unknown = [key for key in value if key not in self.keys]
        if missing or unknown:
            raise UsageError(f"{where} should have the keys {list(self.keys)}, not {list(value)}")
        for child, key in zip(self.children, self.keys, strict=True):
            yield from child.flatten(value[key], f"{where}[{key!r}]")

    def _child_values(self, value: Any, where: str) -> list[Any]:
        expected = _SEQUENCE_TYPES.get(self.type or "")
        if expected is not None:
            if not isinstance(value, expected):
                raise UsageError(f"{where} should be a {expected.__name__}, not {type(value).__name__}")
            return list(value)
        if isinstance(value, tuple):  # a named tuple, by any definition of it
            return list(value)
        return _registered_children(value, where)

    def unflatten(self, leaves: Iterator[Any]) -> Any:
        """The structure again, with leaves taken in order."""
        if self.is_leaf:
            return next(leaves)
        values = [child.unflatten(leaves) for child in self.children]
        if self.type == "collections.deque":
            return deque(values, maxlen=self.context if isinstance(self.context, int) else None)
        if self.type in _SEQUENCE_TYPES:
            return _SEQUENCE_TYPES[self.type](values)
        if self.type == "builtins.dict":
            return dict(zip(self.keys, values, strict=True))
        if self.type == "collections.OrderedDict":
            return OrderedDict(zip(self.keys, values, strict=True))
        if self.type == "collections.defaultdict":
            return defaultdict(self._default_factory(), zip(self.keys, values, strict=True))
        return self._rebuild(values)

    def _default_factory(self) -> Callable[[], Any] | None:
        """Python's own types alone: a file must not say which code is run."""
        if not isinstance(self.context, dict) or self.context.get("default_factory_module") != "builtins":
            return None
        return _FACTORIES.get(str(self.context.get("default_factory_name")))

    def _rebuild(self, values: list[Any]) -> Any:
        """A type that some library registered. Where it is not known, a tuple of the same values."""
        pytree = sys.modules.get("torch.utils._pytree")
        if pytree is not None:
            try:
                spec = _NAMELESS.get(self.type or "") or _return_type(self.type or "")
                if spec is None or spec.num_children != len(values):
                    spec = pytree.treespec_loads(json.dumps([1, _with_leaf_children(self._node)]))
                return pytree.tree_unflatten(values, spec)
            except Exception:  # whatever a library's own code raises: the values matter more
                pass
        if isinstance(self.context, list) and len(self.context) == len(values):
            fields = [str(name) for name in self.context]
            try:
                return namedtuple((self.type or "Result").rpartition(".")[2], fields)(*values)
            except ValueError:  # names that fields cannot have
                pass
        return tuple(values)


_NAMELESS: dict[str, Any] = {}
"""Specs, over leaves, of types that this process has written down and that no name was registered for."""


def spec_text(spec: Any) -> str:
    """A tree spec of torch's as JSON. Types that torch has no name for keep that of their class, and their fields."""
    return json.dumps([1, _node_of(spec)])


def _node_of(spec: Any) -> dict[str, Any]:
    from torch.utils import _pytree as pytree

    if spec.is_leaf():
        return {"type": None, "context": None, "children_spec": []}
    children = [_node_of(child) for child in spec.children()]
    flat = pytree.TreeSpec(spec.type, spec.context, [pytree.treespec_leaf() for _ in children])
    try:
        node = json.loads(pytree.treespec_dumps(flat))[1]
    except (NotImplementedError, TypeError):  # no name, or a context that is no JSON
        kind = spec.context if spec.type is namedtuple else spec.type
        name = f"{kind.__module__}.{kind.__qualname__}"
        _NAMELESS[name] = flat
        node = {"type": name, "context": json.dumps(_fields(kind, spec.context, len(children)))}
    return {**node, "children_spec": children}


def _fields(kind: type, context: Any, count: int) -> list[str] | None:
    """The names of the parts: of named tuples, of torch.return_types, and of dataclasses."""
    if hasattr(kind, "_fields"):
        return list(kind._fields)
    if kind.__module__ == "torch.return_types":
        return list(kind.__match_args__)
    names = context[0] if isinstance(context, list | tuple) and context else None
    is_named = isinstance(names, list | tuple) and len(names) == count and all(isinstance(name, str) for name in names)
    return list(names) if is_named else None


def _return_type(name: str) -> Any:
    """The spec of torch.return_types.topk and its like; None of others."""
    from torch.utils import _pytree as pytree

    module, _, last = name.rpartition(".")
    torch = sys.modules.get("torch")
    kind = getattr(torch.return_types, last, None) if torch is not None and module == "torch.return_types" else None
    if not isinstance(kind, type):
        return None
    return pytree.tree_structure(kind([0] * kind.n_sequence_fields))


def _parse_context(text: Any) -> Any:
    if not isinstance(text, str):
        return text
    try:
        return json.loads(text)
    except ValueError:
        return text


def _key(key: Any) -> Any:
    """JSON has lists where Python has tuples."""
    return tuple(_key(item) for item in key) if isinstance(key, list) else key


def _with_leaf_children(node: dict[str, Any]) -> dict[str, Any]:
    leaf = {"type": None, "context": None, "children_spec": []}
    return {**node, "children_spec": [leaf] * len(node["children_spec"])}


def _registered_children(value: Any, where: str) -> list[Any]:
    pytree = sys.modules.get("torch.utils._pytree")
    registered = pytree.SUPPORTED_NODES.get(type(value)) if pytree is not None else None
    if registered is None:
        raise UsageError(f"{where} is a {type(value).__name__}, which cannot be taken apart")
    return list(registered.flatten_fn(value)[0])
