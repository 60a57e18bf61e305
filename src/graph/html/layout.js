// The layout. Every open module is laid out in layers by itself, and is a box in the layout of the module around it. A value that
// crosses a module's frame goes through a port on the frame: on top for what comes in, at the bottom for what goes out.
const SPACE = {x: 18, y: 34, pad: 18, head: 26, lane: 12};
const MAX_LANES = 40;   // an edge across more layers than this is drawn straight: lanes for all would fill the page

/** The box that is drawn for `box`: itself, or the outermost closed module around it. */
function visible(box) {
  let shown = box;
  for (let group = box.parent; group; group = group.parent) if (!group.open) shown = group;
  return shown;
}

/** Wires of each open module: {from, to, key, shapes}; `from` is null for a port above, `to` for a port below. */
function wiresByGroup() {
  const wires = new Map();
  const add = (group, from, to, source, shape) => {
    if (!wires.has(group)) wires.set(group, new Map());
    const id = (from ? from.id : "in") + ">" + (to ? to.id : "out") + ">" + source.id;
    const list = wires.get(group);
    if (!list.has(id)) list.set(id, {from, to, source, shapes: new Set()});
    list.get(id).shapes.add(shape);
  };
  for (const edge of edges) {
    const source = visible(edge.from), target = visible(edge.to);
    if (source === target) continue;
    const above = new Set();
    for (let group = source.parent; group; group = group.parent) above.add(group);
    let meeting = target.parent;
    while (!above.has(meeting)) meeting = meeting.parent;
    let from = source, to = target;
    for (; from.parent !== meeting; from = from.parent) add(from.parent, from, null, source, edge.shape);
    for (; to.parent !== meeting; to = to.parent) add(to.parent, null, to, source, edge.shape);
    if (from !== to) add(meeting, from, to, source, edge.shape);
  }
  return wires;
}

function measureBox(box, width) {
  const textual = box.kind === "group" ? groupTitle(box) : box.title;
  box.w = Math.max(76, Math.min(280, Math.max(width(textual, true), width(boxSub(box), false)) + 26));
  box.h = boxSub(box) ? 40 : 28;
}

function groupTitle(group) { return group.type ? `${group.name}: ${group.type}` : group.name; }

function boxSub(box) {
  if (box.kind !== "group") return box.sub;
  return `${number(box.count)} ops` + (box.parameters ? ` · ${shortNumber(box.parameters)} params` : "");
}

/** Lays out every open module, the innermost first. `width` measures text. */
function layoutAll(width) {
  let id = 0;
  for (const list of [groups, nodes, inputs, outputs]) for (const box of list) box.id = id++;
  const wires = wiresByGroup();
  const visit = group => {
    for (const child of group.children) {
      if (child.kind === "group" && child.open) visit(child);
      else measureBox(child, width);
    }
    layoutGroup(group, [...(wires.get(group) || new Map()).values()]);
  };
  visit(groups[0]);
  place(groups[0], 0, 0);
}

/** From positions in their module to positions on the page. */
function place(group, x, y) {
  group.x = x;
  group.y = y;
  for (const child of group.children) {
    if (child.kind === "group" && child.open) place(child, x + child.rx, y + child.ry);
    else [child.x, child.y] = [x + child.rx, y + child.ry];
  }
}

// In a layout an item is a box, a port, or a place where a wire passes a layer.
function layoutGroup(group, wires) {
  const items = group.children.map(box => ({box, w: box.w, h: box.h, layer: 0, up: [], down: []}));
  const itemOf = new Map(items.map(item => [item.box, item]));
  const ports = {in: new Map(), out: new Map()};
  const port = (side, source) => {
    if (!ports[side].has(source)) ports[side].set(source, {port: side, source, w: SPACE.lane, h: 0, layer: 0, up: [], down: []});
    return ports[side].get(source);
  };
  const lines = wires.map(wire => (
    {wire, from: wire.from ? itemOf.get(wire.from) : port("in", wire.source), to: wire.to ? itemOf.get(wire.to) : port("out", wire.source)}));
  assignLayers(items, lines, ports);
  const all = [...ports.in.values(), ...items, ...ports.out.values()];
  const layers = buildLayers(all, lines);
  orderLayers(layers);
  assignX(layers);
  finishGroup(group, items, ports, layers, lines);
}

