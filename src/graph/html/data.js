"use strict";
// What the page was given: `info` as `ingot info --json` has it; `inputs`, `outputs` ({name, shape, dtype, from}); `weights`;
// `groups` ({n: name, p: path, t: class, c: children}, a child is a node's number or -1 - a group's); `nodes` ({n: name, o: operator,
// f: full operator, m: module, t: class, i: inputs [source, shape], w: weights [number, name, shape], r: results
// [name, shape, dtype], a: arguments [name, value, kind], s: [file, line, function, code]}); `files`; `symbols`.
// A source is a node's number, or -1 - the number of an input.
const given = JSON.parse(document.getElementById("graph").textContent);

// A box is what is drawn: a node, a module (group), an input or an output of the model.
const groups = given.groups.map((g, index) => (
  {kind: "group", index, name: g.n || "model", path: g.p, type: g.t, parent: null, children: [], open: index === 0,
   count: 0, parameters: 0, depth: 0, first: Infinity, last: -1}));
const nodes = given.nodes.map((n, index) => (
  {kind: "node", index, data: n, title: n.o, sub: n.r.length ? n.r[0][1] : "", colour: family(n.f), parent: null, users: []}));
const inputs = given.inputs.map((p, index) => (
  {kind: "input", index, data: p, title: p.name, sub: p.shape, colour: "port", parent: groups[0], users: []}));
const outputs = given.outputs.map((p, index) => (
  {kind: "output", index, data: p, title: given.outputs.length > 1 ? `output ${index}` : "output", sub: p.shape, colour: "port",
   parent: groups[0]}));
const edges = [];   // {from, to, shape}
const weightUsers = given.weights.map(() => []);

/** The family of an operator, for its colour. */
function family(op) {
  const name = op.replace(/^(aten|ingot|prims)[.]/, "");
  const families = [
    ["attention", /attention|flash/], ["norm", /norm/], ["matrix", /conv|linear|matmul|mm\b|bmm|einsum|addmm|lstm|gru|dot\b/],
    ["activation", /relu|gelu|silu|sigmoid|tanh|softmax|elu\b|hardswish|mish|dropout|glu/],
    ["pool", /pool|sum|mean|amax|amin|max\b|min\b|argm|cumsum|topk|sort|reduce|prod|any\b|all\b/],
    ["index", /embedding|index|gather|scatter|select|slice|where|masked|take|getitem/],
    ["shape", /view|reshape|transpose|permute|flatten|squeeze|expand|cat|stack|split|chunk|pad|clone|contiguous|to\b|_to_copy|unbind|repeat|broadcast|convert|cast/],
    ["element", /add|sub|mul|div|pow|sqrt|exp|log|neg|abs|clamp|cos|sin|round|floor|erf|(^|_)(eq|ne|lt|gt|le|ge|not|and|or|xor)($|[._])/]];
  const found = families.find(([, pattern]) => pattern.test(name));
  return found ? found[0] : "other";
}

function linkTree() {
  for (const group of groups) {
    for (const child of given.groups[group.index].c) {
      const box = child < 0 ? groups[-1 - child] : nodes[child];
      box.parent = group;
      group.children.push(box);
    }
  }
  groups[0].children.unshift(...inputs);
  groups[0].children.push(...outputs);
  for (const group of groups) group.depth = group.parent ? group.parent.depth + 1 : 0;
}

function linkEdges() {
  for (const node of nodes) {
    for (const [source, shape] of node.data.i) addEdge(source, node, shape);
    for (const [weight] of node.data.w) if (weight >= 0 && weightUsers[weight]) weightUsers[weight].push(node);
  }
  for (const output of outputs) if (output.data.from !== null) addEdge(output.data.from, output, output.sub);
}

function addEdge(source, to, shape) {
  const from = source < 0 ? inputs[-1 - source] : nodes[source];
  if (!from || from === to) return;
  edges.push({from, to, shape});
  if (from.users[from.users.length - 1] !== to) from.users.push(to);   // edges come target by target
}

/** Parameters of every module: each weight counts in the modules of its first user. */
function countGroups() {
  for (const node of nodes)
    for (let group = node.parent; group; group = group.parent) {
      group.count += 1;
      group.first = Math.min(group.first, node.index);
      group.last = Math.max(group.last, node.index);
    }
  given.weights.forEach((weight, index) => {
    const user = weightUsers[index][0];
    if (!user || weight.same) return;
    for (let group = user.parent; group; group = group.parent) group.parameters += weight.count;
  });
}

linkTree();
linkEdges();
countGroups();

function number(value) { return value.toLocaleString("en-US"); }

/** 25.6 M */
function shortNumber(value) {
  for (const [limit, unit] of [[1e12, "T"], [1e9, "B"], [1e6, "M"], [1e3, "k"]])
    if (value >= limit) return (value / limit).toFixed(value / limit < 100 ? 1 : 0) + " " + unit;
  return String(value);
}

function bytesText(value) {
  for (const [limit, unit] of [[1e12, "TB"], [1e9, "GB"], [1e6, "MB"], [1e3, "kB"]])
    if (value >= limit) return (value / limit).toFixed(1) + " " + unit;
  return value + " B";
}
