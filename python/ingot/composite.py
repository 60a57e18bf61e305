"""Declarations of composite operators: what a body computes, so that a tuned kernel may stand in for it.

The text is that of an MLIR attribute:

    #ingot.composite_declaration<"rms_norm" = {input_names = ["input", "scale"],
        op_attrs = {eps = 1.000000e-05 : f32, version = 1 : si64}, output_names = ["output"]}>
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_FLT_MAX = 3.4028234663852886e38
_BARE_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_$.]*")


@dataclass(frozen=True)
class CompositeDecl:
    """Name, arguments, results and attributes of a composite operator. `str()` is the attribute's text."""

    name: str
    input_names: tuple[str, ...]
    output_names: tuple[str, ...]
    op_attrs: Mapping[str, Any]
    """The version is among them."""

    def __str__(self) -> str:
        fields = {"input_names": self.input_names, "op_attrs": self.op_attrs, "output_names": self.output_names}
        return f"#ingot.composite_declaration<{_string(self.name)} = {_value(fields)}>"

    def as_dictionary(self) -> str:
        """The same as text of an MLIR dictionary with one entry."""
        return "{" + str(self).removeprefix("#ingot.composite_declaration<").removesuffix(">") + "}"

    @property
    def version(self) -> int:
        return int(self.op_attrs["version"])


def generate_composite_decl(
    context: Any,
    composite_name: str,
    input_names: Sequence[str],
    output_names: Sequence[str],
    op_attributes: Mapping[str, Any],
    version: int = 1,
) -> CompositeDecl:
    """The declaration of a composite operator.

    Attributes are booleans, integers, floats, strings, and lists, tuples and dicts of them; `version` is added.
    `context` is not needed: it is there for code that has one to pass.
    """
    for name in (composite_name, *input_names, *output_names):
        if not isinstance(name, str):
            raise AssertionError(f"names of a composite must be strings, not {name!r}")
    attributes = {**op_attributes, "version": version}
    # A declaration that exists can be printed.
    _value(attributes)
    return CompositeDecl(composite_name, tuple(input_names), tuple(output_names), _frozen(attributes))


def _frozen(value: Any) -> Any:
    """A copy that later changes of the caller's lists and dicts do not reach."""
    if isinstance(value, dict):
        return {key: _frozen(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_frozen(item) for item in value]
    return value


def _value(value: Any) -> str:
    # A bool is an int as well: it must come first.
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        if not -(2**63) <= value < 2**63:
            raise ValueError(f"the attribute value {value} does not fit into 64 bits")
        return f"{int(value)} : si64"
    if isinstance(value, float):
        return _float(float(value))
    if isinstance(value, str):
        return _string(str(value))
    if isinstance(value, list | tuple):
        return f"[{', '.join(_value(item) for item in value)}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{_key(key)} = {_value(value[key])}' for key in sorted(value, key=_key))}}}"
    raise TypeError(
        f"Unsupported value {value!r} of type {type(value).__name__} in a composite declaration: "
        "bool, int, float, str, list, tuple and dict are supported"
    )


def _float(value: float) -> str:
    """The shortest digits that give the same double again: reading the text loses nothing."""
    if math.isinf(value) or math.isnan(value):
        return f"0x{struct.pack('>f', value).hex().upper()} : f32"
    mantissa, _, exponent = f"{value:.6e}".partition("e")
    if float(f"{mantissa}e{exponent}") != value:
        digits = next(text for text in (f"{value:.{count}e}" for count in range(7, 18)) if float(text) == value)
        mantissa, _, exponent = digits.partition("e")
    return f"{mantissa}e{exponent} : {'f32' if abs(value) <= _FLT_MAX else 'f64'}"


def _key(key: Any) -> str:
    if not isinstance(key, str):
        raise TypeError(f"Unsupported value {key!r} as a key in a composite declaration: keys are strings")
    return key if _BARE_KEY.fullmatch(key) else _string(key)


def _string(text: str) -> str:
    """As MLIR prints strings: what is not printable ASCII, and the quote, is a byte in hex."""
    return f'"{"".join(_escaped(byte) for byte in text.encode())}"'


def _escaped(byte: int) -> str:
    if byte == ord("\\"):
        return "\\\\"
    return chr(byte) if 32 <= byte < 127 and byte != ord('"') else f"\\{byte:02X}"


def parse_composite_decl(text: str) -> tuple[str, dict[str, Any]]:
    """The name, and a dict of `input_names`, `op_attrs` and `output_names`, from a declaration's text."""
    reader = _Reader(text)
    reader.expect(r"#\w+\.composite_declaration\s*<")
    name = reader.string()
    reader.expect("=")
    fields = reader.dictionary()
    reader.expect(">")
    reader.end()
    return name, fields


class _Reader:
    """Reads the attributes that `_value` writes, and their other MLIR spellings."""

    _ESCAPES: Mapping[str, bytes] = {"n": b"\n", "t": b"\t", '"': b'"', "\\": b"\\"}

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def _take(self, pattern: str) -> re.Match[str] | None:
        match = re.compile(rf"\s*(?:{pattern})").match(self._text, self._at)
        if match:
            self._at = match.end()
        return match

    def expect(self, pattern: str) -> re.Match[str]:
        match = self._take(pattern)
        if match is None:
            self._fail(f"'{pattern}'")
        return match

    def end(self) -> None:
        if self._text[self._at :].strip():
            self._fail("the end")

    def _fail(self, wanted: str) -> Any:
        raise ValueError(f"no composite declaration: {wanted} is expected at {self._text[self._at :][:40]!r}")

    def string(self) -> str:
        body = self.expect(r'"((?:[^"\\]|\\.)*)"')[1]
        parts = re.findall(r'\\([0-9A-Fa-f]{2}|[nt"\\])|([^\\]+)', body)
        return b"".join(
            text.encode() if text else self._ESCAPES.get(escape) or bytes.fromhex(escape) for escape, text in parts
        ).decode()

    def dictionary(self) -> dict[str, Any]:
        self.expect(r"\{")
        items: dict[str, Any] = {}
        while not self._take(r"\}"):
            if items:
                self.expect(",")
            key = self._take(_BARE_KEY.pattern)
            name = key[0].strip() if key else self.string()
            # MLIR leaves the value of a unit attribute out.
            items[name] = self.value() if self._take("=") else True
        return items

    def _array(self) -> list[Any]:
        self.expect(r"\[")
        items: list[Any] = []
        while not self._take(r"\]"):
            if items:
                self.expect(",")
            items.append(self.value())
        return items

    def value(self) -> Any:
        start = re.compile(r"\s*(.)").match(self._text, self._at)
        if start is None:
            self._fail("a value")
        match start[1]:
            case '"':
                return self.string()
            case "[":
                return self._array()
            case "{":
                return self.dictionary()
        if keyword := self._take(r"(true|false)\b"):
            return keyword[1] == "true"
        return self._number()

    def _number(self) -> int | float:
        number = self.expect(r"(0x[0-9A-Fa-f]+|[-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?)(?:\s*:\s*(\w+))?")
        digits, kind = number[1], number[2] or ""
        if digits.startswith("0x") and kind in ("f32", "f64"):
            return float(struct.unpack(">f" if kind == "f32" else ">d", bytes.fromhex(digits[2:]))[0])
        if kind.startswith(("f", "bf")) or re.search(r"[.eE]", digits.removeprefix("0x")):
            return float(digits)
        return int(digits, 0)
