"""Plugins in C and C++: built from the public headers alone, loaded by the program and by the package."""

from __future__ import annotations

import subprocess
from pathlib import Path

import ingot as package
import pytest
import torch
from support import assert_close, export, ingot, refused, save_pt2

ROOT = Path(__file__).parents[2]


@torch.library.custom_op("acme::softclip", mutates_args=())
def softclip(x: torch.Tensor, limit: float) -> torch.Tensor:
    return limit * torch.tanh(x / limit)


softclip.register_fake(lambda x, limit: torch.empty_like(x))


@torch.library.custom_op("acme::center", mutates_args=())
def center(x: torch.Tensor, dim: int) -> tuple[torch.Tensor, torch.Tensor]:
    mean = x.mean(dim, keepdim=True)
    return x - mean, mean


@center.register_fake
def _(x: torch.Tensor, dim: int) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.empty_like(x), x.mean(dim, keepdim=True)


class Model(torch.nn.Module):
    def __init__(self, limit: float = 1.5) -> None:
        super().__init__()
        self.limit = limit

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        centered, mean = center(x, -1)
        return softclip(centered, self.limit), mean


def build(source: Path, target: Path, *command: str) -> Path:
    flags = ["-shared", "-fPIC", "-Wall", "-Wextra", "-Werror", f"-I{ROOT / 'include'}"]
    subprocess.run([*command, *flags, str(source), "-o", str(target)], check=True)
    return target


@pytest.fixture(scope="module")
def plugin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("plugin") / "softclip.so"
    return build(ROOT / "examples" / "plugin" / "softclip.cpp", target, "c++", "-std=c++20")


def test_example_from_the_command_line(plugin: Path, tmp_path: Path) -> None:
    x = torch.randn(3, 5)
    pt2 = save_pt2(export(Model(), (x,)), tmp_path / "m.pt2")
    assert "acme::softclip" in refused("convert", pt2, "-o", tmp_path / "m.ingot")
    ingot("convert", pt2, "-o", tmp_path / "m.ingot", "--plugin", plugin)
    for actual, expected in zip(package.load(tmp_path / "m.ingot")(x.numpy()), Model()(x), strict=True):
        assert_close(torch.from_numpy(actual.copy()), expected)


def test_example_from_python_with_dynamic_sizes(plugin: Path) -> None:
    columns = torch.export.Dim("columns", min=2, max=64)
    program = package.convert(Model(), (torch.randn(3, 5),), dynamic_shapes=({1: columns},), plugins=[plugin])
    for size in (2, 9):
        x = torch.randn(3, size)
        for actual, expected in zip(program(x), Model()(x), strict=True):
            assert_close(actual, expected)


def test_a_refusal_names_node_and_line(plugin: Path) -> None:
    with pytest.raises(package.LoweringError, match="the limit must be above zero") as caught:
        package.convert(Model(limit=-1), (torch.randn(3, 5),), plugins=[plugin])
    assert "'softclip'" in str(caught.value)
    assert "test_plugin.py:" in str(caught.value)


def test_python_counts_over_plugins(plugin: Path) -> None:
    x = torch.randn(3, 5)
    lowerings = {"acme::softclip": lambda values, node, loc: values["getitem"]}
    program = package.convert(Model(), (x,), plugins=[plugin], lowerings=lowerings)
    assert_close(program(x)[0], center(x, -1)[0])


C_SOURCE = r"""
#include "ingot/plugin.h"

static int32_t lower(const ingot_builder_api *api, ingot_builder *builder, void *user) {
  (void)user;
  ingot_value x = api->argument_value(builder, api->argument(builder, "x")), made[1];
  ingot_op op = {0};
  op.name = OP;
  op.operands = &x;
  op.operand_count = 1;
  op.attributes = ATTRIBUTES;
  op.dtype = INGOT_NO_DTYPE;
  if (api->create(builder, &op, made, 1, NULL) != INGOT_PLUGIN_OK)
    return INGOT_PLUGIN_FAILED;
  return api->set_results(builder, made, 1);
}

INGOT_PLUGIN_EXPORT int32_t ingot_plugin_register(const ingot_plugin_api *api) {
  ingot_lowering lowering = {TARGET, lower, NULL};
  return api->add_lowering(api->registry, &lowering);
}
"""


def build_c(folder: Path, op: str, attributes: str = "", target: str = "acme::softclip") -> Path:
    (folder / "lower.c").write_text(C_SOURCE)
    values = [f'-DOP="{op}"', f'-DATTRIBUTES="{attributes}"', f'-DTARGET="{target}"']
    return build(folder / "lower.c", folder / f"{abs(hash((op, attributes, target)))}.so", "cc", "-std=c11", *values)


