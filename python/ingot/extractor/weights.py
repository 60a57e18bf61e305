"""Weights from checkpoints, whole or in shards, and how their names fit a graph's."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import torch

from ingot.errors import WeightLoadError
from ingot.extractor._values import dtype_name
from ingot.extractor.document import IR

_TORCH_SUFFIXES = (".pt", ".pth", ".bin")
_IN_FOLDERS = (
    "model.safetensors.index.json",
    "model.safetensors",
    "pytorch_model.bin.index.json",
    "pytorch_model.bin",
)
_WRAPPERS = ("state_dict", "model_state_dict")
"""Keys under which training scripts keep the state dict."""


def load_weights(
    path: str | os.PathLike[str],
    *,
    dtype: torch.dtype | None = None,
    strip_prefix: str = "",
    add_prefix: str = "",
) -> dict[str, torch.Tensor]:
    """The tensors of a .safetensors, .pt, .pth or .bin file, of the shards that an index JSON names, or of a folder.

    Files are mapped where they can be, and never run code. `dtype` converts floating-point tensors; `strip_prefix` is
    removed from the keys that have it, `add_prefix` put before all.
    """
    path = Path(path)
    if not path.exists():
        raise WeightLoadError(f"Weight file not found: {path}")
    weights = _load(path)
    if strip_prefix:
        weights = {name.removeprefix(strip_prefix): tensor for name, tensor in weights.items()}
    if add_prefix:
        weights = {add_prefix + name: tensor for name, tensor in weights.items()}
    if dtype is not None:
        weights = {name: _converted(tensor, dtype) for name, tensor in weights.items()}
    return weights


def _load(path: Path) -> dict[str, torch.Tensor]:
    if path.is_dir():
        found = next((path / name for name in _IN_FOLDERS if (path / name).exists()), None)
        if found is None:
            raise WeightLoadError(f"no weights in the folder {path}; looked for {', '.join(_IN_FOLDERS)}")
        return _load(found)
    if path.suffix == ".safetensors":
        return load_weights_safetensors(path)
    if path.suffix in _TORCH_SUFFIXES:
        return load_weights_pt(path)
    if path.suffix == ".json":
        return _load_shards(path)
    try:
        return load_weights_pt(path)
    except WeightLoadError as error:
        supported = ", ".join((".safetensors", *_TORCH_SUFFIXES, ".index.json"))
        raise WeightLoadError(f"Unknown weight file format: {path.suffix or path}. Supported: {supported}") from error


def load_weights_pt(path: str | os.PathLike[str]) -> dict[str, torch.Tensor]:
    """The tensors of a file that torch.save wrote: a state dict, or a checkpoint that holds one."""
    path = _existing(path)
    try:
        loaded = _torch_load(path)
    except Exception as error:
        raise WeightLoadError(f"Failed to load weights from {path}: {error}") from error
    for _ in _WRAPPERS:
        for key in _WRAPPERS:
            if isinstance(loaded, Mapping) and isinstance(loaded.get(key), Mapping):
                loaded = loaded[key]
    if not isinstance(loaded, Mapping):
        raise WeightLoadError(f"Failed to load weights from {path}: a dict is needed, not a {type(loaded).__name__}")
    return {str(name): tensor.detach() for name, tensor in loaded.items() if isinstance(tensor, torch.Tensor)}


def _torch_load(path: Path) -> Any:
    try:
        return torch.load(path, map_location="cpu", weights_only=True, mmap=True)
    except RuntimeError:  # files of the older format cannot be mapped
        return torch.load(path, map_location="cpu", weights_only=True)


def load_weights_safetensors(path: str | os.PathLike[str]) -> dict[str, torch.Tensor]:
    """The tensors of a .safetensors file, mapped."""
    try:
        from safetensors import safe_open
    except ImportError as error:
        raise ImportError("safetensors is needed to read .safetensors files: pip install safetensors") from error
    path = _existing(path)
    try:
        with safe_open(path, framework="pt", device="cpu") as file:
            return {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118, it is no dict
    except Exception as error:
        raise WeightLoadError(f"Failed to load weights from {path}: {error}") from error


def _load_shards(index: Path) -> dict[str, torch.Tensor]:
    try:
        shards: dict[str, str] = json.loads(_existing(index).read_text(encoding="utf-8"))["weight_map"]
        files = {name: _beside(index, file) for name, file in shards.items()}
    except (ValueError, KeyError, TypeError, AttributeError, OSError, RecursionError) as error:
        raise WeightLoadError(f"{index} is no index of shards: {error}") from error
    weights: dict[str, torch.Tensor] = {}
    for file in dict.fromkeys(files.values()):
        loaded = load_weights(file)
        missing = [name for name, place in files.items() if place == file and name not in loaded]
        if missing:
            raise WeightLoadError(f"the index {index} places '{missing[0]}' in {file.name}, which does not have it")
        weights |= {name: loaded[name] for name, place in files.items() if place == file}
    return weights


def _beside(index: Path, file: str) -> Path:
    if Path(file).name != file or file == "..":
        raise ValueError(f"shard '{file}' is not beside it")
    if file.endswith(".json"):
        raise ValueError(f"shard '{file}' is an index itself")
    return _existing(index.with_name(file))


def _existing(path: str | os.PathLike[str]) -> Path:
    if not Path(path).exists():
        raise WeightLoadError(f"Weight file not found: {path}")
    if not Path(path).is_file():  # reading a pipe might never end
        raise WeightLoadError(f"Weight file is no plain file: {path}")
    return Path(path)


def _converted(tensor: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    return tensor.to(dtype) if tensor.is_floating_point() else tensor


def fitted_to(weights: Mapping[str, torch.Tensor], ir: IR) -> dict[str, torch.Tensor]:
    """The weights under the names of the graph.

    A prefix that all of the graph's names have and the checkpoint's lack, or the other way round, is added or removed;
    a tied weight that the checkpoint holds once is there under all of its names.
    """
    wanted = [weight.name for weight in ir.weights if weight.name not in ir.constants and weight.same_as is None]
    rename = _renaming(wanted, weights) or (lambda name: name)
    fitted = dict(weights)
    for weight in ir.weights:
        if rename(weight.name) in weights:
            fitted[weight.name] = weights[rename(weight.name)]
    one_of_each = {weight.same_as or weight.name: weight.name for weight in ir.weights if weight.name in fitted}
    for weight in ir.weights:
        held = one_of_each.get(weight.same_as or weight.name)
        if weight.name not in fitted and held is not None:
            fitted[weight.name] = fitted[held]
    return fitted


def _renaming(wanted: Iterable[str], weights: Mapping[str, Any]) -> Callable[[str], str] | None:
    """From the graph's names to the checkpoint's, if they differ by a prefix of all."""
    wanted = list(wanted)
    missing = next((name for name in wanted if name not in weights), None)
    if missing is None:
        return None
    for key in weights:
        if key.endswith(f".{missing}"):
            prefix = key.removesuffix(missing)
            if all(prefix + name in weights for name in wanted):
                return lambda name: prefix + name
        elif missing.endswith(f".{key}"):
            extra = missing.removesuffix(key)
            if all(name.startswith(extra) and name.removeprefix(extra) in weights for name in wanted):
                return lambda name: name.removeprefix(extra)
    return None


def validate_weights_against_ir(weights: Mapping[str, torch.Tensor], ir: IR) -> list[str]:
    """What is wrong with the weights: missing ones, other shapes, other dtypes. Empty if they fit."""
    problems: list[str] = []
    missing = {
        weight.name
        for weight in ir.weights
        if weight.name not in weights and weight.name not in ir.constants and weight.same_as not in weights
    }
    if missing:
        problems.append(f"Missing weights: {missing}")
    for weight in ir.weights:
        if weight.name in weights:
            problems += _mismatches(weight, weights[weight.name])
    return problems


def _mismatches(weight: Any, tensor: torch.Tensor) -> list[str]:
    problems = []
    if tuple(tensor.shape) != tuple(weight.shape):
        problems.append(
            f"Shape mismatch for '{weight.name}': expected {tuple(weight.shape)}, got {tuple(tensor.shape)}"
        )
    if dtype_name(tensor.dtype) != weight.dtype:
        problems.append(f"Dtype mismatch for '{weight.name}': expected {weight.dtype}, got {dtype_name(tensor.dtype)}")
    return problems
