"""Weights from checkpoints of all kinds, and from names that differ by a prefix."""

from __future__ import annotations

import json
import os
from pathlib import Path

import ingot
import pytest
import torch
from extracting import run
from safetensors.torch import save_file
from support import assert_close

STATE = {"a.weight": torch.randn(2, 3), "a.bias": torch.randn(2), "steps": torch.tensor(3)}


def same(found: dict[str, torch.Tensor], expected: dict[str, torch.Tensor] = STATE) -> None:
    assert found.keys() == expected.keys()
    assert all(torch.equal(found[name], expected[name]) and found[name].dtype == expected[name].dtype for name in found)


@pytest.mark.parametrize("name", ["w.safetensors", "w.pt", "w.pth", "w.bin", "w.ckpt"])
def test_files(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    if path.suffix == ".safetensors":
        save_file(STATE, path)
        same(ingot.load_weights_safetensors(path))
    else:
        torch.save(STATE, path)
        same(ingot.load_weights_pt(path))
    same(ingot.load_weights(str(path)))


def test_checkpoints_of_training_scripts(tmp_path: Path) -> None:
    torch.save({"epoch": 3, "state_dict": STATE}, tmp_path / "w.pt")
    same(ingot.load_weights(tmp_path / "w.pt"))
    torch.save(STATE, tmp_path / "old.pt", _use_new_zipfile_serialization=False)
    same(ingot.load_weights(tmp_path / "old.pt"))


@pytest.mark.parametrize("suffix", ["safetensors", "bin"])
def test_shards(suffix: str, tmp_path: Path) -> None:
    stem = "model" if suffix == "safetensors" else "pytorch_model"
    parts = [{"a.weight": STATE["a.weight"]}, {name: STATE[name] for name in ("a.bias", "steps")}]
    files: dict[str, str] = {}
    for index, part in enumerate(parts):
        file = f"{stem}-{index}.{suffix}"
        save_file(part, tmp_path / file) if suffix == "safetensors" else torch.save(part, tmp_path / file)
        files |= dict.fromkeys(part, file)
    index = tmp_path / f"{stem}.{suffix}.index.json"
    index.write_text(json.dumps({"metadata": {}, "weight_map": files}))
    same(ingot.load_weights(index))
    same(ingot.load_weights(tmp_path))
    index.write_text(json.dumps({"weight_map": {"a.weight": "../model-0.safetensors"}}))
    with pytest.raises(ingot.WeightLoadError, match="not beside"):
        ingot.load_weights(index)
    index.write_text(json.dumps({"weight_map": {"z": f"{stem}-0.{suffix}"}}))
    with pytest.raises(ingot.WeightLoadError, match="'z'"):
        ingot.load_weights(index)


def test_errors(tmp_path: Path) -> None:
    for load in (ingot.load_weights, ingot.load_weights_pt, ingot.load_weights_safetensors):
        with pytest.raises(ingot.WeightLoadError, match="not found"):
            load(tmp_path / "none.pt")
    for name in ("bad.pt", "bad.safetensors"):
        (tmp_path / name).write_bytes(b"nothing that anybody could read")
        with pytest.raises(ingot.WeightLoadError) as caught:
            ingot.load_weights(tmp_path / name)
        assert caught.value.__cause__ is not None
    (tmp_path / "bad.xyz").write_bytes(b"nothing")
    with pytest.raises(ingot.WeightLoadError, match=r"Unknown weight file format: \.xyz.*safetensors"):
        ingot.load_weights(tmp_path / "bad.xyz")
    torch.save([1, 2], tmp_path / "list.pt")
    with pytest.raises(ingot.WeightLoadError, match="dict"):
        ingot.load_weights(tmp_path / "list.pt")
    with pytest.raises(ingot.WeightLoadError, match="no weights in the folder"):
        (tmp_path / "empty").mkdir()
        ingot.load_weights(tmp_path / "empty")


SHARDS = ("", "..", "a/b", "i.index.json", "x" * 5000)


@pytest.mark.parametrize(
    "text", ["[" * 100_000, "{", "[]", *(f'{{"weight_map": {{"a": "{file}"}}}}' for file in SHARDS)], ids=range(8)
)
def test_hostile_indices(text: str, tmp_path: Path) -> None:
    index = tmp_path / "i.index.json"
    index.write_text(text)
    with pytest.raises(ingot.WeightLoadError, match="no index of shards"):
        ingot.load_weights(index)


def test_pipes_are_not_waited_for(tmp_path: Path) -> None:
    for name in ("w.safetensors", "w.pt", "w.index.json"):
        os.mkfifo(tmp_path / name)
        with pytest.raises(ingot.WeightLoadError, match="no plain file"):
            ingot.load_weights(tmp_path / name)


class Evil:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return (print, ("ran code",))


def test_loading_never_runs_code(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    torch.save({"a": Evil()}, tmp_path / "evil.pt")
    with pytest.raises(ingot.WeightLoadError):
        ingot.load_weights(tmp_path / "evil.pt")
    assert "ran code" not in capsys.readouterr().out


def test_prefixes_and_dtypes(tmp_path: Path) -> None:
    save_file({f"model.{name}": tensor for name, tensor in STATE.items()}, tmp_path / "w.safetensors")
    same(ingot.load_weights(tmp_path / "w.safetensors", strip_prefix="model."))
    added = ingot.load_weights(tmp_path / "w.safetensors", add_prefix="x.", dtype=torch.bfloat16)
    assert added["x.model.a.weight"].dtype == torch.bfloat16 and added["x.model.steps"].dtype == torch.int64


@pytest.mark.parametrize("prefix", ["module.", "model.language_model."])
@pytest.mark.parametrize("is_added", [True, False])
def test_prefixes_are_found(prefix: str, is_added: bool) -> None:
    model = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Linear(3, 2))
    for part in reversed(prefix.strip(".").split(".")) if not is_added else ():
        model = torch.nn.Sequential(__import__("collections").OrderedDict({part: model}))
    x = torch.randn(2, 3)
    ir = ingot.extract_ir(model, (x,), strict=False)
    state = model.state_dict()
    if is_added:
        state = {prefix + name: tensor for name, tensor in state.items()}
    else:
        state = {name.removeprefix(prefix): tensor for name, tensor in state.items()}
    assert_close(run(ir, (x,), state)[0], model(x), 1e-5)


def test_validation_against_a_graph() -> None:
    model = torch.nn.Linear(3, 2)
    ir = ingot.extract_ir(model, (torch.randn(1, 3),), strict=False)
    assert ingot.validate_weights_against_ir(model.state_dict(), ir) == []
    assert ingot.validate_weights_against_ir({"weight": torch.zeros(2, 4).half()}, ir) == [
        "Missing weights: {'bias'}",
        "Shape mismatch for 'weight': expected (2, 3), got (2, 4)",
        "Dtype mismatch for 'weight': expected float32, got float16",
    ]


def test_from_a_file(tmp_path: Path) -> None:
    model, x = torch.nn.Linear(3, 2), torch.randn(1, 3)
    ir = ingot.extract_ir(model, (x,), strict=False)
    save_file(model.state_dict(), tmp_path / "w.safetensors")
    assert_close(run(ir, (x,), weights_path=tmp_path / "w.safetensors")[0], model(x), 1e-6)
    executor = ingot.IRExecutor(ir)
    executor.load_weights(tmp_path / "w.safetensors")
    assert_close(executor.execute((x,))[0], model(x), 1e-6)
    save_file({name: tensor.half() for name, tensor in model.state_dict().items()}, tmp_path / "half.safetensors")
    executor.load_weights(tmp_path / "half.safetensors", dtype=torch.float32)
    assert_close(executor.execute((x,))[0], model.half().float()(x), 1e-5)
