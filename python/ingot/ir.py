"""Values and types of programs, for lowerings and graphs written in Python; `ingot.ops` makes them."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ingot.errors import UsageError

if TYPE_CHECKING:
    import torch

    from ingot._core import Builder

DYNAMIC = -(2**63)
"""A size that is only known when the program runs."""

# torch's name, the spelling of the IR, numpy's name where numpy has the type
_ELEMENT_TYPES = (
    ("bool", "i1", "bool"),
    ("uint8", "ui8", "uint8"),
    ("int8", "i8", "int8"),
    ("int16", "i16", "int16"),
    ("int32", "i32", "int32"),
    ("int64", "i64", "int64"),
    ("uint16", "ui16", "uint16"),
    ("uint32", "ui32", "uint32"),
    ("uint64", "ui64", "uint64"),
    ("float16", "f16", "float16"),
    ("bfloat16", "bf16", None),
    ("float32", "f32", "float32"),
    ("float64", "f64", "float64"),
    ("float8_e4m3fn", "f8E4M3FN", None),
    ("float8_e5m2", "f8E5M2", None),
    ("float8_e4m3fnuz", "f8E4M3FNUZ", None),
    ("float8_e5m2fnuz", "f8E5M2FNUZ", None),
    ("float8_e8m0fnu", "!ingot.f8E8M0FNU", None),
    ("complex32", "complex<f16>", None),
    ("complex64", "complex<f32>", "complex64"),
    ("complex128", "complex<f64>", "complex128"),
)
_BY_SPELLING = {text: name for name, text, _ in _ELEMENT_TYPES}
_BY_NAME = {name: (text, numpy) for name, text, numpy in _ELEMENT_TYPES}
# How other IRs write the same types.
_ALIASES = {f"s{text}": name for name, text, _ in _ELEMENT_TYPES if text[0] == "i" and text != "i1"}


@dataclass(frozen=True)
class ElementType:
    """The type of a tensor's elements, by torch's name: "float32"."""

    name: str

    def __post_init__(self) -> None:
        if self.name not in _BY_NAME:
            raise UsageError(f"there is no element type '{self.name}'")

    @classmethod
    def of(cls, dtype: DTypeLike) -> ElementType:
        """From an ElementType, torch's or numpy's dtype, Python's bool, int (int32) or float (float32), or a name."""
        if isinstance(dtype, ElementType):
            return dtype
        if isinstance(dtype, str):
            return cls(_BY_SPELLING.get(dtype) or _ALIASES.get(dtype) or dtype)
        if isinstance(dtype, type) and dtype in (bool, int, float):
            return cls({bool: "bool", int: "int32", float: "float32"}[dtype])
        if type(dtype).__module__ == "torch":
            return cls(str(dtype).removeprefix("torch."))
        try:
            return cls(np.dtype(dtype).name)
        except TypeError:
            raise UsageError(f"{dtype!r} is no element type") from None

    @property
    def numpy(self) -> np.dtype[Any] | None:
        """None for types that numpy does not have."""
        name = _BY_NAME[self.name][1]
        return None if name is None else np.dtype(name)

    @property
    def torch(self) -> torch.dtype:
        import torch

        return getattr(torch, self.name)

    @property
    def is_float(self) -> bool:
        return self.name.startswith(("float", "bfloat"))

    @property
    def is_integer(self) -> bool:
        return self.name.startswith(("int", "uint"))

    @property
    def is_complex(self) -> bool:
        return self.name.startswith("complex")

    def __str__(self) -> str:
        return _BY_NAME[self.name][0]


DTypeLike: TypeAlias = "ElementType | str | torch.dtype | np.dtype[Any] | type"


@dataclass(frozen=True, init=False)
class TensorType:
    """Sizes and element type. A size may be DYNAMIC, which None stands for as well when a type is made."""

    shape: list[int]
    element_type: ElementType

    def __init__(self, shape: Sequence[int | None], element_type: DTypeLike) -> None:
        object.__setattr__(self, "shape", [DYNAMIC if size is None else int(size) for size in shape])
        object.__setattr__(self, "element_type", ElementType.of(element_type))

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def has_static_shape(self) -> bool:
        return DYNAMIC not in self.shape

    def is_dynamic_dim(self, dim: int) -> bool:
        return self.shape[dim] == DYNAMIC

    def __hash__(self) -> int:
        return hash((tuple(self.shape), self.element_type))

    def __str__(self) -> str:
        sizes = "".join("?x" if size == DYNAMIC else f"{size}x" for size in self.shape)
        return f"tensor<{sizes}{self.element_type}>"


@dataclass(frozen=True)
class ScalarType:
    """A number that a program computes, such as a size: int64, float64 or bool."""

    element_type: ElementType

    def __str__(self) -> str:
        return str(self.element_type)


Type: TypeAlias = TensorType | ScalarType


class Value:
    """A tensor or a number that a program computes. Two values are equal where they are the same one."""

    __slots__ = ("__weakref__", "_builder", "_handle", "_sizes", "_type", "name")

    def __init__(self, builder: Builder, handle: int, name: str = "") -> None:
        self._builder = builder
        self._handle = handle
        self._type: Type | None = None
        self._sizes: list[int | Value] | None = None
        """Of vectors of sizes: the numbers they were made from."""
        self.name = name

    @property
    def type(self) -> Any:
        """A TensorType, or a ScalarType for numbers."""
        if self._type is None:
            self._type = type_of_tuple(self._builder.type_of(self._handle))
        return self._type

    @property
    def is_scalar(self) -> bool:
        return isinstance(self.type, ScalarType)

    @property
    def constant_value(self) -> np.ndarray[Any, Any] | None:
        """The elements of a constant (bfloat16 as float32); None for other values."""
        data = None if self.is_scalar else self._builder.constant_data(self._handle)
        if data is None:
            return None
        element = self.type.element_type
        if element.name == "bfloat16":
            wide = np.frombuffer(data, np.uint16).astype(np.uint32) << 16
            return wide.view(np.float32).reshape(self.type.shape)
        if element.numpy is None:
            return None
        return np.frombuffer(data, element.numpy).reshape(self.type.shape).copy()

    def __repr__(self) -> str:
        if not self._builder.is_alive:
            return f"<ingot.ir.Value '{self.name}', of a builder that has ended>"
        return f"<ingot.ir.Value '{self.name}' {self.type}>"


def type_of_tuple(described: tuple[bool, str, list[int]]) -> Type:
    is_number, dtype, sizes = described
    return ScalarType(ElementType(dtype)) if is_number else TensorType(sizes, dtype)


def type_to_tuple(given: Type) -> tuple[bool, str, list[int]]:
    if isinstance(given, ScalarType):
        return True, given.element_type.name, []
    return False, given.element_type.name, list(given.shape)


class _Active(threading.local):
    def __init__(self) -> None:
        self.builders: list[Builder] = []


_active = _Active()


@contextlib.contextmanager
def building(builder: Builder) -> Iterator[None]:
    """Ops made in this context, by this thread, go to the builder."""
    _active.builders.append(builder)
    try:
        yield
    finally:
        _active.builders.pop()


def has_builder() -> bool:
    return bool(_active.builders)


def current_builder() -> Builder:
    if not _active.builders:
        raise UsageError("ops can be made only inside a lowering, or inside a graph of a module (`@ops.graph`)")
    return _active.builders[-1]
