"""The page of `ingot show --html` in a real browser: opens fast, shows what it should, runs nothing of a document."""

from __future__ import annotations

import html as html_text
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from ingot import _core

BROWSER = shutil.which("chromium")
pytestmark = pytest.mark.skipif(BROWSER is None, reason="chromium is not installed")

# What a test does in the page, once it is drawn; its result goes into the document, which the browser prints.
PROBE = """<script>
draw();
document.documentElement.dataset.drawn = String(Math.round(performance.now()));
document.documentElement.dataset.probe = JSON.stringify((() => {
  try { %s } catch (error) { return {error: String(error.stack)}; }
})() ?? null);
</script></body>"""


def browse(page: str, folder: Path, code: str = "return null;") -> tuple[Any, int]:
    """What the code returned, and after how many milliseconds the page had been drawn."""
    path = folder / "page.html"
    path.write_text(page.replace("</body>", PROBE % code))
    command = [
        BROWSER or "",
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--window-size=1600,1000",
        f"--user-data-dir={folder / 'profile'}",
        "--dump-dom",
        path.as_uri(),
    ]
    dom = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout
    found = re.search(r'data-probe="([^"]*)"', dom), re.search(r'data-drawn="(\d+)"', dom)
    assert found[0] and found[1], f"the page's script failed: {dom[:400]}"
    return json.loads(html_text.unescape(found[0][1])), int(found[1][1])


def tensor(name: str, producer: str | None = None, shape: tuple[int, ...] = (2, 8)) -> dict[str, Any]:
    made: dict[str, Any] = {"name": name, "shape": list(shape), "dtype": "float32"}
    return {**made, "producer_node": producer, "producer_output_idx": 0} if producer else made


def node(name: str, op: str, sources: list[str], module: str = "", weights: tuple[str, ...] = ()) -> dict[str, Any]:
    inputs = [tensor(source, source) for source in sources] + [tensor(weight, None, (8, 8)) for weight in weights]
    made = {"name": name, "op_type": op, "inputs": inputs, "outputs": [tensor(name)], "attrs": {"alpha": 2}}
    return {
        **made,
        "module": module,
        "module_type": "net.Layer",
        "source": {"file": "net.py", "line": 7, "function": "forward", "code": "y = x"},
    }


def layers(count: int, module: str = "layers.{}") -> str:
    """Residual layers of five nodes."""
    nodes, weights, last = [], [], "x"
    for i in range(count):
        where = module.format(i)
        weights.append({**tensor(f"layers.{i}.weight", None, (8, 8)), "kind": "parameter"})
        nodes.append(node(f"norm_{i}", "aten.layer_norm.default", [last], where))
        nodes.append(node(f"linear_{i}", "aten.linear.default", [f"norm_{i}"], where, (f"w_{i}",)))
        nodes.append(node(f"gelu_{i}", "aten.gelu.default", [f"linear_{i}"], where))
        nodes.append(node(f"mask_{i}", "aten.mul.Tensor", [f"gelu_{i}", "mask"], where))
        nodes.append(node(f"add_{i}", "aten.add.Tensor", [last, f"mask_{i}"], where))
        last = f"add_{i}"
    mapping = {f"w_{i}": f"layers.{i}.weight" for i in range(count)}
    made = {"model_name": "Layers", "pytorch_version": "2.13.0", "graph_inputs": [tensor("x"), tensor("mask")]}
    made.update(graph_outputs=[tensor(last)], weights=weights, weight_name_mapping=mapping, nodes=nodes)
    return json.dumps(made)


@pytest.mark.parametrize("module", ["layers.{}", ""], ids=["in modules", "without modules"])
def test_five_thousand_nodes_open_in_two_seconds(tmp_path: Path, module: str) -> None:
    code = "return {nodes: nodes.length, width: groups[0].w, tabs: document.querySelectorAll('#tabs button').length};"
    result, milliseconds = browse(_core.html(layers(1000, module)), tmp_path, code)
    assert result["nodes"] == 5000
    assert result["width"] > 0
    assert result["tabs"] == 4
    assert milliseconds < 2000


