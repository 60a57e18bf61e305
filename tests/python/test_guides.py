"""The Python of the guides runs, from top to bottom."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
GUIDES = ["compile.md", "kernels.md", "lowerings.md"]


@pytest.mark.parametrize("name", GUIDES)
def test_guide(name: str) -> None:
    blocks = re.findall(r"^```python\n(.*?)^```", (DOCS / name).read_text(), re.MULTILINE | re.DOTALL)
    assert blocks
    # A file of its own: annotations are looked up in the globals of the code.
    exec(compile("\n\n".join(blocks), str(DOCS / name), "exec"), {"__name__": "guide"})
