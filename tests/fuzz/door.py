"""The Python package on hostile files, each in a process of its own: python -m fuzz.door FILE."""

from __future__ import annotations

import json
import sys
import traceback
from pathlib import Path
from typing import Any

import ingot
import numpy as np
from ingot.asset import Asset
from ingot.extractor import load_ir

KINDS = {
    ingot.UsageError: "usage", ingot.CorruptFileError: "corrupt", ingot.UnsupportedError: "unsupported",
    ingot.AssetIOError: "io", ingot.SerializationError: "corrupt",
}  # fmt: skip


def some_input(port: ingot.Port) -> Any:
    if port.is_literal:
        return port.literal
    shape = [size if isinstance(size, int) else 2 for size in port.shape]
    if np.prod([max(size, 1) for size in shape], dtype=float) > 1e7:
        raise ingot.UsageError("too large to be tried")
    name = port.dtype if port.dtype in np.sctypeDict else "float32"
    array = np.ones(shape, name)
    return array.item() if port.is_scalar else array


def use_asset(path: Path) -> None:
    asset = Asset(path)
    _ = asset.is_valid, asset.metadata, asset.function_names
    program = ingot.load(path, time_limit=10)
    for entry in program.entry_points:
        str(entry)
        program.run_entry(entry.name, **{port.name: some_input(port) for port in entry.inputs})
        program.session().run_entry(entry.name, **{port.name: some_input(port) for port in entry.inputs})
    str(program)


def use(path: Path) -> int:
    """As `ingot --json` does: 0 if all went well, 1 after an error of a known kind; 3 after anything else."""
    try:
        if path.is_dir():
            use_asset(path)
        else:
            load_ir(path)
    except tuple(KINDS) as error:
        kind = next(name for family, name in KINDS.items() if isinstance(error, family))
        print(json.dumps({"error": {"kind": kind}}))
        print(f"error: {error}", file=sys.stderr)
        return 1
    except BaseException:
        traceback.print_exc()
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(use(Path(sys.argv[1])))
