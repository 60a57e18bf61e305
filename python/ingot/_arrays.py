"""Arrays of torch and numpy, in and out without copies. Neither is imported before it is needed."""

from __future__ import annotations

import sys
from typing import Any

from ingot.errors import UsageError

# Types that numpy does not have; ml_dtypes gives them names, and their bytes travel as integers.
_EXTENDED = {
    "bfloat16": "uint16",
    "float8_e4m3fn": "uint8",
    "float8_e5m2": "uint8",
    "float8_e4m3fnuz": "uint8",
    "float8_e5m2fnuz": "uint8",
    "float8_e8m0fnu": "uint8",
}


def carrier(dtype: str) -> str | None:
    """The integer type of numpy whose bytes stand for a type that numpy does not have."""
    return _EXTENDED.get(dtype)


def extended_dtype(dtype: str) -> Any:
    """ml_dtypes' type of that name; ImportError without that package."""
    import ml_dtypes

    return getattr(ml_dtypes, dtype)


def is_torch(value: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def to_input(value: Any, name: str, dtype: str) -> tuple[Any, str | None]:
    """What `_core` takes, and the element type's name where the array cannot say it."""
    if is_torch(value):
        return _from_torch(value, name), None
    import numpy as np

    if isinstance(value, bool | int | float | complex):
        return _from_number(value, name, dtype), None
    if isinstance(value, np.generic):
        value = np.asarray(value)
    if isinstance(value, np.ndarray):
        return _from_numpy(value, name)
    if hasattr(value, "__dlpack__"):
        return value, None
    raise UsageError(f"input '{name}' should be a tensor or an array, not {type(value).__name__}")


def _from_number(value: complex, name: str, dtype: str) -> Any:
    import numpy as np

    try:
        array = np.asarray(value, dtype=dtype or None)
    except (TypeError, ValueError, OverflowError):
        array = None
    # numpy would cut off what an integer cannot have.
    if array is None or (array.dtype.kind in "iub" and array.item() != value):
        raise UsageError(f"input '{name}' is {dtype}, and cannot be the number {value!r}")
    return array


def _from_torch(value: Any, name: str) -> Any:
    if value.device.type != "cpu":
        raise UsageError(f"input '{name}' is on {value.device}; move it to the CPU")
    if value.layout is not sys.modules["torch"].strided:
        raise UsageError(f"input '{name}' has the layout {value.layout}; make it dense")
    if value.is_nested or value.is_quantized:
        kind, remedy = ("nested", "pad it") if value.is_nested else ("quantized", "dequantize it")
        raise UsageError(f"input '{name}' is a {kind} tensor; {remedy}")
    return value.detach().resolve_conj().resolve_neg()


def _from_numpy(value: Any, name: str) -> tuple[Any, str | None]:
    if value.dtype.hasobject or (value.dtype.kind in "SUVMm" and value.dtype.name not in _EXTENDED):
        raise UsageError(f"input '{name}' has the element type {value.dtype}, which is no number")
    if value.dtype.char in "gG":
        raise UsageError(f"input '{name}' has the element type {value.dtype}, which Ingot does not know")
    if not value.dtype.isnative:
        value = value.astype(value.dtype.newbyteorder("="))
    # Strides that are not whole elements (fields of records) cannot be passed on.
    if any(stride % value.itemsize for stride in value.strides):
        value = value.copy()
    carrier = _EXTENDED.get(value.dtype.name)
    return (value.view(carrier), value.dtype.name) if carrier else (value, None)


def to_torch(output: Any) -> Any:
    import torch

    return torch.from_dlpack(output)


class Capsule:
    """numpy asks for an object with DLPack's two methods, where torch takes the bare capsule."""

    def __init__(self, capsule: Any) -> None:
        self._capsule = capsule

    def __dlpack__(self, **_: Any) -> Any:
        return self._capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)  # kDLCPU


def to_numpy(output: Any, dtype: str) -> Any:
    """`_core` passes types that numpy does not have as integers of their size, if asked to."""
    import numpy as np

    holder = Capsule(output)
    if dtype not in _EXTENDED:
        return writable(np.from_dlpack(holder))
    try:
        import ml_dtypes
    except ImportError:
        raise UsageError(f"numpy has no {dtype}; install ml_dtypes, or pass torch tensors") from None
    return writable(np.from_dlpack(holder)).view(getattr(ml_dtypes, dtype))


