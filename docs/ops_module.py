"""Writes the functions of `ingot.ops` from the tables of the dialect: one module a family, one function an op."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
LLVM = Path("/usr/lib/llvm-19")
SOURCE = "src/dialect/AllOps.td"
PACKAGE = "python/ingot/ops"
WIDTH = 120

# Part of the structure of programs, made by passes, or written by hand in ops/__init__.py.
LEFT_OUT = {"aten", "yield", "weight", "if", "while", "for_each", "invoke", "cluster", "constant", "custom"}
LEFT_OUT |= {"scaled_pointwise", "depthwise_block"}
# Python's words.
RENAMED: dict[str, str] = {}
# Ops whose result has the element type that the caller chooses: required (True), or by default that of an operand.
NEEDS_DTYPE = {"cast": True, "bitcast": True, "iota": False, "random_uniform": False, "random_normal": False}
NEEDS_DTYPE |= {"random_integer": False}
DTYPE_DEFAULT = {"random_uniform": '"float32"', "random_normal": '"float32"', "random_integer": '"int64"'}
# The attribute of an op with dynamic operands whose entries they are.
ENTRIES = ("sizes", "bounds", "k", "rows", "output", "size")
# What most callers mean. None: computed below.
DEFAULTS = {
    "log": "False",
    "eps": "1e-5",
    "rms": "False",
    "activation": '"none"',
    "groups": "1",
    "transposed": "False",
    "ceil_mode": "False",
    "count_include_pad": "True",
    "divisor": "0",
    "minimum": "False",
    "causal": "False",
    "nan_rows": "False",
    "step": "1",
    "mode": None,
    "value": "0.0",
    "descending": "False",
    "stable": "True",
    "largest": "True",
    "sorted": "True",
    "reduce": '"none"',
    "include_self": "True",
    "check": '""',
    "align_corners": "False",
}
NO_DEFAULT = {("group_norm", "groups"), ("grid_sample", "mode"), ("resize", "mode"), ("resize_filtered", "mode")}
MODE_DEFAULTS = {"pad": '"constant"'}
# Lists with an entry for each spatial dimension: what tells how many, and the entry by default.
SPATIAL = {
    ("conv", "strides"): ("weight.type.rank - 2", "1"),
    ("conv", "pad_low"): ("weight.type.rank - 2", "0"),
    ("conv", "pad_high"): ("weight.type.rank - 2", "0 if pad_low is None else pad_low"),
    ("conv", "dilations"): ("weight.type.rank - 2", "1"),
    ("conv", "output_padding"): ("weight.type.rank - 2", "0"),
    ("max_pool", "strides"): ("len(kernel)", "kernel"),
    ("max_pool", "padding"): ("len(kernel)", "0"),
    ("max_pool", "dilations"): ("len(kernel)", "1"),
    ("avg_pool", "strides"): ("len(kernel)", "kernel"),
    ("avg_pool", "padding"): ("len(kernel)", "0"),
    ("resize", "scales"): ("", ""),
    ("resize_filtered", "scales"): ("", ""),
}


class Argument(NamedTuple):
    name: str
    kind: str
    """tensor, optional, tensors, number, numbers, any; or an attribute's: I64Attr, choice, ..."""
    cases: tuple[str, ...] = ()


class OpRow(NamedTuple):
    mnemonic: str
    family: str
    summary: str
    description: str
    arguments: list[Argument]
    results: list[str]
    is_elementwise: bool
    is_grouped: bool


def load() -> dict[str, Any]:
    tool = shutil.which("llvm-tblgen-19") or str(LLVM / "bin" / "llvm-tblgen")
    includes = [f"-I{LLVM}/include", f"-I{ROOT}/src", f"-I{ROOT}/src/dialect"]
    done = subprocess.run([tool, "--dump-json", *includes, str(ROOT / SOURCE)], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"llvm-tblgen refuses {SOURCE}:\n{done.stderr}")
    return json.loads(done.stdout)


