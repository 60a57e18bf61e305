#!/usr/bin/env python3
"""Who may know whom: by the includes of the sources, and by what the built libraries load.

- Folders include only the folders named in ALLOWED (and themselves).
- MLIR and LLVM headers appear only in the compiler's folders; PyTorch's only in src/fallback/libtorch;
  oneDNN's only in src/runtime/dnnl.
- libingot_runtime.so and the `ingot` program load, directly or not, no MLIR, LLVM, oneDNN, PyTorch or
  Python.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import repo

# Folders of src/ that a folder may include besides itself. The rest, the compiler's folders, are free among each other.
ALLOWED: dict[str, set[str]] = {
    "base": set(),
    "threads": set(),
    "plugins": {"base"},
    "pt2": {"base"},
    "graph": {"base", "pt2"},
    "asset": {"base"},
    "runtime": {"base", "asset", "fallback", "threads"},
    "fallback": {"base"},
    "dialect": {"base"},
    "verify": {"base", "pt2", "asset"},
}
COMPILER = {"dialect", "import", "lower", "passes", "pipeline", "codegen", "compiler"}

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*[<"]([^>"]+)[>"]', re.MULTILINE)
MLIR = re.compile(r"^(mlir|llvm|lld|clang)(-c)?/")
TORCH = re.compile(r"^(torch|ATen|c10|caffe2)/")
ONEDNN = re.compile(r"^oneapi/")
FORBIDDEN_LIBRARY = re.compile(r"^lib(MLIR|LLVM|lld|clang|torch|c10|python|ingdnn|dnnl)", re.IGNORECASE)
STANDALONE = ("lib/libingot_runtime.so", "bin/ingot")


def layer(path: Path) -> str:
    """src/pt2/Archive.cpp -> pt2; tools/main.cpp -> tools."""
    return path.parts[1] if path.parts[0] == "src" else path.parts[0]


def may_use_mlir(path: Path) -> bool:
    return layer(path) in COMPILER or path.stem.startswith(("ingot-opt", "IngotOpt")) or "ingot-opt" in path.parts


def source_problems(path: Path, source: str) -> list[str]:
    here, folders = layer(path), {folder.name for folder in (repo.ROOT / "src").iterdir() if folder.is_dir()}
    found = []
    for include in INCLUDE.findall(source):
        top = include.split("/")[0]
        if MLIR.match(include) and not may_use_mlir(path):
            found.append(f"{path}: {include}: MLIR and LLVM belong to the compiler's folders")
        if ONEDNN.match(include) and path.parts[:3] != ("src", "runtime", "dnnl"):
            found.append(f"{path}: {include}: oneDNN belongs to src/runtime/dnnl")
        if TORCH.match(include) and path.parts[:3] != ("src", "fallback", "libtorch"):
            found.append(f"{path}: {include}: PyTorch belongs to src/fallback/libtorch")
        crosses = "/" in include and top in folders and top != here
        if crosses and here in ALLOWED and top not in ALLOWED[here] and "test" not in path.parts:
            allowed = ", ".join(sorted(ALLOWED[here])) or "nothing"
            found.append(f"{path}: {include}: src/{here} may include {allowed} besides itself")
        if path.parts[0] == "include" and top in folders:
            found.append(f"{path}: {include}: the public headers include nothing of src/")
    return found


def library_problems(binary: Path) -> list[str]:
    """Everything the loader would bring in, by ldd; `readelf -d` tells whether the binary itself asks for it."""
    direct = subprocess.run(["readelf", "-d", binary], check=True, capture_output=True, text=True).stdout
    loaded = subprocess.run(["ldd", binary], check=True, capture_output=True, text=True).stdout
    found = []
    for line in loaded.splitlines():
        name = Path(line.split()[0]).name
        if "not found" in line:
            found.append(f"{binary.name}: {name} is not found by the loader")
        if FORBIDDEN_LIBRARY.match(name):
            how = "asks for" if f"[{name}]" in direct else "loads, through another library,"
            found.append(f"{binary.name}: {how} {name}")
    return found


def main() -> None:
    problems = []
    for path in repo.files(".h", ".hpp", ".c", ".cpp", ".inc"):
        if path.parts[0] in ("src", "include", "tools", "python"):
            problems += source_problems(path, repo.text(path) or "")
    checked = []
    if "--sources-only" not in sys.argv[1:]:
        for name in STANDALONE:
            binary = repo.ROOT / "build" / name
            if binary.exists():
                problems += library_problems(binary)
                checked.append(binary.name)
    repo.finish("check_layers", problems, f"sources and {', '.join(checked)}" if checked else "sources")


if __name__ == "__main__":
    main()
