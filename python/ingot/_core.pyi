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

def convert_memory(
    program_json: bytes,
    weights: Sequence[WeightRef],
    asset_path: str,
    overwrite: bool,
    options_json: str,
) -> None: ...
def convert_file(pt2_path: str, asset_path: str, overwrite: bool, options_json: str) -> None: ...
def check_savable(path: str, overwrite: bool) -> None: ...
def copy_asset(source: str, target: str, overwrite: bool) -> None: ...
def version() -> str: ...
def set_num_threads(count: int) -> None: ...
def get_num_threads() -> int: ...
def manual_seed(seed: int) -> None: ...