def argument(records: dict[str, Any], name: str, record: str) -> Argument:
    entry = records[record]
    parents = entry["!superclasses"]
    if "EnumAttrInfo" in parents:
        cases = tuple(records[case["def"]]["str"] for case in entry["enumerants"])
        return Argument(name, "choice", cases)
    if "Attr" in parents:
        return Argument(name, entry["baseAttr"]["def"] if "DefaultValuedAttr" in parents else record)
    is_variadic, is_optional = "Variadic" in parents, "Optional" in parents
    base = entry["baseType"]["def"] if is_variadic or is_optional else record
    kind = {"Ingot_Tensor": "tensor", "Ingot_Any": "any"}.get(base, "number")
    return Argument(name, "optional" if is_optional else kind + "s" if is_variadic else kind)


def rows() -> list[OpRow]:
    records = load()
    found = []
    for name in records["!instanceof"]["Op"]:
        record = records[name]
        traits = {trait["def"] for trait in record["traits"]}
        if record["opDialect"]["def"] != "Ingot_Dialect" or record["opName"] in LEFT_OUT:
            continue
        file, _, line = record["!locs"][0].rpartition(":")
        found.append(
            (
                (file, int(line)),
                OpRow(
                    record["opName"],
                    Path(file).stem.removesuffix("Ops").lower() or "core",
                    record["summary"],
                    record["description"],
                    [argument(records, label, each["def"]) for each, label in record["arguments"]["args"]],
                    [label for _, label in record["results"]["args"]],
                    "Ingot_ElementwiseTrait" in traits,
                    "AttrSizedOperandSegments" in traits,
                ),
            )
        )
    return [row for _, row in sorted(found, key=lambda pair: pair[0])]


# Writing.


def docstring(row: OpRow) -> str:
    text = row.summary + "."
    if not row.is_elementwise:
        prose = textwrap.dedent(row.description).partition("```")[0].strip()
        if prose:
            text += "\n\n" + prose
    escaped = text.replace("\\", "\\\\")
    lines = escaped.split("\n")
    if len(lines) == 1 and len(lines[0]) <= WIDTH - 10:
        return f'    """{lines[0]}"""'
    lines = [line for part in escaped.split("\n") for line in (textwrap.wrap(part, WIDTH - 12) or [""])]
    return '    """' + "\n    ".join(lines).replace("\n    \n", "\n\n") + '\n    """'


ANNOTATIONS = {
    "tensor": "Operand",
    "optional": "Operand | None",
    "tensors": "Sequence[Operand]",
    "number": "Number",
    "any": "Operand",
    "anys": "Sequence[Operand]",
    "I64Attr": "int",
    "F64Attr": "float",
    "BoolAttr": "bool",
    "StrAttr": "str",
    "choice": "str",
    "DenseI64ArrayAttr": "Sequence[int]",
    "DenseF64ArrayAttr": "Sequence[float]",
}


def entry_list(row: OpRow) -> str | None:
    """The attribute that the dynamic operands belong to."""
    if not any(each.kind == "numbers" for each in row.arguments):
        return None
    return next(each.name for each in row.arguments if each.name in ENTRIES)


def parameter(row: OpRow, each: Argument) -> tuple[str, str | None]:
    """The parameter's text without its default, and the default."""
    key = (row.mnemonic, each.name)
    if each.kind == "optional":
        return f"{each.name}: Operand | None", "None"
    if key in SPATIAL:
        return f"{each.name}: {'float | Sequence[float]' if 'scales' in key else 'int | Sequence[int]'} | None", "None"
    if each.name == entry_list(row):
        inner = "Number | None" if each.name == "bounds" else "Number"
        prefix = "Number | " if each.name in ("k", "rows", "size") else ""
        return f"{each.name}: {prefix}Sequence[{inner}]", None
    if each.name in ("dims", "axes"):
        return f"{each.name}: int | Sequence[int]", None
    default = None if key in NO_DEFAULT else DEFAULTS.get(each.name)
    if each.name == "mode":
        default = MODE_DEFAULTS.get(row.mnemonic)
    is_operand = each.kind in ("tensor", "tensors", "number", "any", "anys")
    return f"{each.name}: {ANNOTATIONS[each.kind]}", None if is_operand else default


