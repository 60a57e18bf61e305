from collections.abc import Sequence
from typing import Any

class WeightRef:
    """A tensor's place in memory; the caller keeps it alive."""

    def __init__(
        self,
        name: str,
        is_constant: bool,
        is_parameter: bool,
        dtype: str,
        sizes: Sequence[int],
        strides: Sequence[int],
        storage_offset: int,
        storage: int,
        storage_bytes: int,
    ) -> None: ...

class Converted:
    """A converted program; the caller keeps its weights alive."""

    @staticmethod
    def convert(
        parts: Sequence[tuple[bytes, Sequence[WeightRef], str]],
        options_json: str,
        lowerings: Sequence[tuple[str, Any]] = (),
    ) -> Converted: ...
    @staticmethod
    def open(path: str) -> Converted: ...
    @staticmethod
    def has_lowering(target: str) -> bool: ...
    def text(self, function: str = "", with_locations: bool = False) -> str: ...
    def manifest(self) -> str: ...
    def strip(self) -> None: ...
    def save(self, path: str, overwrite: bool = False, metadata_json: str = "") -> None: ...

class Program:
    """A loaded asset."""

    def __init__(self, path: str, options_json: str = "") -> None: ...
    def describe(self) -> str:
        """Entry points as JSON text."""
    def run(
        self,
        entry: str,
        inputs: list[Any],
        dtypes: Sequence[str | None],
        for_numpy: bool,
    ) -> list[Any]:
        """Outputs as objects with `__dlpack__`. `dtypes` names the element types that arrays cannot say."""

def convert_file(pt2_path: str, asset_path: str, overwrite: bool, options_json: str) -> None: ...
def check_savable(path: str, overwrite: bool) -> None: ...
def copy_asset(source: str, target: str, overwrite: bool) -> None: ...
def version() -> str: ...
def set_num_threads(count: int) -> None: ...
def get_num_threads() -> int: ...
def manual_seed(seed: int) -> None: ...
