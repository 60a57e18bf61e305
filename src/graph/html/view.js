// The drawing: a canvas on which only what is in sight is drawn, and the mouse and the keys.
const canvas = document.getElementById("canvas");
const pen = canvas.getContext("2d");
const FONT = getComputedStyle(document.body).fontFamily;
const TITLE = `600 13px ${FONT}`, SUB = `11px ${FONT}`;
const camera = {x: 0, y: 0, scale: 1};
const state = {selected: null, hovered: null, matches: new Set(), onSelect: () => {}};
let colours = {};

function readColours() {
  const style = getComputedStyle(document.documentElement);
  const names = ["bg", "surface", "line", "text", "soft", "faint", "accent", "accent-soft", "edge", "edge-strong", "grid", "group",
                 "group-line", "closed", "closed-line", "match", "matrix", "norm", "activation", "element", "shape", "pool",
                 "attention", "index", "port", "other"];
  colours = Object.fromEntries(names.map(name => [name, style.getPropertyValue("--" + name).trim()]));
}

const widths = new Map();
function textWidth(text, isTitle) {
  const key = (isTitle ? "T" : "S") + text;
  if (!widths.has(key)) {
    pen.font = isTitle ? TITLE : SUB;
    widths.set(key, pen.measureText(text).width);
  }
  return widths.get(key);
}

/** Opens modules, the outermost first, as long as the picture stays readable. */
function openReadable(limit) {
  let shown = groups[0].children.length;
  let next = groups[0].children.filter(child => child.kind === "group");
  while (next.length) {
    // A level is opened as a whole, so that equal layers look equal.
    const more = next.reduce((sum, group) => sum + group.children.length - 1, 0);
    if (shown + more > limit) break;
    shown += more;
    for (const group of next) group.open = true;
    next = next.flatMap(group => group.children.filter(child => child.kind === "group"));
  }
  // With one level too big for the limit, its first module shows what is inside.
  if (shown < limit / 3 && next.length && next[0].children.length + shown <= 2 * limit) next[0].open = true;
}

function relayout(anchor) {
  const before = anchor ? {x: anchor.x, y: anchor.y} : null;
  layoutAll(textWidth);
  if (before) {
    camera.x += anchor.x - before.x;
    camera.y += anchor.y - before.y;
  }
  redraw();
}

function setOpen(group, open) {
  group.open = open;
  relayout(group);
}

let isDrawPlanned = false;
function redraw() {
  if (isDrawPlanned) return;
  isDrawPlanned = true;
  requestAnimationFrame(() => { isDrawPlanned = false; draw(); });
}

function resize() {
  const ratio = window.devicePixelRatio || 1;
  canvas.width = Math.round(canvas.clientWidth * ratio);
  canvas.height = Math.round(canvas.clientHeight * ratio);
  draw();
}

/** The part of the page that is in sight. */
function sight() {
  return {left: camera.x, top: camera.y, right: camera.x + canvas.clientWidth / camera.scale, bottom: camera.y + canvas.clientHeight / camera.scale};
}

function draw() {
  const ratio = window.devicePixelRatio || 1, view = sight();
  pen.setTransform(1, 0, 0, 1, 0, 0);
  pen.fillStyle = colours.bg;
  pen.fillRect(0, 0, canvas.width, canvas.height);
  pen.setTransform(ratio * camera.scale, 0, 0, ratio * camera.scale, -camera.x * camera.scale * ratio, -camera.y * camera.scale * ratio);
  const near = nearSelected();
  drawGroup(groups[0], view, near);
}

/** Boxes whose wires stand out: the selected one, or the one under the mouse. */
function nearSelected() {
  const box = state.selected || state.hovered;
  return box ? visible(box) : null;
}

function isOutside(x, y, w, h, view) { return x > view.right || y > view.bottom || x + w < view.left || y + h < view.top; }

function drawGroup(group, view, near) {
  if (group.parent) {
    roundBox(group.x, group.y, group.w, group.h, 10);
    pen.fillStyle = groupColour(group);
    pen.fill();
    pen.lineWidth = group === state.selected ? 2.4 : 1.2;
    pen.strokeStyle = group === state.selected ? colours.accent : colours["group-line"];
    pen.stroke();
  }
  drawLines(group, view, near);
  if (group.parent && camera.scale > 0.16) drawGroupHead(group);
  for (const child of group.children) {
    if (isOutside(child.x, child.y, child.w, child.h, view)) continue;
    if (child.kind === "group" && child.open) drawGroup(child, view, near);
    else drawBox(child);
  }
}

function groupColour(group) { return group.depth % 2 ? colours.group : colours.bg; }

function drawGroupHead(group) {
  const title = fitted(groupTitle(group), group.w - 50, true);
  pen.fillStyle = groupColour(group);   // wires that come in from above pass behind the title
  pen.fillRect(group.x + 6, group.y + 6, textWidth(title, true) + 28, 18);
  drawToggle(group.x + 17, group.y + 15, true);
  pen.fillStyle = colours.soft;
  pen.font = `600 12px ${FONT}`;
  pen.textAlign = "left";
  pen.textBaseline = "middle";
  pen.fillText(title, group.x + 30, group.y + 15);
}

