"""Weights that kernels have packed are kept in the cache of an asset."""

from __future__ import annotations

import concurrent.futures
import mmap
import os
import subprocess
import sys
from pathlib import Path

import ingot
import pytest
import torch


class Layers(torch.nn.Module):
    """Products, a convolution in Winograd's form, one with what is folded into it, and weights that are used twice."""

    def __init__(self) -> None:
        super().__init__()
        self.wide = torch.nn.Conv2d(64, 128, 3, padding=1, bias=False)
        self.norm = torch.nn.BatchNorm2d(128)
        self.narrow = torch.nn.Conv2d(128, 64, 1)
        self.linear = torch.nn.Linear(64, 512)
        self.back = torch.nn.Linear(512, 512)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.narrow(torch.relu(self.norm(self.wide(x)))).flatten(2).transpose(1, 2)
        return self.back(torch.nn.functional.gelu(self.back(self.linear(y))))


@pytest.fixture(scope="module")
def example() -> tuple[torch.nn.Module, torch.Tensor]:
    torch.manual_seed(0)
    return Layers().eval(), torch.randn(2, 64, 14, 14)


@pytest.fixture
def asset(example: tuple[torch.nn.Module, torch.Tensor], tmp_path: Path) -> Path:
    module, x = example
    path = tmp_path / "m.ingot"
    ingot.convert(module, (x,), dynamic_shapes=({0: torch.export.Dim.AUTO},)).save_asset(path)
    return path


def packed_file(asset: Path) -> Path:
    (found,) = asset.glob("cache/*/packed.bin")
    return found


def test_later_loads_give_the_same(example: tuple[torch.nn.Module, torch.Tensor], asset: Path) -> None:
    module, x = example
    first = ingot.load(asset)(x)
    torch.testing.assert_close(first, module(x), rtol=1e-4, atol=1e-5)
    written = packed_file(asset).stat().st_mtime_ns
    assert torch.equal(ingot.load(asset)(x), first)
    assert packed_file(asset).stat().st_mtime_ns == written


PEAK = """
import sys
from pathlib import Path
import ingot, numpy
kilobytes = lambda what: int(Path("/proc/self/status").read_text().split(what + ":")[1].split()[0])
x = numpy.ones((int(sys.argv[2]), 1024), numpy.float32)
program = ingot.load(sys.argv[1])
before = kilobytes("VmRSS")
first = program(x)
assert all((program(x) == first).all() for _ in range(3))
print((kilobytes("VmHWM") - before) // 1024)
"""


def keeps_large_pages(path: Path) -> bool:
    """Whether the system maps files that were written in large pieces by large pages."""
    path.write_bytes(b"x" * (1 << 24))
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as mapped:
        assert set(mapped[:: 1 << 12]) == {ord("x")}
        lines = Path("/proc/self/smaps").read_text().split(str(path))[1].splitlines()
        return any(line.startswith("FilePmdMapped") and int(line.split()[1]) >= 1 << 13 for line in lines[:30])


def save_layers(asset: Path) -> Path:
    """With 96 MiB of weights, for any number of rows."""
    module = torch.nn.Sequential(*(torch.nn.Linear(1024, 1024) for _ in range(24)))
    shapes = ({0: torch.export.Dim("rows", min=1, max=4096)},)
    ingot.convert(module, (torch.ones(64, 1024),), dynamic_shapes=shapes).save_asset(asset)
    return asset


def test_calls_at_the_same_time_take_weights_out_of_each_others_hands(tmp_path: Path) -> None:
    """Those with many rows release what the others read, who have it back at once."""
    asset = save_layers(tmp_path / "m.ingot")
    ingot.load(asset)(torch.ones(64, 1024))  # packs them
    program = ingot.load(asset)
    inputs = [torch.randn(rows, 1024) for rows in (1, 64, 200, 64)]
    expected = [program(x) for x in inputs]
    with concurrent.futures.ThreadPoolExecutor(len(inputs)) as pool:
        tasks = [pool.submit(program, inputs[i % len(inputs)]) for i in range(80)]
        results = [task.result() for task in tasks]
    assert all(torch.equal(result, expected[i % len(inputs)]) for i, result in enumerate(results))


def test_weights_leave_the_process_between_products(tmp_path: Path) -> None:
    """A product with many rows takes far longer than its weights need to come and go; one with few rows does not."""
    if not keeps_large_pages(tmp_path / "pages"):
        pytest.skip("this system does not keep files on large pages")
    asset = save_layers(tmp_path / "m.ingot")

    def grown(rows: int, setting: str = "") -> int:
        command = [sys.executable, "-c", PEAK, str(asset), str(rows)]
        environment = {**os.environ, "INGOT_WEIGHTS": setting}
        return int(subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout)

    grown(64)  # packs them
    assert grown(64) < 48
    assert grown(64, "resident") > 80
    assert grown(1) > 80


def test_more_is_added(example: tuple[torch.nn.Module, torch.Tensor], asset: Path) -> None:
    """Kernels for other sizes or another precision may want other forms of the weights: those that were there stay."""
    module, x = example
    first = ingot.load(asset)(x)
    size = packed_file(asset).stat().st_size
    rounded = ingot.load(asset, matmul_precision="medium")(x)
    assert packed_file(asset).stat().st_size >= size
    many = torch.cat([x, x, x])
    for _ in range(2):
        assert torch.equal(ingot.load(asset)(x), first)
        assert torch.equal(ingot.load(asset, matmul_precision="medium")(x), rounded)
        torch.testing.assert_close(ingot.load(asset)(many), module(many), rtol=1e-4, atol=1e-5)


def test_nothing_is_kept_where_nobody_wants_it(
    example: tuple[torch.nn.Module, torch.Tensor], asset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module, x = example
    expected = ingot.load(asset, keep_constants=False)(x)
    assert not list(asset.glob("cache/*/p*.bin"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    program = ingot.convert(module, (x,))
    assert torch.equal(program(x), expected)
    assert list(tmp_path.glob("ingot-*/*.ingot")) and not list(tmp_path.glob("ingot-*/*.ingot/cache/*/p*.bin"))


@pytest.mark.parametrize("damage", ["bit", "cut", "nothing", "folder", "other"])
def test_damaged_files_are_not_used(
    damage: str, example: tuple[torch.nn.Module, torch.Tensor], asset: Path, tmp_path: Path
) -> None:
    _, x = example
    first = ingot.load(asset)(x)
    file = packed_file(asset)
    content = bytearray(file.read_bytes())
    file.unlink()
    if damage == "folder":
        file.mkdir()
    elif damage == "other":
        torch.manual_seed(1)
        ingot.convert(Layers().eval(), (x,)).save_asset(tmp_path / "other.ingot")
        ingot.load(tmp_path / "other.ingot")(x)
        file.write_bytes(packed_file(tmp_path / "other.ingot").read_bytes())
    else:
        content[len(content) // 2] ^= 1
        file.write_bytes(content if damage == "bit" else content[:5000] if damage == "cut" else b"")
    assert torch.equal(ingot.load(asset)(x), first)
    assert torch.equal(ingot.load(asset)(x), first)


def test_weights_that_changed_are_an_error_still(example: tuple[torch.nn.Module, torch.Tensor], asset: Path) -> None:
    """Panels need no weights, which are checked all the same."""
    _, x = example
    ingot.load(asset)(x)
    weights = asset / "weights.safetensors"
    content = bytearray(weights.read_bytes())
    content[-100] ^= 1
    weights.write_bytes(content)
    with pytest.raises(ingot.IngotError, match=r"checksum|damaged|corrupt"):
        ingot.load(asset)(x)