class Clip(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return softclip(x, 1.0)


def test_c(tmp_path: Path) -> None:
    x = torch.randn(4)
    assert_close(package.convert(Clip(), (x,), plugins=[build_c(tmp_path, "neg")])(x), -x)


@pytest.mark.parametrize(
    ("op", "attributes", "text"),
    [
        ("negg", "", "there is no op 'ingot.negg'; did you mean 'ingot.neg'?"),
        ("softmax", "{axis = 0, log = false", "do not parse"),
        ("softmax", "{axis = 3, log = false}", "axis 3 is out of range"),
        ("isnan", "", "softclip[0]: dtype i1 vs f32"),
    ],
)
def test_mistakes_of_a_plugin(tmp_path: Path, op: str, attributes: str, text: str) -> None:
    with pytest.raises(package.LoweringError) as caught:
        package.convert(Clip(), (torch.randn(4),), plugins=[build_c(tmp_path, op, attributes)])
    assert text in str(caught.value)


def test_libraries_that_are_no_plugins(tmp_path: Path) -> None:
    (tmp_path / "empty.c").write_text("int nothing;\n")
    library = build(tmp_path / "empty.c", tmp_path / "empty.so", "cc")
    with pytest.raises(package.UsageError, match="exports no ingot_plugin_register"):
        package.convert(Clip(), (torch.randn(4),), plugins=[library])
    with pytest.raises(package.AssetIOError, match="cannot be loaded"):
        package.convert(Clip(), (torch.randn(4),), plugins=[tmp_path / "none.so"])
    with pytest.raises(package.UsageError, match="namespace::op"):
        package.convert(Clip(), (torch.randn(4),), plugins=[build_c(tmp_path, "neg", target="softclip")])


VENDOR = r"""
#include "ingot/lowering.hpp"

using namespace ingot::plugin;

static std::vector<std::string> asVendor(const std::string &node) {
  std::string made = node;
  const std::string old = "acme.softclip.default";
  made.replace(made.find(old), old.size(), "vendor.clip");
  return {made};
}

static const char kernelSource[] = R"(
#include <cmath>
#include <cstddef>
#include <cstdint>
extern "C" struct ingot_kernel_argument { void *data; const int64_t *sizes; const int64_t *strides; int64_t rank; };
extern "C" __attribute__((visibility("default"))) int32_t INGOT_KERNEL(
    const ingot_kernel_argument *inputs, const ingot_kernel_argument *results, char *, size_t) {
  auto *x = static_cast<const float *>(inputs[0].data);
  auto *y = static_cast<float *>(results[0].data);
  for (int64_t i = 0; i < inputs[0].sizes[0] * inputs[0].sizes[1]; ++i)
    y[i] = 1.5f * std::tanh(x[i] / 1.5f);
  return 0;
}
)";

static std::vector<Value> byKernel(Lowering &node) {
  Value x = node.value("x");
  return node.kernel("softclip", kernelSource, {x}, {x.type()});
}

INGOT_PLUGIN(registry) {
  registry.add("acme::softclip", byKernel);
  registry.addConverter("acme.softclip", asVendor);
}
"""


@pytest.fixture(scope="module")
def vendor(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("vendor")
    (folder / "vendor.cpp").write_text(VENDOR)
    return build(folder / "vendor.cpp", folder / "vendor.so", "c++", "-std=c++20")


class ClipOnly(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return softclip(x, 1.5) + 1


def test_a_converter_writes_nodes_in_its_own_way(vendor: Path, tmp_path: Path) -> None:
    pt2 = save_pt2(export(ClipOnly(), (torch.randn(3, 5),)), tmp_path / "m.pt2")
    ingot("extract", pt2, "-o", tmp_path / "m.json", "--plugin", vendor)
    kinds = [node.op_type for node in package.load_ir(tmp_path / "m.json").nodes]
    assert kinds == ["vendor.clip", "aten.add.Tensor"]


def test_a_kernel_of_a_plugin_stays_in_the_asset(vendor: Path, tmp_path: Path) -> None:
    x = torch.randn(3, 5)
    pt2 = save_pt2(export(ClipOnly(), (x,)), tmp_path / "m.pt2")
    ingot("convert", pt2, "-o", tmp_path / "m.ingot", "--plugin", vendor)
    assert_close(torch.from_numpy(package.load(tmp_path / "m.ingot")(x.numpy()).copy()), ClipOnly()(x))