function drawToggle(x, y, isOpen) {
  pen.strokeStyle = colours.soft;
  pen.lineWidth = 1.5;
  pen.beginPath();
  pen.moveTo(x - 4, y);
  pen.lineTo(x + 4, y);
  if (!isOpen) { pen.moveTo(x, y - 4); pen.lineTo(x, y + 4); }
  pen.stroke();
}

function drawLines(group, view, near) {
  const strong = [];
  pen.lineCap = "round";
  for (const line of group.lines) {
    const points = line.points, first = points[0], last = points[points.length - 1];
    if (isOutside(group.x + line.left, group.y + first[1], line.right - line.left, last[1] - first[1], view)) continue;
    if (near && (line.source === near || (line.target && visible(line.target) === near))) strong.push(line);
    else strokeLine(group, line, colours.edge, line.straight ? 0.6 : 1.2);
  }
  for (const line of strong) strokeLine(group, line, colours["edge-strong"], 2.2);
  if (camera.scale > 0.5) for (const line of group.lines) drawShape(group, line);
}

function strokeLine(group, line, colour, width) {
  const points = line.points;
  pen.strokeStyle = colour;
  pen.lineWidth = Math.max(width, 0.7 / camera.scale);
  pen.globalAlpha = line.straight ? 0.45 : 1;
  pen.beginPath();
  pen.moveTo(group.x + points[0][0], group.y + points[0][1]);
  for (let i = 1; i < points.length; ++i) {
    const [x0, y0] = points[i - 1], [x1, y1] = points[i], bend = (y1 - y0) / 2;
    if (x0 === x1) pen.lineTo(group.x + x1, group.y + y1);
    else pen.bezierCurveTo(group.x + x0, group.y + y0 + bend, group.x + x1, group.y + y1 - bend, group.x + x1, group.y + y1);
  }
  pen.stroke();
  pen.globalAlpha = 1;
  const ends = line.target && !(line.target.kind === "group" && line.target.open);
  if (ends && camera.scale > 0.22) drawArrow(group.x + points[points.length - 1][0], group.y + points[points.length - 1][1], colour);
}

function drawArrow(x, y, colour) {
  pen.fillStyle = colour;
  pen.beginPath();
  pen.moveTo(x, y);
  pen.lineTo(x - 4, y - 7);
  pen.lineTo(x + 4, y - 7);
  pen.fill();
}

/** What comes out of a closed module is not written in its box, so it stands on the wire. */
function drawShape(group, line) {
  if (line.source.kind !== "group" || line.shapes.size !== 1 || !line.isFirst) return;
  const [x, y] = line.points[0];
  pen.font = SUB;
  pen.textAlign = "left";
  pen.textBaseline = "middle";
  pen.fillStyle = colours.faint;
  pen.fillText([...line.shapes][0], group.x + x + 6, group.y + y + 10);
}

function drawBox(box) {
  const isGroup = box.kind === "group", isPort = box.kind === "input" || box.kind === "output";
  const isSelected = box === state.selected, isMatch = state.matches.has(box) || (isGroup && matchesInside(box));
  roundBox(box.x, box.y, box.w, box.h, isPort ? box.h / 2 : 7);
  pen.fillStyle = isSelected ? colours["accent-soft"] : isGroup ? colours.closed : colours.surface;
  pen.fill();
  pen.lineWidth = isSelected || isMatch ? 2.4 : 1.2;
  pen.strokeStyle = isSelected ? colours.accent : isMatch ? colours.match : isGroup ? colours["closed-line"] : isPort ? colours.port : colours.line;
  pen.stroke();
  if (!isGroup && !isPort) drawStrip(box);
  if (camera.scale > 0.2) drawBoxText(box, isGroup, isPort);
}

function drawStrip(box) {
  pen.save();
  roundBox(box.x, box.y, box.w, box.h, 7);
  pen.clip();
  pen.fillStyle = colours[box.colour];
  pen.fillRect(box.x, box.y, 5, box.h);
  pen.restore();
}

function drawBoxText(box, isGroup, isPort) {
  const sub = boxSub(box), middle = box.x + box.w / 2 + (isGroup ? 7 : isPort ? 0 : 2);
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  pen.fillStyle = colours.text;
  pen.font = TITLE;
  pen.fillText(fitted(isGroup ? groupTitle(box) : box.title, box.w - 18, true), middle, box.y + (sub ? 14 : box.h / 2));
  if (sub) {
    pen.fillStyle = colours.soft;
    pen.font = SUB;
    pen.fillText(fitted(sub, box.w - 18, false), middle, box.y + 29);
  }
  if (isGroup) drawToggle(box.x + 12, box.y + box.h / 2, false);
}

function fitted(text, width, isTitle) {
  if (textWidth(text, isTitle) <= width) return text;
  let end = Math.max(1, Math.floor(text.length * width / textWidth(text, isTitle)) - 1);
  return text.slice(0, end) + "…";
}

