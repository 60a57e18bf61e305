"""Model families node by node against eager: nothing departs."""

from __future__ import annotations

import ingot
import pytest
from models import zoo
from support import export


@pytest.mark.parametrize("name", ["vit_b16", "convnext_t", "bert_base", "llama"])
@pytest.mark.parametrize("bisect", [False, True])
def test_family(name: str, bisect: bool) -> None:
    module, args = zoo.FAMILIES[name](2, "small")
    report = ingot.verify(export(module, args), module, args, bisect=bisect)
    assert report, str(report)
    assert bisect or report.compared + len(report.left_out) == report.nodes