def attribute(row: OpRow, each: Argument) -> str:
    """The expression that writes an attribute."""
    key, first = (row.mnemonic, each.name), row.arguments[0].name
    if each.name == "scales":
        return f"build.reals([0.0] * ({first}.type.rank - 2) if scales is None else list(scales))"
    if key in SPATIAL:
        count, default = SPATIAL[key]
        return f"build.spatial({each.name}, {count}, {default})"
    if each.name == entry_list(row):
        if each.name == "bounds":
            return f"build.bounds(bounds, {first}, axis, dynamic)"
        if row.mnemonic == "reshape":
            return "build.entries(build.reshaped(sizes, x), dynamic)"
        if each.kind == "I64Attr":
            return f"build.entry({each.name}, dynamic)"
        return f"build.entries({each.name}, dynamic)"
    if each.name == "axis" and row.mnemonic != "unique" and row.arguments[0].kind == "tensor":
        return f"build.axis(axis, {first})"
    if each.name == "axis" and row.arguments[0].kind == "tensors":
        return f"build.axis(axis, {first}[0])"
    if each.name in ("dims", "axes"):
        return f"build.axes({each.name}, {first})"
    writers = {"I64Attr": "integer", "F64Attr": "real", "BoolAttr": "boolean", "StrAttr": "string"}
    writers |= {"DenseI64ArrayAttr": "integers", "DenseF64ArrayAttr": "reals"}
    if each.kind == "choice":
        return f'build.choice({each.name}, {each.cases!r}, "{each.name}")'.replace("'", '"')
    return f"build.{writers[each.kind]}({each.name})"


def signature(row: OpRow) -> str:
    parts, is_keyword, had_default = [], False, False
    for each in row.arguments:
        if each.kind == "numbers":
            continue
        text, default = parameter(row, each)
        if default is None and had_default and not is_keyword:
            parts.append("*")
            is_keyword = True
        had_default = had_default or default is not None
        parts.append(text if default is None else f"{text} = {default}")
    if NEEDS_DTYPE.get(row.mnemonic):
        parts.append("dtype: DTypeLike")
    elif row.mnemonic in NEEDS_DTYPE:
        default = DTYPE_DEFAULT.get(row.mnemonic)
        parts.append(f"dtype: DTypeLike = {default}" if default else "dtype: DTypeLike | None = None")
    if not is_keyword:
        parts.append("*")
    many = len(row.results) != 1
    parts.append("result_types: Sequence[Type] | None = None" if many else "result_type: Type | None = None")
    parts.append("loc: object = None")
    result = "tuple[Value, ...]" if many else "Value"
    line = f"def {RENAMED.get(row.mnemonic, row.mnemonic)}({', '.join(parts)}) -> {result}:"
    if len(line) <= WIDTH:
        return line
    inner = f"    {', '.join(parts)}"
    if len(inner) <= WIDTH:
        return f"{line[: line.index('(') + 1]}\n{inner}\n) -> {result}:"
    return f"{line[: line.index('(') + 1]}\n" + "".join(f"    {part},\n" for part in parts) + f") -> {result}:"


CONVERSIONS = {
    "tensor": "build.tensor",
    "optional": "build.optional",
    "tensors": "build.tensors",
    "number": "build.number",
    "any": "build.any_value",
    "anys": "build.tensors",
}


