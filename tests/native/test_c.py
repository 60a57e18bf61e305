"""The C and C++ interfaces, from programs that know nothing but the public headers and libingot_runtime.so."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import ingot as package
import pytest
import torch
from support import export, ingot, save_pt2

ROOT = Path(__file__).parents[2]
LIBRARIES = Path(package.__file__).parent / "lib"

CPP = r"""
#include "ingot/ingot.hpp"
#include <cstdio>
int main(int count, char **arguments) {
  try {
    ingot::Program program(arguments[1]);
    std::puts("loaded");
  } catch (const ingot::Exception &error) {
    std::puts(error.what());
    return 3;
  }
  return count == 2 ? 0 : 1;
}
"""

STATES = r"""
#include "ingot/ingot.hpp"
#include <cstdio>
int main(int, char **arguments) {
  ingot::Program program(arguments[1]);
  ingot::Session session(program);
  float x[] = {1, 2}, seen[] = {10, 20}, mine[] = {5, 6};
  const int64_t sizes[] = {2};
  ingot_state argument = ingot::state("seen", ingot::tensor(seen, sizes));
  for (int i = 0; i < 2; ++i)
    std::printf("%g\n", program.run({ingot::tensor(x, sizes)}, nullptr, {argument}).data<float>(0)[1]);
  session.run({ingot::tensor(x, sizes)}, nullptr, {argument});
  std::printf("%g %g\n", program.readState("total").data<float>(0)[1], session.readState("total").data<float>(0)[1]);
  session.run({ingot::tensor(x, sizes)}, nullptr, {argument, ingot::state("total", ingot::tensor(mine, sizes))});
  session.writeState("total", ingot::tensor(mine, sizes));
  program.resetStates();
  std::printf("%g %g\n", program.readState("total").data<float>(0)[1], session.readState("total").data<float>(0)[1]);
  std::printf("%g %g\n", seen[1], mine[1]);
  try {
    program.run({ingot::tensor(x, sizes)});
  } catch (const ingot::Exception &error) {
    std::puts(error.what());
  }
}
"""


def compile_program(source: Path, target: Path, *command: str) -> Path:
    paths = [f"-L{LIBRARIES}", "-lingot_runtime", f"-Wl,-rpath,{LIBRARIES}", f"-Wl,-rpath,{Path(sys.prefix) / 'lib'}"]
    flags = ["-Wall", "-Wextra", "-Werror", f"-I{ROOT / 'include'}", "-Wl,--allow-shlib-undefined"]
    subprocess.run([*command, *flags, str(source), *paths, "-o", str(target)], check=True)
    return target


@pytest.fixture
def asset(tmp_path: Path) -> Path:
    torch.manual_seed(0)
    module = torch.nn.Sequential(torch.nn.Linear(8, 4), torch.nn.ReLU()).eval()
    pt2 = save_pt2(export(module, (torch.randn(2, 8),)), tmp_path / "m.pt2")
    ingot("convert", pt2, "-o", tmp_path / "m.ingot", "--specialise")
    return tmp_path / "m.ingot"


class Stateful(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("total", torch.ones(2))

    def forward(self, x: torch.Tensor, seen: torch.Tensor) -> torch.Tensor:
        self.total.add_(x)
        seen.add_(self.total)
        return seen * 2


@pytest.fixture
def stateful(tmp_path: Path) -> Path:
    pt2 = save_pt2(export(Stateful(), (torch.zeros(2), torch.zeros(2))), tmp_path / "s.pt2")
    ingot("convert", pt2, "-o", tmp_path / "s.ingot", "--specialise")
    return tmp_path / "s.ingot"


def test_c_example(asset: Path, tmp_path: Path) -> None:
    program = compile_program(ROOT / "examples" / "c" / "embed.c", tmp_path / "embed", "cc", "-std=c11")
    done = subprocess.run([program, asset, "2"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "float32" in done.stdout
    missing = subprocess.run([program, tmp_path / "none.ingot", "2"], capture_output=True, text=True, check=False)
    assert missing.returncode == 1
    assert "none.ingot" in missing.stderr


def test_cpp_header(asset: Path, tmp_path: Path) -> None:
    (tmp_path / "main.cpp").write_text(CPP)
    program = compile_program(tmp_path / "main.cpp", tmp_path / "main", "c++", "-std=c++20")
    done = subprocess.run([program, asset], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "loaded\n"), done.stderr
    wrong = subprocess.run([program, tmp_path], capture_output=True, text=True, check=False)
    assert wrong.returncode == 3


def test_c_example_with_states(stateful: Path, tmp_path: Path) -> None:
    program = compile_program(ROOT / "examples" / "c" / "embed.c", tmp_path / "embed", "cc", "-std=c11")
    done = subprocess.run([program, stateful, "2"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "output 0: float32 [2] 2 6\nstate seen: float32 [2] 1 3" in done.stdout


def test_cpp_states_and_sessions(stateful: Path, tmp_path: Path) -> None:
    (tmp_path / "main.cpp").write_text(STATES)
    program = compile_program(tmp_path / "main.cpp", tmp_path / "main", "c++", "-std=c++20")
    done = subprocess.run([program, stateful], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    *lines, error = done.stdout.splitlines()
    # total: 1, 3, 5 in the program and 1, 3 in the session; seen: 20, 23, 28, 31 and, with the caller's total, 39.
    assert lines == ["46", "56", "5 3", "1 8", "39 8"]
    assert "`seen`" in error