/** Longest path from the top; then what has no producers goes down to its users. */
function assignLayers(items, lines, ports) {
  const start = ports.in.size ? 1 : 0;
  const into = new Map(), outOf = new Map();
  const push = (map, key, value) => map.has(key) ? map.get(key).push(value) : map.set(key, [value]);
  for (const line of lines) { push(into, line.to, line.from); push(outOf, line.from, line.to); }
  let last = start;
  for (const item of items) {   // children stand in execution order
    item.layer = start;
    for (const from of into.get(item) || []) item.layer = Math.max(item.layer, from.layer + 1);
    last = Math.max(last, item.layer);
  }
  for (let i = items.length - 1; i >= 0; --i) {
    const item = items[i], users = outOf.get(item) || [];
    if (into.has(item) || !users.length) continue;
    const first = Math.min(...users.map(user => user.port ? last + 1 : user.layer));
    if (first - 1 > item.layer) item.layer = first - 1;
  }
  for (const port of ports.out.values()) port.layer = last + 1;
}

/** One list of items a layer. Wires of one value share the places where they pass. */
function buildLayers(all, lines) {
  const layers = [];
  const put = item => {
    while (layers.length <= item.layer) layers.push([]);
    layers[item.layer].push(item);
  };
  all.forEach(put);
  const lanes = new Map();
  for (const line of lines) {
    line.path = [line.from];
    let above = line.from;
    line.straight = line.to.layer - line.from.layer > MAX_LANES;
    for (let layer = line.from.layer + 1; layer < line.to.layer && !line.straight; ++layer) {
      const key = `${idOf(line.from)}:${line.wire.source.id}:${layer}`;
      if (!lanes.has(key)) {
        const lane = {lane: true, w: SPACE.lane, h: 0, layer, up: [], down: []};
        lanes.set(key, lane);
        put(lane);
        connect(above, lane, line.wire.source);
      }
      above = lanes.get(key);
      line.path.push(above);
    }
    line.path.push(line.to);
    if (!line.straight) connect(above, line.to, line.wire.source);
  }
  for (let i = 0; i < layers.length; ++i) layers[i].forEach((item, k) => { item.order = k; });
  return layers;
}

function idOf(item) { return item.box ? item.box.id : "in" + item.source.id; }

/** Where on a box a wire ends, from its middle: at the port of an open module. */
function portOffset(item, side, source) {
  const box = item.box;
  if (!box || box.kind !== "group" || !box.open) return 0;
  const found = box.ports[side].get(source);
  return found === undefined ? 0 : found - box.w / 2;
}

function connect(above, below, source) {
  // Chains of boxes stay upright and lanes straight; a box that leans to every lane beside it makes stairs.
  const weight = above.lane && below.lane ? 4 : above.lane || below.lane ? 0.03 : 1;
  const a = portOffset(above, "out", source), b = portOffset(below, "in", source);
  above.down.push({item: below, offset: b - a, weight});
  below.up.push({item: above, offset: a - b, weight});
}

/** Fewer crossings: each layer is sorted by the mean place of its neighbours, down and up a few times. */
function orderLayers(layers) {
  const total = layers.reduce((sum, layer) => sum + layer.length, 0);
  const rounds = total > 4000 ? 3 : 8;
  const sweep = (layer, side) => {
    for (const item of layer) {
      const near = item[side];
      item.mean = near.length ? near.reduce((sum, end) => sum + end.item.order, 0) / near.length : item.order;
    }
    layer.sort((a, b) => a.mean - b.mean || a.order - b.order);
    layer.forEach((item, k) => { item.order = k; });
  };
  for (let round = 0; round < rounds; ++round) {
    for (let i = 1; i < layers.length; ++i) sweep(layers[i], "up");
    for (let i = layers.length - 2; i >= 0; --i) sweep(layers[i], "down");
  }
  for (let i = 1; i < layers.length; ++i) sweep(layers[i], "up");
}

/** Middles of the items: each layer goes as near to its neighbours as order and widths allow. */
function assignX(layers) {
  for (const layer of layers) {
    let x = 0;
    for (const item of layer) { item.x = x + item.w / 2; x += item.w + SPACE.x; }
    for (const item of layer) item.x -= x / 2;
  }
  const total = layers.reduce((sum, layer) => sum + layer.length, 0);
  const rounds = total > 4000 ? 6 : 16;
  for (let round = 0; round < rounds; ++round) {
    for (let i = 1; i < layers.length; ++i) fitLayer(layers[i], ["up"]);
    for (let i = layers.length - 2; i >= 0; --i) fitLayer(layers[i], ["down"]);
  }
  for (let round = 0; round < 4; ++round) for (const layer of layers) fitLayer(layer, ["up", "down"]);
}

