"""The C++ of a kernel: the user's body between declarations that are made from names, types and ranks."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch

_CPP_TYPES: Mapping[torch.dtype, str] = {
    torch.bool: "bool",
    torch.int8: "int8_t",
    torch.int16: "int16_t",
    torch.int32: "int32_t",
    torch.int64: "int64_t",
    torch.uint8: "uint8_t",
    torch.uint16: "uint16_t",
    torch.uint32: "uint32_t",
    torch.uint64: "uint64_t",
    torch.float16: "float16",
    torch.bfloat16: "bfloat16",
    torch.float32: "float",
    torch.float64: "double",
    torch.complex64: "std::complex<float>",
    torch.complex128: "std::complex<double>",
}
_NUMBERS: Mapping[type, str] = {int: "int64_t", float: "double", bool: "bool"}

_HEADERS = ["cmath", "cstddef", "cstdint", "cstring", "exception"]
_INCLUDE = re.compile(r"^\s*#\s*include\b.*$", re.MULTILINE)

# As src/runtime/kernels/custom/KernelAbi.h has it.
_ABI = """\
extern "C" struct ingot_kernel_argument {
  void *data;
  const int64_t *sizes;
  const int64_t *strides;
  int64_t rank;
};
"""

# Compilers differ in what they can do with their own type of the second kind, so it is only a float in memory.
_NARROW = {
    "float16": "using float16 = _Float16;",
    "bfloat16": """\
struct bfloat16 {
  uint16_t bits;
  bfloat16() = default;
  bfloat16(float value) {
    uint32_t wide;
    std::memcpy(&wide, &value, 4);
    bits = value != value ? 0x7FC0 : static_cast<uint16_t>((wide + 0x7FFF + ((wide >> 16) & 1)) >> 16);
  }
  operator float() const {
    uint32_t wide = static_cast<uint32_t>(bits) << 16;
    float value;
    std::memcpy(&value, &wide, 4);
    return value;
  }
};""",
}

_ENTRY = """\
extern "C" __attribute__((visibility("default"))) int32_t INGOT_KERNEL(
    const ingot_kernel_argument *inputs, const ingot_kernel_argument *results, char *message, size_t capacity) {
  const char *problem = "an exception that is no std::exception";
  try {
    ingot_kernel_body(inputs, results);
    return 0;
  } catch (const std::exception &error) {
    std::strncpy(message, error.what(), capacity - 1);
  } catch (...) {
    std::strncpy(message, problem, capacity - 1);
  }
  return 1;
}
"""


@dataclass(frozen=True)
class TensorSlot:
    """A tensor of the kernel, as one call passes it."""

    name: str
    dtype: torch.dtype
    rank: int


@dataclass(frozen=True)
class NumberSlot:
    name: str
    kind: type


def cpp_type(kernel: str, slot: TensorSlot) -> str:
    if slot.dtype not in _CPP_TYPES:
        raise TypeError(f"'{slot.name}' of kernel '{kernel}' is of {slot.dtype}, which C++ has no type for")
    return _CPP_TYPES[slot.dtype]


def cpp_source(
    kernel: str,
    inputs: Sequence[TensorSlot | NumberSlot],
    results: Sequence[TensorSlot],
    src: str,
    helper_src: str,
    template_dtypes: Mapping[str, str],
) -> str:
    """A whole translation unit. Errors in it are reported at the lines of `src` and `helper_src`."""
    types = {slot.name: cpp_type(kernel, slot) for slot in (*inputs, *results) if isinstance(slot, TensorSlot)}
    includes, helpers = _split_includes(helper_src)
    headers = _HEADERS + (["complex"] if any("complex" in text for text in types.values()) else [])
    lines = [f"#include <{header}>" for header in headers]
    lines += [*includes, _ABI, "namespace {"]
    # Only where they are needed: not every machine has the first one.
    used = set(re.findall(r"\w+", " ".join([src, helper_src, *types.values()])))
    lines += [text for name, text in _NARROW.items() if name in used]
    lines += [f"using {placeholder} = {types[name]};" for name, placeholder in template_dtypes.items()]
    lines += [f'#line 1 "{kernel}.helper_src"', helpers, f'#line 1 "{kernel}.generated"'] if helpers.strip() else []
    lines += ["void ingot_kernel_body([[maybe_unused]] const ingot_kernel_argument *ingot_inputs,"]
    lines += ["                       [[maybe_unused]] const ingot_kernel_argument *ingot_results) {"]
    for number, slot in enumerate(inputs):
        lines += _input(number, slot, types)
    for number, slot in enumerate(results):
        lines += _tensor(slot.name, types[slot.name], slot.rank, f"ingot_results[{number}]")
    lines += ["{", f'#line 1 "{kernel}.src"', src, f'#line 1 "{kernel}.generated"', "}", "}", "} // namespace", _ENTRY]
    return "\n".join(lines)


def _input(number: int, slot: TensorSlot | NumberSlot, types: Mapping[str, str]) -> list[str]:
    place = f"ingot_inputs[{number}]"
    if isinstance(slot, TensorSlot):
        return _tensor(slot.name, f"const {types[slot.name]}", slot.rank, place)
    kind = _NUMBERS[slot.kind]
    return [f"  [[maybe_unused]] const {kind} {slot.name} = *static_cast<const {kind} *>({place}.data);"]


def _tensor(name: str, kind: str, rank: int, place: str) -> list[str]:
    return [
        f"  [[maybe_unused]] {kind} *__restrict {name} = static_cast<{kind} *>({place}.data);",
        f"  [[maybe_unused]] const int64_t *const {name}_sizes = {place}.sizes;",
        f"  [[maybe_unused]] const int64_t *const {name}_strides = {place}.strides;",
        f"  [[maybe_unused]] constexpr int64_t {name}_rank = {rank};",
        f"  [[maybe_unused]] int64_t {name}_numel = 1;",
        f"  for (int64_t i = 0; i < {name}_rank; ++i)",
        f"    {name}_numel *= {name}_sizes[i];",
    ]


def _split_includes(text: str) -> tuple[list[str], str]:
    """Includes come before the namespace that the rest is in; empty lines keep the numbers of the others."""
    return [line.strip() for line in _INCLUDE.findall(text)], _INCLUDE.sub("", text)