def test_modules_open_and_boxes_do_not_overlap(tmp_path: Path) -> None:
    code = """
      const before = groups.filter(group => group.open).length;
      for (const group of groups) group.open = true;
      layoutAll(textWidth);
      const overlaps = [];
      for (const group of groups) for (const a of group.children) for (const b of group.children)
        if (a !== b && a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h)
          overlaps.push([a.title, b.title]);
      const outside = groups.flatMap(group => group.children.filter(box =>
        box.x < group.x || box.y < group.y || box.x + box.w > group.x + group.w || box.y + box.h > group.y + group.h));
      const upward = groups.flatMap(group => group.lines).filter(
        line => line.points[0][1] > line.points.at(-1)[1]);
      return {before, overlaps, outside: outside.length, upward: upward.length, lines: groups[0].lines.length};
    """
    result, _ = browse(_core.html(layers(40)), tmp_path, code)
    assert result["before"] < 41, "a big model starts with closed modules"
    assert result["overlaps"] == []
    assert (result["outside"], result["upward"]) == (0, 0)
    assert result["lines"] > 0


def test_search_by_keyboard_reveals_a_node_and_the_panel_tells_of_it(tmp_path: Path) -> None:
    code = """
      const press = (target, key) => target.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true}));
      press(document.body, "/");
      const focused = document.activeElement.id;
      searchField.value = "linear layers.37";
      searchField.dispatchEvent(new Event("input"));
      const listed = results.children.length;
      press(searchField, "Enter");
      const shown = visible(state.selected) === state.selected;
      return {focused, listed, selected: state.selected.data.n, shown, panel: panel.innerText};
    """
    result, _ = browse(_core.html(layers(40)), tmp_path, code)
    assert result["focused"] == "search"
    assert (result["listed"], result["selected"], result["shown"]) == (1, "linear_37", True)
    for part in (
        "aten.linear.default",
        "layers.37",
        "net.py:7",
        "y = x",
        "alpha",
        "norm_37",
        "layers.37.weight",
        "2×8",
    ):
        assert part in result["panel"], part


def test_a_click_selects_and_the_weights_are_sorted(tmp_path: Path) -> None:
    code = """
      const box = inputs[0], frame = canvas.getBoundingClientRect();
      click({clientX: frame.left + (box.x + box.w / 2 - camera.x) * camera.scale,
             clientY: frame.top + (box.y + box.h / 2 - camera.y) * camera.scale});
      const selected = state.selected === box;
      showTab("weights");
      document.querySelectorAll("th")[0].click();
      document.querySelectorAll("th")[0].click();
      const first = document.querySelector("tbody td").firstChild.textContent;
      showTab("ops");
      return {selected, first, bars: document.querySelectorAll(".bar").length};
    """
    result, _ = browse(_core.html(layers(12)), tmp_path, code)
    assert result == {"selected": True, "first": "layers.11.weight", "bars": 5}


def test_nothing_of_a_document_runs(tmp_path: Path) -> None:
    attack = "</script><script>window.hacked=1</script><img src=x onerror='window.hacked=2'>\"'`${window.hacked=3}"
    text = layers(3).replace("linear_1", json.dumps(attack)[1:-1]).replace("net.py", json.dumps(attack)[1:-1])
    text = text.replace("Layers", json.dumps(attack)[1:-1]).replace("layers.1", json.dumps(attack)[1:-1])
    code = """
      for (const group of groups) group.open = true;
      layoutAll(textWidth);
      for (const box of [...nodes, ...groups, ...inputs, ...outputs]) { state.selected = box; showTab("node"); }
      search("window");
      for (const tab of TABS) showTab(tab[0]);
      return {hacked: window.hacked ?? null, images: document.images.length, found: found.length};
    """
    result, _ = browse(_core.html(text), tmp_path, code)
    assert result["hacked"] is None
    assert result["images"] == 0
    assert result["found"] > 0