/** Least squares with a fixed order: neighbours that would overlap become one block at their mean. */
function fitLayer(layer, sides) {
  const blocks = [];
  let offset = 0;
  layer.forEach((item, k) => {
    if (k > 0) offset += layer[k - 1].w / 2 + item.w / 2 + (item.lane && layer[k - 1].lane ? SPACE.x / 3 : SPACE.x);
    let sum = 0, weight = 0;
    for (const side of sides)
      for (const end of item[side]) { sum += (end.item.x + end.offset) * end.weight; weight += end.weight; }
    if (weight === 0) { sum = item.x * 0.1; weight = 0.1; }
    blocks.push({sum: sum - offset * weight, weight, count: 1, offsets: [offset]});
    while (blocks.length > 1) {
      const right = blocks[blocks.length - 1], left = blocks[blocks.length - 2];
      if (left.sum / left.weight <= right.sum / right.weight) break;
      blocks.pop();
      left.sum += right.sum;
      left.weight += right.weight;
      left.count += right.count;
      for (const each of right.offsets) left.offsets.push(each);
    }
  });
  let k = 0;
  for (const block of blocks) for (const each of block.offsets) layer[k++].x = block.sum / block.weight + each;
}

/** Sizes, places in the module, ports on its frame, and the lines between. */
function finishGroup(group, items, ports, layers, lines) {
  let left = Infinity, right = -Infinity, y = group.parent ? SPACE.head + SPACE.pad / 2 : SPACE.pad;
  for (const layer of layers)
    for (const item of layer) { left = Math.min(left, item.x - item.w / 2); right = Math.max(right, item.x + item.w / 2); }
  if (left > right) left = right = 0;
  const title = group.parent ? groupTitle(group).length * 7 + 60 : 0;
  const width = Math.max(right - left, title) + 2 * SPACE.pad;
  const shift = (width - (right - left)) / 2 - left;
  layers.forEach((layer, index) => {
    const height = layer.reduce((most, item) => Math.max(most, item.h), 0);
    if (index > 0) y += gapAbove(layer, layers[index - 1]);
    for (const item of layer) { item.x += shift; item.top = y; item.bottom = y + height; item.y = y + (height - item.h) / 2; }
    y += height;
  });
  group.w = width;
  group.h = y + (ports.out.size ? 0 : SPACE.pad);
  group.ports = {in: new Map(), out: new Map()};
  for (const side of ["in", "out"])
    for (const [source, item] of ports[side]) {
      group.ports[side].set(source, item.x);
      item.top = item.bottom = item.y = side === "in" ? 0 : group.h;
    }
  for (const item of items) [item.box.rx, item.box.ry] = [item.x - item.w / 2, item.y];
  group.lines = lines.map(line => {
    const points = linePoints(line), xs = points.map(point => point[0]);
    return {source: line.wire.source, target: line.wire.to, shapes: line.wire.shapes, straight: line.straight,
            isFirst: line.wire.from === line.wire.source, points, left: Math.min(...xs), right: Math.max(...xs)};
  });
}

/** Wires that move far sideways need room for their bends. */
function gapAbove(layer, above) {
  if (above.every(item => item.port) || layer.every(item => item.port)) return SPACE.y * 0.6;
  let far = 0;
  for (const item of layer) for (const end of item.up) far = Math.max(far, Math.abs(end.item.x - item.x));
  return SPACE.y + Math.min(46, far / 14);
}

function linePoints(line) {
  const source = line.wire.source, last = line.path.length - 1, points = [];
  line.path.forEach((item, index) => {
    const side = index === 0 ? "out" : "in";
    const x = item.lane ? item.x : item.x + portOffset(item, side, source);
    if (index === 0) points.push([x, item.port ? item.bottom : item.y + item.h]);
    else if (index === last) points.push([x, item.port ? item.top : item.y]);
    else points.push([x, item.top], [x, item.bottom]);
  });
  return points;
}
