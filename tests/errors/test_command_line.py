"""Command lines that are wrong, and files that a command must not write over."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import ingot as ingot_module
import pytest
import torch
from safetensors.torch import load_file
from support import INGOT, export, ingot, refused, run_ingot, save_pt2
from torch.export.pt2_archive._package import package_pt2


class Plain(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, float, str]:
        return x.double(), x > 0, float("inf"), 'a"b\nc'


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_pt2(export(Plain(), (torch.ones(3),)), tmp_path_factory.mktemp("program") / "plain.pt2")


@pytest.fixture(scope="module")
def asset(program: Path) -> Path:
    path = program.with_suffix(".ingot")
    ingot("convert", program, "-o", path)
    return path


def refused_line(*arguments: object) -> str:
    done = run_ingot(*arguments)
    assert done.returncode == 2, done
    return done.stderr


def test_wrong_lines_are_json_too(program: Path) -> None:
    done = run_ingot("convert", program, "--bogus", "--json")
    assert done.returncode == 2
    error = json.loads(done.stdout)["error"]
    assert error["kind"] == "usage"
    assert "--bogus" in error["message"]


def test_unknown_commands_are_named() -> None:
    assert "there is no command 'bogus'" in refused_line("bogus")


@pytest.mark.parametrize(
    "options",
    [
        ("run", "--memory-limit", "-5"),
        ("run", "--random-seed", "-1"),
        ("run", "--random-seed", "18446744073709551616"),
        ("bench", "--warm-up", "-1"),
        ("bench", "--seconds", "nan"),
        ("bench", "--threads", "0"),
        ("profile", "--rows", "-1"),
        ("verify", "--rtol", "-1"),
        ("verify", "--atol", "nan"),
    ],
    ids=" ".join,
)
def test_numbers_that_are_none(asset: Path, options: tuple[str, str, str]) -> None:
    command, *rest = options
    message = refused_line(command, asset, *rest)
    assert rest[0] in message
    assert "E+" not in message and "e+3" not in message, "a range that nobody reads"


@pytest.mark.parametrize(
    "command", [("extract", "-o"), ("show", "--html"), ("info", "-o"), ("visualize", "-o")], ids=" ".join
)
def test_models_are_not_written_over(program: Path, asset: Path, command: tuple[str, str], tmp_path: Path) -> None:
    before = program.read_bytes()
    other = tmp_path / "other.pt2"
    other.write_bytes(before)
    for target, words in ((program, "what the command reads"), (other, "an archive"), (tmp_path, "a folder")):
        assert words in refused(command[0], program, command[1], target)
    assert program.read_bytes() == before
    assert other.read_bytes() == before


def test_outputs_leave_what_is_read_and_what_is_no_file(asset: Path, tmp_path: Path) -> None:
    weights = (asset / "weights.safetensors").read_bytes()
    message = refused("run", asset, "--random-seed", 1, "--outputs", asset / "weights.safetensors")
    assert "what the command reads" in message
    assert (asset / "weights.safetensors").read_bytes() == weights
    ingot("run", asset, "--random-seed", 1, "--outputs", "/dev/null")
    assert Path("/dev/null").is_char_device()
    link = tmp_path / "link.safetensors"
    link.symlink_to(tmp_path / "real.safetensors")
    (tmp_path / "real.safetensors").touch()
    ingot("run", asset, "--random-seed", 1, "--outputs", link)
    assert link.is_symlink()
    assert len(load_file(tmp_path / "real.safetensors")) == 2


class Times(torch.nn.Module):
    def __init__(self, factor: float) -> None:
        super().__init__()
        self.factor = factor

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * self.factor


def test_one_of_several_programs(tmp_path: Path) -> None:
    path, x = tmp_path / "both.pt2", torch.ones(2)
    programs = {name: export(Times(factor), (x,)) for name, factor in (("two", 2.0), ("three", 3.0))}
    package_pt2(path, exported_programs=programs)
    assert "choose one of" in refused("convert", path, "-o", tmp_path / "none.ingot")
    ingot("convert", path, "--program", "three", "-o", tmp_path / "three.ingot")
    assert torch.equal(ingot_module.load(tmp_path / "three.ingot")(x), torch.full((2,), 3.0))
    assert torch.equal(ingot_module.convert(path, program="two")(x), torch.full((2,), 2.0))
    with pytest.raises(ingot_module.UsageError, match="no program 'four'"):
        ingot_module.convert(path, program="four")
    with pytest.raises(ingot_module.UsageError, match="that hold several programs"):
        ingot_module.convert(Times(2.0), (x,), program="two")


def test_weights_belong_to_documents(program: Path, tmp_path: Path) -> None:
    message = refused("convert", program, "--weights", tmp_path / "w.safetensors", "-o", tmp_path / "x.ingot")
    assert "is no graph document" in message


def test_outputs_are_what_other_readers_expect(asset: Path, tmp_path: Path) -> None:
    path = tmp_path / "out.safetensors"
    ingot("run", asset, "--random-seed", "1", "--outputs", path)
    tensors = load_file(path)
    assert sorted(str(tensor.dtype) for tensor in tensors.values()) == ["torch.bool", "torch.float64"]


def test_literals_of_every_kind_are_shown(program: Path, asset: Path) -> None:
    for path in (program, asset):
        shown = json.loads(ingot("show", path, "--json"))
        literals = [port["literal"] for port in shown["entry_points"][0]["outputs"] if "literal" in port]
        assert literals == [{"float": "Infinity"}, 'a"b\nc']


def test_a_reader_that_leaves_leaves_nothing_behind(program: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen([INGOT, "extract", program], stdout=subprocess.PIPE, env=environment) as process:
        assert process.stdout is not None
        process.stdout.close()
        process.wait()
    assert list(tmp_path.iterdir()) == []