def body(row: OpRow) -> list[str]:
    names = [each.name for each in row.arguments]
    if row.is_elementwise and row.mnemonic != "cast":
        skip = ", skip=1" if row.mnemonic == "select" else ""
        listed = ", ".join(names) + ("," if len(names) == 1 else "")
        return [f'return build.elementwise("{row.mnemonic}", ({listed}), result_type{skip})']
    operands = [each for each in row.arguments if each.kind in CONVERSIONS or each.kind == "numbers"]
    lines = [f"{each.name} = {CONVERSIONS[each.kind]}({each.name})" for each in operands if each.kind != "numbers"]
    if row.mnemonic in ("max_pool", "avg_pool"):
        lines.append("kernel = list(kernel)")
    attributes = {each.name: attribute(row, each) for each in row.arguments if each not in operands}
    if entry_list(row):
        # The list is written first: its numbers are operands.
        lines.append("dynamic: list[Value] = []")
        lines.append(f"{entry_list(row)}_text = {attributes[entry_list(row)]}")
        attributes[entry_list(row)] = f"{entry_list(row)}_text"
    listed = ", ".join(each.name for each in operands)
    if row.mnemonic == "iota":
        lines.insert(0, "size = count")
        lines.append("result_type = result_type or build.iota_type(size, dtype, start)")
    extra = ", grouped=True" if row.is_grouped else ""
    if row.mnemonic in NEEDS_DTYPE and row.mnemonic != "iota":
        extra += ", dtype=dtype"
    many = len(row.results) != 1
    extra += ", result_types=result_types" if many else ", result_type=result_type"
    call = "several" if many else "single"
    single_line = "{" + ", ".join(f'"{key}": {value}' for key, value in attributes.items()) + "}"
    line = f'return build.{call}("{row.mnemonic}", [{listed}], {single_line}{extra})'
    if len(line) + 4 <= WIDTH:
        return [*lines, line]
    lines += ["attributes = {", *(f'    "{key}": {value},' for key, value in attributes.items()), "}"]
    return [*lines, f'return build.{call}("{row.mnemonic}", [{listed}], attributes{extra})']


HEADER = '''"""Ops of the dialect: {family}.

Made by docs/ops_module.py from {source}. Do not edit; run `make docs`.
"""

from __future__ import annotations

{imports}
'''


def module(family: str, members: list[OpRow]) -> str:
    functions = "\n".join(
        "\n".join(["", "", signature(row), docstring(row), *(f"    {line}" for line in body(row))]) for row in members
    )
    imports = ["from collections.abc import Sequence", ""] if "Sequence[" in functions else []
    imports.append("from ingot import _build as build")
    used = [name for name in ("Number", "Operand") if f": {name}" in functions or f"[{name}" in functions]
    imports.append(f"from ingot._build import {', '.join(used)}")
    names = [name for name in ("DTypeLike", "Type", "Value") if name in functions.replace("result_type", "")]
    imports.append(f"from ingot.ir import {', '.join(names)}")
    source = SOURCE if not members else f"src/dialect/{family.title() if family != 'core' else ''}Ops.td"
    return HEADER.format(family=family, source=source, imports="\n".join(imports)).rstrip("\n") + functions + "\n"


def index(families: dict[str, list[OpRow]]) -> str:
    lines = [
        '"""Every op of the dialect by family. Made by docs/ops_module.py; do not edit, run `make docs`."""',
        "",
        "from __future__ import annotations",
        "",
    ]
    names: list[str] = []
    for family, members in sorted(families.items()):
        mine = sorted(RENAMED.get(row.mnemonic, row.mnemonic) for row in members)
        names += mine
        lines += [f"from ingot.ops._{family} import (", *(f"    {name}," for name in mine), ")"]
    lines += ["", "__all__ = [", *(f'    "{name}",' for name in sorted(names)), "]"]
    return "\n".join(lines) + "\n"


def files() -> dict[str, str]:
    """Path below the repository, and content, of every module."""
    families: dict[str, list[OpRow]] = {}
    for row in rows():
        families.setdefault(row.family, []).append(row)
    made = {f"{PACKAGE}/_{family}.py": module(family, members) for family, members in families.items()}
    made[f"{PACKAGE}/_all.py"] = index(families)
    return {path: formatted(text) for path, text in made.items()}


def formatted(text: str) -> str:
    """As `make format` would leave it."""
    ruff = [str(Path(sys.executable).with_name("ruff"))]
    config = ["--config", str(ROOT / "pyproject.toml"), "--stdin-filename", "generated.py", "-"]
    for command in (["check", "-q", "--fix", "--exit-zero"], ["format", "-q"]):
        text = subprocess.run([*ruff, *command, *config], input=text, capture_output=True, text=True, check=True).stdout
    return text


if __name__ == "__main__":
    for name, content in files().items():
        path = ROOT / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
        print(name)
