#!/usr/bin/env python3
"""Files have at most 600 lines; functions should have at most 50 and must not have more than 100.

Tables of rows (.inc, .td, .txt) are exempt. `-v` lists the functions between the two limits.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator

import cpp_scan
import repo

FILE_LIMIT = 600
FUNCTION_GOAL = 50
FUNCTION_LIMIT = 100
CPP = (".h", ".hpp", ".c", ".cpp")


def python_functions(source: str) -> Iterator[cpp_scan.Function]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield cpp_scan.Function(node.name, node.lineno, (node.end_lineno or node.lineno) - node.lineno + 1)


def main() -> None:
    problems, long, count = [], [], 0
    for path in repo.files(*CPP, ".py"):
        source = repo.text(path)
        if source is None:
            continue
        lines = source.count("\n")
        if lines > FILE_LIMIT:
            problems.append(f"{path}: {lines} lines, the limit is {FILE_LIMIT}: split it by topic")
        for function in python_functions(source) if path.suffix == ".py" else cpp_scan.functions(source):
            count += 1
            where = f"{path}:{function.line}: {function.name} has {function.lines} lines"
            if function.lines > FUNCTION_LIMIT:
                problems.append(f"{where}, the limit is {FUNCTION_LIMIT}")
            elif function.lines > FUNCTION_GOAL:
                long.append(where)
    if "-v" in sys.argv[1:]:
        print("\n".join(long))
    repo.finish("check_sizes", problems, f"{count} functions, {len(long)} of more than {FUNCTION_GOAL} lines")


if __name__ == "__main__":
    main()
