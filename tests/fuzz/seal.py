"""The checksums of assets, so that a changed file is refused for what is in it and not for its checksum."""

from __future__ import annotations

import ctypes
import json
from pathlib import Path
from typing import Any


class _Hash(ctypes.Structure):
    _fields_ = (("low", ctypes.c_uint64), ("high", ctypes.c_uint64))


_xxhash = ctypes.CDLL("libxxhash.so.0")
_xxhash.XXH3_128bits.restype = _Hash
_xxhash.XXH3_128bits.argtypes = (ctypes.c_char_p, ctypes.c_size_t)


def checksum(data: bytes) -> str:
    value = _xxhash.XXH3_128bits(data, len(data))
    return f"{value.high:016x}{value.low:016x}"


def _listed(folder: Path, files: Any) -> None:
    """Writes size and checksum of every listed file that is there."""
    if not isinstance(files, dict):
        return
    present = {path.name: path for path in folder.iterdir() if path.is_file()}
    for name, entry in files.items():
        if isinstance(entry, dict) and name in present:
            data = present[name].read_bytes()
            entry.update(size=len(data), xxh3_128=checksum(data))


def seal_manifest(folder: Path, manifest: Any) -> bytes:
    """The text of a manifest whose checksums are right for what lies in `folder`."""
    if not isinstance(manifest, dict):
        return json.dumps(manifest).encode()
    _listed(folder, manifest.get("files"))
    manifest.pop("checksum", None)
    body = json.dumps(manifest, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "replace")
    manifest["checksum"] = checksum(body)
    return json.dumps(manifest, sort_keys=True, ensure_ascii=False).encode("utf-8", "replace")


def load(path: Path) -> Any:
    """The document in a file; None if it is none."""
    try:
        return json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        return None


def seal_asset(folder: Path) -> None:
    """Makes the checksums of the asset in `folder`, and of its cache, right again as far as it can be read."""
    path = folder / "manifest.json"
    manifest = load(path)
    if manifest is not None:
        path.write_bytes(seal_manifest(folder, manifest))
    for meta_path in folder.glob("cache/*/meta.json"):
        meta = load(meta_path)
        if not isinstance(meta, dict):
            continue
        _listed(meta_path.parent, meta.get("files"))
        meta["program"] = checksum((folder / "program.mlirbc").read_bytes())
        meta_path.write_text(json.dumps(meta))
