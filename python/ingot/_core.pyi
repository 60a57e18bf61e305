from collections.abc import Mapping, Sequence
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
        states: Mapping[str, Any] = {},
    ) -> list[Any]:
        """Outputs as objects with `__dlpack__`. `dtypes` names the element types that arrays cannot say.

        `inputs` are those of the description that are neither literals nor states. `states` maps names to writable,
        contiguous arrays (or pairs of an array and its element type's name) that are read and changed in place; those
        that are not given are the program's own, except for arguments, which must be given.
        """
    def read_state(self, name: str, for_numpy: bool) -> Any:
        """A copy of one of the program's own states, as `run` gives outputs."""
    def write_state(self, name: str, array: Any, dtype: str | None = None) -> None: ...
    def reset_states(self) -> None:
        """Gives every state its initial value."""
    def cancel(self) -> None:
        """Ends the calls that run now."""
    def session(self) -> Program:
        """The same program with states of its own."""

def load_compiler() -> bool: ...
def convert_file(pt2_path: str, asset_path: str, overwrite: bool, options_json: str) -> None: ...
def extract_document(
    program_json: bytes,
    model_name: str,
    schemas: list[str] = [],
    constants: list[WeightRef] = [],
    tied: dict[str, str] = {},
) -> str:
    """The graph document of an exported program. Constants above 1,024 elements are described only."""

def validate_document(text: str) -> list[str]:
    """Every problem of a graph document, with its path."""

def mermaid(text: str, max_nodes: int = 30, include_weights: bool = True, by_module: bool = False) -> str: ...
def op_pie(text: str, top_n: int = 10) -> str: ...
def dot(text: str, include_weights: bool = True) -> str: ...
def html(text: str) -> str: ...
def document_info(text: str) -> str:
    """The numbers of a graph document, as JSON."""

def document_info_text(text: str) -> str:
    """The same for people."""

def diff_documents(first: str, second: str) -> str:
    """Where two graph documents differ, as JSON."""

def check_savable(path: str, overwrite: bool) -> None: ...
def read_manifest(path: str) -> str:
    """Checked, and as this version writes it."""

def copy_asset(source: str, target: str, overwrite: bool) -> None: ...
def version() -> str: ...
def set_num_threads(count: int) -> None: ...
def get_num_threads() -> int: ...
def manual_seed(seed: int) -> None: ...
def copied_bytes() -> int:
    """Bytes that calls have copied since the process started, for tests."""

def verify(
    parts: Sequence[tuple[bytes, Sequence[WeightRef], str]],
    options_json: str,
    lowerings: Sequence[tuple[str, Any]],
    inputs: Sequence[WeightRef],
    eager: Any,
    per_node: bool,
    bisect: bool,
    rtol: float | None,
    atol: float | None,
    save_to: str,
    progress: Any,
) -> str: ...
def compare_tensors(eager: WeightRef, ours: WeightRef, rtol: float | None, atol: float | None) -> str: ...
