"""Constants in graph documents: small ones as nested lists, large ones in a safetensors file beside the document."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

from ingot.errors import SerializationError
from ingot.extractor._values import dtype_name, dtype_of

INLINE_ELEMENTS = 1024


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary path whose file takes the place of `path` when everything went well. Links are followed; what is
    neither a file nor a link to one is written to as it is."""
    if path.is_dir():
        raise SerializationError(f"cannot write to '{path}': it is a folder")
    if path.exists() and not path.is_file():
        yield path
        return
    path = path.resolve()
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    os.close(handle)
    try:
        yield Path(name)
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(name, 0o666 & ~mask)  # as a file that `open` makes
        os.replace(name, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name)
        raise


def encode_constant(tensor: torch.Tensor) -> dict[str, Any]:
    plain = tensor.detach().cpu()
    return {"data": _nested(plain), "dtype": dtype_name(tensor.dtype), "shape": list(tensor.shape)}


def encode_constants(constants: dict[str, torch.Tensor], side_file: str = "") -> tuple[dict[str, Any], dict[str, Any]]:
    """The document's entries, and the tensors that go into the side file (none without one)."""
    entries: dict[str, Any] = {}
    large: dict[str, torch.Tensor] = {}
    for name, tensor in constants.items():
        if side_file and tensor.numel() > INLINE_ELEMENTS:
            entries[name] = {"dtype": dtype_name(tensor.dtype), "shape": list(tensor.shape)}
            entries[name] |= {"file": side_file, "key": name}
            large[name] = tensor.detach().cpu().contiguous().clone()
        else:
            entries[name] = encode_constant(tensor)
    return entries, large


def write_side_file(path: Path, tensors: dict[str, torch.Tensor]) -> None:
    from safetensors.torch import save_file

    with replacing(path) as temporary:
        save_file(tensors, temporary)


def decode_constant(name: str, entry: Any, folder: Path | None = None) -> torch.Tensor:
    if isinstance(entry, torch.Tensor):
        return entry
    if "file" in entry:
        return _from_side_file(name, entry, folder)
    dtype = dtype_of(entry["dtype"])
    data = _numbers(entry["data"])
    if dtype.is_complex:
        flat = torch.tensor(data, dtype=torch.float64)
        tensor = torch.view_as_complex(flat.reshape(*flat.shape[:-1], 2) if flat.numel() else flat.reshape(0, 2))
        tensor = tensor.to(dtype)
    elif dtype.is_floating_point:
        tensor = torch.tensor(data, dtype=torch.float64).to(dtype)
    else:
        tensor = torch.tensor(data, dtype=dtype)
    return tensor.reshape(entry["shape"]) if "shape" in entry else tensor


def _from_side_file(name: str, entry: dict[str, Any], folder: Path | None) -> torch.Tensor:
    file = Path(entry["file"])
    if file.name != entry["file"] or entry["file"] in ("", ".", ".."):
        raise SerializationError(
            f"Invalid IR format: constant '{name}' lies in '{file}', which is not beside the document"
        )
    if folder is None:
        raise SerializationError(
            f"Invalid IR format: constant '{name}' lies in '{file}'; load the document from its file"
        )
    from safetensors import safe_open

    if not (folder / file).is_file():
        raise SerializationError(f"constant '{name}' lies in '{folder / file}', which is missing")
    with safe_open(folder / file, framework="pt") as tensors:
        key = entry.get("key", name)
        if key not in tensors.keys():  # noqa: SIM118, it is no dict
            raise SerializationError(f"constant '{name}' is not in '{folder / file}'")
        tensor = tensors.get_tensor(key)
    if dtype_name(tensor.dtype) != entry["dtype"] or list(tensor.shape) != list(entry.get("shape", tensor.shape)):
        raise SerializationError(
            f"constant '{name}' in '{folder / file}' has another dtype or shape than the document says"
        )
    return tensor


def _nested(tensor: torch.Tensor) -> Any:
    if tensor.is_complex():
        return _nested(torch.view_as_real(tensor.resolve_conj()))
    if not tensor.is_floating_point():
        return tensor.tolist()
    values = tensor.double()
    return values.tolist() if bool(values.isfinite().all()) else _with_names(values.tolist())


def _with_names(value: Any) -> Any:
    """Special numbers as strings, which JSON can hold."""
    if isinstance(value, list):
        return [_with_names(item) for item in value]
    return value if value - value == 0 else str(value)


def _numbers(value: Any) -> Any:
    if isinstance(value, list):
        return [_numbers(item) for item in value]
    return float(value) if isinstance(value, str) else value
