"""A small C++ reader for the size check: finds functions by matching braces, without a compiler."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

# Comments, raw strings, strings and characters. Digits keep their separators (1'000) out of the character rule.
_NOISE = re.compile(
    r"""//[^\n]*|/\*.*?\*/|R"(?P<mark>[^\s()\\]{0,16})\(.*?\)(?P=mark)"|"(?:\\.|[^"\\\n])*"|\b\d[\w.']*|'(?:\\.|[^'\\\n])+'""",
    re.DOTALL,
)
_DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n\\]|\\.)*", re.MULTILINE | re.DOTALL)
_TEMPLATE = re.compile(r"^\s*(?:template\s*<[^{};]*?>\s*(?:requires[^{};]*?\s)?)+(?=\w)")
_SCOPE = re.compile(
    r"^\s*(?:(?:public|private|protected|signals)\s*:\s*)*(?:inline\s+)?(?:namespace|extern|class|struct|union|enum)\b"
)
_MEMBER_INIT = re.compile(r"\)\s*(?:noexcept\b[^:{]*)?:(?!:)(?:.*[,\s])?[\w:<>]+\s*$|,\s*[\w:<>]+\s*$", re.DOTALL)


@dataclass(frozen=True)
class Function:
    name: str
    line: int
    lines: int


def _blank(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", match.group())


def _keep_numbers(match: re.Match[str]) -> str:
    return match.group() if match.group()[0].isdigit() else _blank(match)


def _is_function(header: str) -> bool:
    header = _TEMPLATE.sub("", header)
    if _SCOPE.match(header) or "(" not in header:
        return False
    outside = re.sub(r"\([^()]*\)", "", re.sub(r"\([^()]*\)", "", header))
    return "operator" in outside or not re.search(r"(?<![=!<>])=(?!=)", outside)


def _name(header: str) -> str:
    found = re.search(r"([~\w:]+|operator\s*\S+?)\s*\(", header)
    return found.group(1) if found else "?"


def functions(source: str) -> Iterator[Function]:
    """Every function that is not inside another one; lambdas and local classes count as lines of their function."""
    code = _DIRECTIVE.sub(_blank, _NOISE.sub(_keep_numbers, source))
    depth = 0  # braces open inside the current function or initialiser
    kind = ""  # "function" or "data" while inside one
    header, start, name = "", 1, ""
    line = 1
    for char in code:
        if depth:
            depth += (char == "{") - (char == "}")
            if depth == 0:
                if kind == "function":
                    yield Function(name, start, line - start + 1)
                header = "" if kind == "function" else header + "{}"
        elif char == "{":
            in_member_list = "(" in header and _MEMBER_INIT.search(header) is not None and ":" in header
            if not in_member_list and _is_function(header):
                kind, depth, name = "function", 1, _name(header)
            elif in_member_list or not _SCOPE.match(_TEMPLATE.sub("", header)):
                kind, depth = "data", 1
            else:
                header = ""
        elif char in ";}":
            header = ""
        else:
            if not header.strip() and not char.isspace():
                header, start = "", line
            header += char
        line += char == "\n"