def writable(array: Any) -> Any:
    """An output that may be written to: numpy takes DLPack arrays for read-only, but outputs own their memory."""
    import ctypes

    import numpy as np

    if array.flags.writeable or array.size == 0:
        return array
    if not array.flags.c_contiguous:
        return array.copy()
    memory = (ctypes.c_char * array.nbytes).from_address(array.ctypes.data)
    memory.owner = array  # keeps it alive
    return np.ndarray(array.shape, array.dtype, memory)


class Place:
    """Where the elements of a caller's array lie; nothing is read."""

    def __init__(self, value: Any) -> None:
        if is_torch(value):
            pointer, shape, size = value.data_ptr(), tuple(value.shape), value.element_size()
            strides = tuple(step * size for step in value.stride())
        else:
            pointer, shape, strides, size = value.ctypes.data, value.shape, value.strides, value.itemsize
        steps = [(length - 1) * stride for length, stride in zip(shape, strides, strict=True)]
        self._begin = pointer + sum(step for step in steps if step < 0)
        self._end = pointer + sum(step for step in steps if step > 0) + size
        self.__array_interface__ = {
            "data": (pointer or 1, True), "shape": shape, "strides": strides, "typestr": f"|V{size}", "version": 3
        }  # fmt: skip

    def overlaps(self, other: Place) -> bool:
        """Whether they have an element in common; also where that is hard to say."""
        if self._end <= other._begin or other._end <= self._begin:
            return False
        import numpy as np

        try:
            return np.shares_memory(np.asarray(self), np.asarray(other), max_work=100_000)
        except np.exceptions.TooHardError:
            return True


class StateArray:
    """A caller's array that a call changes: where it is, or through a copy if that cannot be."""

    def __init__(self, value: Any, name: str, dtype: str, others: list[StateArray]) -> None:
        """`others` are states of the call before this one, which must not overlap; this one is added."""
        self._name = name
        self._value = value
        self._copy = None
        array, self._dtype = to_input(value, name, dtype)
        if is_torch(value):
            is_plain = value.is_contiguous() and not value.is_conj() and not value.is_neg()
        else:
            import numpy as np

            if not isinstance(value, np.ndarray):
                raise UsageError(f"the program changes input '{name}': pass a tensor or a numpy array")
            if not value.flags.writeable:
                raise UsageError(f"input '{name}' is read-only, and the program changes it")
            is_plain = value.flags.c_contiguous and value.flags.aligned and value.dtype.isnative
        self._place = Place(value)
        for other in others:
            other.check_apart(name, self._place)
        others.append(self)
        if is_plain:
            self._array = array
        else:
            self._copy = self._array = _contiguous_copy(array)

    def check_apart(self, name: str, place: Place) -> None:
        """`place` is that of another argument of the call."""
        if self._place.overlaps(place):
            raise UsageError(
                f"inputs '{self._name}' and '{name}' lie in the same memory, and the program changes it: pass a copy"
            )

    @property
    def is_copied(self) -> bool:
        """Then nobody else sees that the memory is that of another argument."""
        return self._copy is not None

    @property
    def argument(self) -> Any:
        """What `_core` takes as a state."""
        return (self._array, self._dtype) if self._dtype else self._array

    def finish(self) -> None:
        """After the call: the caller's array has the new content."""
        if is_torch(self._value):
            if self._copy is not None:
                self._value.detach().copy_(self._copy)
            elif not self._value.is_inference():
                # Autograd has to know, as after any operation in place.
                sys.modules["torch"].autograd.graph.increment_version(self._value)
        elif self._copy is not None:
            import numpy as np

            np.copyto(self._value, self._copy.view(self._value.dtype.newbyteorder("=")))


def _contiguous_copy(array: Any) -> Any:
    if is_torch(array):
        return array.clone(memory_format=sys.modules["torch"].contiguous_format)
    import numpy as np

    return np.array(array, order="C", copy=True)
