"""The Python of the guides runs, from top to bottom, and prints what they show."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
GUIDES = [
    "compile.md",
    "converter.md",
    "externalize.md",
    "extractor.md",
    "kernels.md",
    "kv_cache.md",
    "lowerings.md",
    "verify.md",
]


@pytest.mark.parametrize("name", GUIDES)
def test_guide(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    blocks = re.findall(r"^```(python|text)\n(.*?)^```", (DOCS / name).read_text(), re.MULTILINE | re.DOTALL)
    code = [text for language, text in blocks if language == "python"]
    assert code
    # A file of its own: annotations are looked up in the globals of the code.
    exec(compile("\n\n".join(code), str(DOCS / name), "exec"), {"__name__": "guide"})
    printed = capsys.readouterr().out
    for language, text in blocks:
        if language == "text":
            assert text in printed
