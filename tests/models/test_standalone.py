"""A specialised asset needs the runtime only; the native program needs neither Python nor PyTorch."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import ingot as package
import pytest
import torch
from support import INGOT, export, ingot, save_pt2

LIBRARIES = Path(package.__file__).parent / "lib"


@pytest.fixture
def asset(tmp_path: Path) -> Path:
    torch.manual_seed(0)
    module = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.GELU(), torch.nn.Linear(16, 4)).eval()
    pt2 = save_pt2(export(module, (torch.randn(2, 8),)), tmp_path / "m.pt2")
    ingot("convert", pt2, "-o", tmp_path / "m.ingot", "--specialise")
    return tmp_path / "m.ingot"


def test_links_neither_python_nor_torch() -> None:
    for binary in (INGOT, LIBRARIES / "libingot_runtime.so"):
        listed = subprocess.run(["ldd", binary], capture_output=True, text=True, check=True).stdout.lower()
        # Names alone: the folder of the installed libraries has `python` in its path.
        names = [line.split()[0] for line in listed.splitlines()]
        libraries = "\n".join([*names, *(line for line in listed.splitlines() if "not found" in line)])
        for word in ("python", "torch", "libc10", "mlir", "llvm", "not found"):
            assert word not in libraries, f"{binary.name} loads {word}:\n{libraries}"


def run_with_the_runtime_alone(asset: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    for name in ("bin", "lib"):
        (folder / name).mkdir()
    shutil.copy(INGOT, folder / "bin")
    for library in ("libingot_runtime.so", "libingomp.so"):
        shutil.copy(LIBRARIES / library, folder / "lib")
    env = {**os.environ, "LD_LIBRARY_PATH": str(folder / "lib")}
    command = [folder / "bin" / "ingot", "run", asset, "--random-seed", "1"]
    return subprocess.run(command, capture_output=True, text=True, env=env, check=False)


def test_specialised_asset_runs_without_the_compiler(asset: Path, tmp_path: Path) -> None:
    done = run_with_the_runtime_alone(asset, tmp_path)
    assert done.returncode == 0, done.stderr
    assert "float32" in done.stdout


def test_an_asset_that_needs_onednn_says_so_without_it(tmp_path: Path) -> None:
    module = torch.nn.ConvTranspose2d(4, 4, 3).eval()
    pt2 = save_pt2(export(module, (torch.randn(1, 4, 5, 5),)), tmp_path / "m.pt2")
    ingot("convert", pt2, "-o", tmp_path / "m.ingot", "--specialise")
    done = run_with_the_runtime_alone(tmp_path / "m.ingot", tmp_path)
    assert done.returncode != 0
    assert "oneDNN cannot be loaded" in done.stderr and "libingot_dnnl.so" in done.stderr


def test_same_results_from_the_cache(asset: Path, tmp_path: Path) -> None:
    def run(name: str) -> bytes:
        ingot("run", asset, "--random-seed", "3", "--outputs", tmp_path / name)
        return (tmp_path / name).read_bytes()

    first = run("a.safetensors")
    shutil.rmtree(asset / "cache")
    assert run("b.safetensors") == first
    assert (asset / "cache").is_dir(), "running specialises again"
