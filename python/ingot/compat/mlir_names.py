"""`coreai._compiler.ir`: the names of MLIR's Python bindings that lowerings use, over `ingot.ir`.

Types are Ingot's own. `RankedTensorType.get([2, None], F32Type.get())` makes one, and `isinstance` works on them.
Contexts, locations and insertion points can be entered; a lowering's position decides where its ops go.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from ingot.errors import UnsupportedError
from ingot.ir import DYNAMIC, ElementType, ScalarType, TensorType, Value

__all__ = [
    "BF16Type",
    "BoolAttr",
    "ComplexType",
    "Context",
    "F16Type",
    "F32Type",
    "F64Type",
    "Float8E4M3FNType",
    "Float8E5M2Type",
    "Float8E8M0FNUType",
    "FloatAttr",
    "InsertionPoint",
    "IntegerAttr",
    "IntegerType",
    "Location",
    "RankedTensorType",
    "ShapedType",
    "StringAttr",
    "Type",
    "Value",
]

Attribute = Any


class _TypeName(type):
    """A class of types that are not its instances: `isinstance` asks it."""

    def __instancecheck__(cls, value: Any) -> bool:
        return bool(cls.holds(value))  # type: ignore[attr-defined]

    def __call__(cls, value: Any) -> Any:
        """As MLIR converts a type to a more special one."""
        if not isinstance(value, cls):
            raise ValueError(f"{value} is no {cls.__name__}")
        return value


class Type(metaclass=_TypeName):
    """Any type."""

    @staticmethod
    def holds(value: Any) -> bool:
        return value.__class__ in (ElementType, TensorType, ScalarType)

    @staticmethod
    def parse(text: str, context: Any = None) -> Any:
        """The type that a text such as `tensor<2x?xf32>` or `f32` stands for."""
        if not text.startswith("tensor<"):
            return ElementType.of(text)
        *sizes, element = text.removeprefix("tensor<").removesuffix(">").split("x")
        return TensorType([None if size == "?" else int(size) for size in sizes], element)


class ShapedType(Type):
    """A type with sizes."""

    @staticmethod
    def holds(value: Any) -> bool:
        return value.__class__ is TensorType

    @staticmethod
    def get_dynamic_size() -> int:
        return DYNAMIC


class RankedTensorType(ShapedType):
    """The type of tensors."""

    @staticmethod
    def get(shape: Sequence[int | None], element_type: Any, encoding: Any = None, loc: Any = None) -> TensorType:
        return TensorType([None if size is not None and size < 0 else size for size in shape], element_type)


class _Element(Type):
    names: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def holds(cls, value: Any) -> bool:
        return value.__class__ is ElementType and value.name in cls.names

    @classmethod
    def get(cls, context: Any = None) -> ElementType:
        return ElementType(cls.names[0])


class F16Type(_Element):
    names = ("float16",)


class BF16Type(_Element):
    names = ("bfloat16",)


class F32Type(_Element):
    names = ("float32",)


class F64Type(_Element):
    names = ("float64",)


class Float8E4M3FNType(_Element):
    names = ("float8_e4m3fn",)


class Float8E5M2Type(_Element):
    names = ("float8_e5m2",)


class Float8E8M0FNUType(_Element):
    names = ("float8_e8m0fnu",)


class FloatType(_Element):
    names = ("float32", "float64", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e8m0fnu")


class IntegerType(_Element):
    names = ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")

    @classmethod
    def get_signless(cls, width: int, context: Any = None) -> ElementType:
        return ElementType("bool" if width == 1 else f"int{width}")

    @classmethod
    def get_signed(cls, width: int, context: Any = None) -> ElementType:
        return ElementType(f"int{width}")

    @classmethod
    def get_unsigned(cls, width: int, context: Any = None) -> ElementType:
        return ElementType(f"uint{width}")


class ComplexType(_Element):
    names = ("complex64", "complex128", "complex32")

    @classmethod
    def get(cls, element_type: Any) -> ElementType:  # type: ignore[override]
        bits = {"float16": 32, "float32": 64, "float64": 128}
        return ElementType(f"complex{bits[ElementType.of(element_type).name]}")


class _Scope:
    """Can be entered, and changes nothing."""

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: object) -> None:
        pass


class Context(_Scope):
    """Types and values need none here."""

    current: ClassVar[Context]


Context.current = Context()


class InsertionPoint(_Scope):
    """Ops go to the end of what is built."""

    def __init__(self, *_: Any, **__: Any) -> None:
        pass


class Location(_Scope):
    """A place in the user's source; a lowering's own is used for what it builds."""

    current: ClassVar[Location]

    def __init__(self, text: str = "unknown") -> None:
        self._text = text

    @classmethod
    def unknown(cls, context: Any = None) -> Location:
        return cls()

    @classmethod
    def file(cls, filename: str, line: int, col: int = 0, context: Any = None) -> Location:
        return cls(f"{filename}:{line}:{col}")

    @classmethod
    def name(cls, name: str, childLoc: Any = None, context: Any = None) -> Location:  # noqa: N803
        return cls(name)

    @classmethod
    def fused(cls, locations: Sequence[Any], metadata: Any = None, context: Any = None) -> Location:
        return cls(", ".join(str(location) for location in locations))

    def __str__(self) -> str:
        return f"loc({self._text})"


Location.current = Location()


class _PlainAttr:
    """Attributes are Python's own values here."""

    @staticmethod
    def get(*arguments: Any, **_: Any) -> Any:
        return arguments[-1]


class StringAttr(_PlainAttr):
    pass


class BoolAttr(_PlainAttr):
    pass


class IntegerAttr(_PlainAttr):
    """get(type, value)."""


class FloatAttr(_PlainAttr):
    """get(type, value)."""


def __getattr__(name: str) -> Any:
    if name == "Module":
        import ingot

        return ingot.Module
    if name in ("Operation", "OpView", "Block", "Region"):
        raise UnsupportedError(f"ir.{name} has no counterpart: lowerings build ops through the dialect's builders")
    raise AttributeError(name)
