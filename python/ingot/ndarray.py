"""Arrays as the runtime takes and gives them: a thin wrapper around numpy's and torch's, without copies."""

from __future__ import annotations

import enum
import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

from ingot import _arrays
from ingot.errors import UnsupportedError, UsageError

if TYPE_CHECKING:
    import numpy as np
    import torch


class StorageKind(enum.Enum):
    """Where an array's elements lie."""

    BYTES = "bytes"
    METAL = "metal"
    IOSURFACE = "iosurface"
    IOSurface = "iosurface"


class Descriptor(Protocol):
    """What `NDArray.from_descriptor` needs to know."""

    @property
    def shape(self) -> Sequence[int]: ...
    @property
    def element_type(self) -> str: ...


class NDArray:
    """A tensor of an input, an output or a state.

    Wraps a numpy array or a torch tensor without copying it, so that a state is updated in the caller's memory. Nested
    lists and numbers become new arrays: floating-point ones are float32, whole numbers int32 if they fit, else int64.
    """

    def __init__(self, data: Any, backing: StorageKind = StorageKind.BYTES) -> None:
        if StorageKind(backing) is not StorageKind.BYTES:
            raise UnsupportedError(f"arrays lie in plain memory here; {backing} is not available")
        self._array = _wrap(data)

    @classmethod
    def from_descriptor(cls, desc: Descriptor, backing: StorageKind = StorageKind.BYTES) -> NDArray:
        """A new array of zeros for an input or a state; all its sizes must be known."""
        if any(size is None or size < 0 for size in desc.shape):
            raise UsageError(f"the shape {list(desc.shape)} has sizes that vary; make the array yourself")
        return cls(empty(desc.element_type, desc.shape), backing)

    @property
    def backing(self) -> StorageKind:
        return StorageKind.BYTES

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self._array.shape)

    @property
    def ndim(self) -> int:
        return len(self._array.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        count = 1
        for size in self._array.shape:
            count *= size
        return count

    @property
    def element_type(self) -> str:
        """The element type by its name in torch, such as "bfloat16"."""
        return element_type(self._array)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The element type of `numpy()`."""
        return numpy_dtype(self.element_type)

    @property
    def strides(self) -> tuple[int, ...]:
        """The distance of neighbours in each dimension, in bytes, as numpy counts."""
        if _arrays.is_torch(self._array):
            return tuple(stride * self._array.element_size() for stride in self._array.stride())
        return tuple(self._array.strides)

    def numpy(self) -> np.ndarray[Any, Any]:
        """The array itself, not a copy.

        Types that numpy does not have (bfloat16, float8) are those of ml_dtypes; without that package, a float32 copy.
        """
        if not _arrays.is_torch(self._array):
            return self._array
        return _torch_to_numpy(self._array)

    def torch(self) -> torch.Tensor:
        """The same memory as a torch tensor."""
        if _arrays.is_torch(self._array):
            return self._array
        import torch

        carrier = _arrays.carrier(self.element_type)
        if carrier is None:
            return torch.from_numpy(self._array)
        return torch.from_numpy(self._array.view(carrier)).view(getattr(torch, self.element_type))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        import numpy as np

        array = self.numpy()
        if dtype is not None and array.dtype != dtype:
            if copy is False:
                raise ValueError(f"{array.dtype} as {dtype} needs a copy")
            return array.astype(dtype)
        return np.array(array) if copy else array

    def __len__(self) -> int:
        return len(self._array)

    def __repr__(self) -> str:
        return f"NDArray(shape={list(self.shape)}, dtype={self.element_type})"


def unwrap(value: Any) -> Any:
    """The numpy array or torch tensor of anything that can be wrapped."""
    return value._array if isinstance(value, NDArray) else _wrap(value)


def element_type(array: Any) -> str:
    """The name in torch of the element type of a numpy array or a tensor, whatever its order of bytes."""
    return _name_of(array.dtype)


@functools.cache
def _name_of(dtype: Any) -> str:
    return str(getattr(dtype, "name", dtype)).removeprefix("torch.")


def empty(name: str, shape: Sequence[int]) -> Any:
    """Zeros of an element type; a torch tensor where numpy alone cannot have it."""
    import numpy as np

    if _arrays.carrier(name) is None:
        return np.zeros(tuple(shape), np.dtype(name))
    try:
        return np.zeros(tuple(shape), _arrays.extended_dtype(name))
    except ImportError:
        import torch

        return torch.zeros(tuple(shape), dtype=getattr(torch, name))


def numpy_dtype(name: str) -> np.dtype[Any]:
    """numpy's dtype of an element type; float32 for those that need ml_dtypes where that is not installed."""
    import numpy as np

    if _arrays.carrier(name) is None:
        return np.dtype(name)
    try:
        return np.dtype(_arrays.extended_dtype(name))
    except ImportError:
        return np.dtype(np.float32)


def _wrap(data: Any) -> Any:
    import numpy as np

    if isinstance(data, NDArray):
        return data._array
    if _arrays.is_torch(data):
        if data.device.type != "cpu":
            raise UsageError(f"the tensor is on {data.device}; move it to the CPU")
        return data.detach().resolve_conj().resolve_neg()
    if isinstance(data, np.ndarray):
        return data
    if isinstance(data, np.generic):
        return np.asarray(data)
    if isinstance(data, list | tuple | bool | int | float | complex):
        return _from_python(data)
    if hasattr(data, "__dlpack__"):
        return np.from_dlpack(data)
    if hasattr(data, "__array__"):
        return np.asarray(data)
    raise UsageError(f"an array, a tensor or nested lists of numbers are needed, not {type(data).__name__}")


def _from_python(data: Any) -> Any:
    import numpy as np

    array = np.asarray(data)
    if array.dtype == np.float64:
        return array.astype(np.float32)
    if array.dtype == np.complex128:
        return array.astype(np.complex64)
    if array.dtype == np.int64 and (array == array.astype(np.int32)).all():
        return array.astype(np.int32)
    if array.dtype.hasobject or array.dtype.kind in "SUV":
        raise UsageError("the lists hold something else than numbers, or have different lengths")
    return array


def _torch_to_numpy(tensor: Any) -> Any:
    import torch

    name = element_type(tensor)
    carrier = _arrays.carrier(name)
    if carrier is None:
        return tensor.numpy()
    try:
        return tensor.view(getattr(torch, carrier)).numpy().view(_arrays.extended_dtype(name))
    except ImportError:
        return tensor.float().numpy()