function matchesInside(group) {
  for (const box of state.matches) for (let above = box.parent; above; above = above.parent) if (above === group) return true;
  return false;
}

function roundBox(x, y, w, h, radius) {
  pen.beginPath();
  pen.roundRect(x, y, w, h, radius);
}

/** The innermost box at a place of the page. */
function boxAt(x, y) {
  let found = null, group = groups[0];
  while (group) {
    const child = group.children.find(box => x >= box.x && x <= box.x + box.w && y >= box.y && y <= box.y + box.h);
    if (!child) return found;
    found = child;
    group = child.kind === "group" && child.open ? child : null;
  }
  return found;
}

function pagePoint(event) {
  const frame = canvas.getBoundingClientRect();
  return [camera.x + (event.clientX - frame.left) / camera.scale, camera.y + (event.clientY - frame.top) / camera.scale];
}

function select(box) {
  state.selected = box;
  state.onSelect(box);
  redraw();
}

function zoom(factor, event) {
  const frame = canvas.getBoundingClientRect();
  const at = event ? pagePoint(event) : [camera.x + canvas.clientWidth / 2 / camera.scale, camera.y + canvas.clientHeight / 2 / camera.scale];
  const px = event ? event.clientX - frame.left : canvas.clientWidth / 2, py = event ? event.clientY - frame.top : canvas.clientHeight / 2;
  camera.scale = Math.max(0.01, Math.min(3, camera.scale * factor));
  camera.x = at[0] - px / camera.scale;
  camera.y = at[1] - py / camera.scale;
  redraw();
}

function fit() {
  const root = groups[0], margin = 24;
  camera.scale = Math.min(1.15, (canvas.clientWidth - 2 * margin) / root.w, (canvas.clientHeight - 2 * margin) / root.h);
  centre(root);
}

/** At first: all of it if that can be read, else its beginning. */
function firstSight() {
  fit();
  if (camera.scale >= 0.55) return;
  camera.scale = Math.max(0.7, Math.min(1, (canvas.clientWidth - 48) / groups[0].w));
  const root = groups[0], first = inputs[0] || root.children[0] || root;
  const width = canvas.clientWidth / camera.scale, middle = first.x + first.w / 2 - width / 2;
  // Nothing is gained by empty space beside the graph.
  camera.x = width >= root.w ? (root.w - width) / 2 : Math.max(-24, Math.min(root.w - width + 24, middle));
  camera.y = -24 / camera.scale;
  redraw();
}

function centre(box) {
  camera.x = box.x + box.w / 2 - canvas.clientWidth / camera.scale / 2;
  camera.y = box.y + box.h / 2 - canvas.clientHeight / camera.scale / 2;
  redraw();
}

/** Opens what is around a box, and brings it to the middle. */
function reveal(box) {
  let isChanged = false;
  for (let group = box.parent; group; group = group.parent) {
    isChanged = isChanged || !group.open;
    group.open = true;
  }
  if (isChanged) layoutAll(textWidth);
  camera.scale = Math.max(camera.scale, 0.75);
  centre(box);
  select(box);
}

/** One level more or less, from the outside. */
function changeLevel(open) {
  const shut = groups.filter(group => group.parent && visible(group) === group && !group.open);
  const opened = groups.filter(group => group.parent && group.open && visible(group) === group);
  const depth = open ? Math.min(...shut.map(group => group.depth)) : Math.max(...opened.map(group => group.depth));
  for (const group of open ? shut : opened) if (group.depth === depth) group.open = open;
  layoutAll(textWidth);
  fit();
}

function listenToMouse() {
  let drag = null;
  canvas.addEventListener("pointerdown", event => {
    drag = {x: event.clientX, y: event.clientY, moved: false};
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", event => {
    if (!drag) {
      const box = boxAt(...pagePoint(event));
      if (box !== state.hovered) { state.hovered = box; if (!state.selected) redraw(); }
      return;
    }
    const dx = event.clientX - drag.x, dy = event.clientY - drag.y;
    if (!drag.moved && Math.hypot(dx, dy) < 4) return;
    drag = {x: event.clientX, y: event.clientY, moved: true};
    canvas.classList.add("dragging");
    camera.x -= dx / camera.scale;
    camera.y -= dy / camera.scale;
    redraw();
  });
  canvas.addEventListener("pointerup", event => {
    if (drag && !drag.moved) click(event);
    drag = null;
    canvas.classList.remove("dragging");
  });
  canvas.addEventListener("dblclick", event => {
    const box = boxAt(...pagePoint(event));
    if (box && box.kind === "group") setOpen(box, !box.open);
  });
  canvas.addEventListener("wheel", event => {
    event.preventDefault();
    zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.03 : 0.0015)), event);
  }, {passive: false});
}

function click(event) {
  const [x, y] = pagePoint(event), box = boxAt(x, y);
  const isToggle = box && box.kind === "group" && (box.open ? y - box.y < 28 && x - box.x < 28 : x - box.x < 24);
  if (isToggle) setOpen(box, !box.open);
  else select(box);
}
