// The panels beside the drawing, the search, and the start. Everything from the document goes in as text, never as HTML.
const panel = document.getElementById("panel");
const TABS = [["node", "Node", showNode], ["model", "Model", showModel], ["weights", "Weights", showWeights], ["ops", "Operators", showOps]];
let currentTab = "model";

function element(tag, options = {}, ...children) {
  const made = document.createElement(tag);
  for (const [key, value] of Object.entries(options)) {
    if (key === "onclick") made.addEventListener("click", value);
    else if (key === "style") for (const [name, each] of Object.entries(value)) made.style.setProperty(name, each);
    else made.setAttribute(key, value);
  }
  for (const child of children) if (child !== null && child !== undefined) made.append(child);
  return made;
}

function showTab(name) {
  currentTab = name;
  for (const button of document.querySelectorAll("#tabs button")) button.setAttribute("aria-selected", String(button.dataset.tab === name));
  panel.replaceChildren(...TABS.find(tab => tab[0] === name)[2]().flat().filter(Boolean));
  panel.scrollTop = 0;
}

function jump(box, text) { return element("a", {class: "jump", onclick: () => reveal(box)}, text); }

function facts(rows) {
  const list = element("dl");
  for (const [name, value] of rows) if (value !== "" && value !== null && value !== undefined) list.append(element("dt", {}, name), element("dd", {}, value));
  return list;
}

function section(title, ...content) { return content.length && content[0] ? [element("h3", {}, title), ...content] : []; }

function showNode() {
  const box = state.selected;
  if (!box) return [element("p", {class: "sub"}, "Click a box to see its operator, shapes, arguments and where it comes from.")];
  if (box.kind === "group") return showGroup(box);
  if (box.kind !== "node") return showPort(box);
  const node = box.data;
  return [
    element("h2", {}, node.n), element("p", {class: "sub mono"}, node.f),
    section("Results", facts(node.r.map(([name, shape, dtype]) => [name, `${shape || "scalar"}  ${dtype}`]))),
    section("Where", facts([["module", node.m], ["class", node.t]]), sourceText(node.s)),
    section("Arguments", node.a.length ? facts(node.a.map(argumentRow)) : null),
    section("Inputs", linkList(edges.filter(edge => edge.to === box).map(edge => [edge.from, edge.shape]))),
    section("Weights", node.w.length ? facts(node.w.map(([index, name, shape]) => [given.weights[index] ? given.weights[index].name : name, shape])) : null),
    section("Used by", linkList(box.users.slice(0, 60).map(user => [user, ""]))),
  ];
}

function argumentRow([name, value, kind]) { return [name, kind === "default" ? `${value}  (default)` : value]; }

function sourceText(source) {
  if (!source) return null;
  const [file, line, name, code] = source;
  return element("div", {}, element("p", {class: "sub mono"}, `${given.files[file]}:${line}${name ? " in " + name : ""}`), code ? element("pre", {}, code) : null);
}

function linkList(links) {
  if (!links.length) return null;
  const list = element("dl");
  for (const [box, shape] of links)
    list.append(element("dt", {}, jump(box, box.kind === "node" ? box.data.n : box.title)), element("dd", {}, [box.kind === "node" ? box.title : box.kind, shape].filter(Boolean).join("  ")));
  return list;
}

function showGroup(group) {
  return [
    element("h2", {}, group.path || group.name), element("p", {class: "sub"}, group.type || "module"),
    section("Size", facts([["operators", number(group.count)], ["parameters", number(group.parameters)]])),
    element("p", {}, element("button", {onclick: () => setOpen(group, !group.open)}, group.open ? "Close module" : "Open module")),
    section("Inside", linkList(group.children.slice(0, 80).map(child => [child, child.kind === "group" ? boxSub(child) : child.sub]).map(([child, text]) => [named(child), text]))),
  ];
}

function named(box) { return box.kind === "group" ? Object.assign(box, {title: groupTitle(box)}) : box; }

function showPort(box) {
  return [
    element("h2", {}, box.data.name), element("p", {class: "sub"}, box.kind === "input" ? "input of the model" : "output of the model"),
    section("Tensor", facts([["shape", box.data.shape || "scalar"], ["dtype", box.data.dtype]])),
    section("Used by", box.users ? linkList(box.users.slice(0, 60).map(user => [user, ""])) : null),
    section("Made by", linkList(edges.filter(edge => edge.to === box).map(edge => [edge.from, ""]))),
  ];
}

function showModel() {
  const info = given.info;
  const card = (value, name) => element("div", {class: "card"}, element("b", {}, value), element("span", {}, name));
  const ports = list => facts(list.map(port => [port.name, `${port.shape || "scalar"}  ${port.dtype}`]));
  return [
    element("h2", {}, info.model_name || "model"), element("p", {class: "sub"}, given.torch ? `PyTorch ${given.torch}` : ""),
    element("h3", {}, "Numbers"),
    element("div", {class: "cards"}, card(number(info.num_nodes), "operators"), card(number(Object.keys(info.op_distribution).length), "kinds of operators"),
            card(shortNumber(info.total_parameters), "parameters"), card(bytesText(info.weight_bytes), "weights")),
    section("Inputs", given.inputs.length ? ports(given.inputs) : null), section("Outputs", given.outputs.length ? ports(given.outputs) : null),
    section("Sizes that vary", given.symbols.length ? facts(given.symbols.map(([name, min, max]) => [name, `${min ?? "any"} … ${max ?? "any"}`])) : null),
    section("Parameters by module", moduleBars()),
  ];
}

function bar(name, text, share, colour, onclick) {
  return element("div", {class: "bar", title: name, onclick}, element("span", {}, name), element("b", {}, text),
                 element("i", {style: {width: `${Math.max(1, 100 * share)}%`, "--c": `var(--${colour})`}}));
}

/** A module that holds nothing but another one says nothing new. */
function isInteresting(group) {
  return group.parent && group.parameters && group.depth <= 4 && !group.children.some(child => child.kind === "group" && child.parameters === group.parameters);
}

function moduleBars() {
  const total = Math.max(1, given.info.total_parameters + given.info.total_buffers);
  const rows = groups.filter(isInteresting).sort((a, b) => b.parameters - a.parameters).slice(0, 14);
  if (!rows.length) return null;
  return element("div", {}, ...rows.map(group => bar(group.path, shortNumber(group.parameters), Math.min(1, group.parameters / total), "accent", () => reveal(group))));
}

function showOps() {
  const counts = Object.entries(given.info.op_distribution), most = counts.length ? counts[0][1] : 1;
  return [element("h2", {}, "Operators"), element("p", {class: "sub"}, "Click one to find its nodes."),
          element("div", {style: {"margin-top": "10px"}}, ...counts.slice(0, 400).map(([name, count]) => bar(name, number(count), count / most, family(name), () => search(name))))];
}

const weightOrder = {key: "position", down: false, text: ""};
function showWeights() {
  const filter = element("input", {class: "filter", type: "search", placeholder: "Filter by name", value: weightOrder.text});
  const body = element("tbody");
  const fill = () => body.replaceChildren(...weightRows());
  filter.addEventListener("input", () => { weightOrder.text = filter.value; fill(); });
  const heads = [["name", "Name"], ["shape", "Shape"], ["bytes", "Size"]].map(([key, title]) =>
    element("th", {class: key === "bytes" ? "number" : "", tabindex: "0", onclick: () => {
      weightOrder.down = weightOrder.key === key ? !weightOrder.down : key === "bytes";
      weightOrder.key = key;
      fill();
    }}, title));
  fill();
  const info = given.info;
  return [element("h2", {}, `${number(info.num_weights)} weights`),
          element("p", {class: "sub"}, `${bytesText(info.weight_bytes)} · ${number(info.total_parameters)} parameters · ${number(info.total_buffers)} in buffers · ${number(info.total_constants)} in constants`),
          element("h3", {}, "Table"), filter, element("table", {}, element("thead", {}, element("tr", {}, ...heads)), body)];
}

function weightRows() {
  const rows = given.weights.map((weight, position) => ({...weight, position})).filter(weight => weight.name.includes(weightOrder.text));
  const sign = weightOrder.down ? -1 : 1, key = weightOrder.key;
  rows.sort((a, b) => sign * (typeof a[key] === "number" ? a[key] - b[key] : a[key].localeCompare(b[key], "en", {numeric: true})));
  return rows.slice(0, 3000).map(weight => element("tr", {class: "link", onclick: () => { const user = weightUsers[weight.position][0]; if (user) reveal(user); }},
    element("td", {}, weight.name, element("div", {class: "sub"}, [weight.kind, weight.same ? `same as ${weight.same}` : ""].filter(Boolean).join(", "))),
    element("td", {}, weight.shape || "scalar", element("div", {class: "sub"}, weight.dtype)), element("td", {class: "number"}, bytesText(weight.bytes))));
}

// Search: words that must all occur in a box's texts.
const searchField = document.getElementById("search"), results = document.getElementById("results");
let found = [], chosen = 0, haystack = null;

function texts() {
  haystack ||= [...inputs, ...outputs, ...groups.slice(1), ...nodes].map(box => {
    const node = box.data || {};
    const parts = box.kind === "node" ? [node.n, node.f, node.m, node.t, ...node.w.map(([index, name]) => (given.weights[index] || {name}).name), node.s ? `${given.files[node.s[0]]}:${node.s[1]}` : ""]
      : box.kind === "group" ? [box.path, box.type] : [node.name, box.kind];
    return [box, parts.join(" ").toLowerCase()];
  });
  return haystack;
}

function search(text) {
  searchField.value = text;
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  found = words.length ? texts().filter(([, all]) => words.every(word => all.includes(word))).map(([box]) => box) : [];
  state.matches = new Set(found.length <= 2000 ? found : []);
  chosen = 0;
  showResults();
  redraw();
}

function showResults() {
  results.hidden = !found.length && !searchField.value;
  searchField.setAttribute("aria-expanded", String(!results.hidden));
  const rows = found.slice(0, 100).map((box, index) => {
    const title = box.kind === "node" ? `${box.data.n}  ·  ${box.title}` : box.kind === "group" ? groupTitle(box) : box.title;
    const where = box.kind === "node" ? [box.data.m, box.sub].filter(Boolean).join("  ·  ") : box.kind === "group" ? box.path : box.kind;
    return element("li", {role: "option", "aria-selected": String(index === chosen), onclick: () => pick(index)}, title, element("small", {}, where));
  });
  const note = !found.length ? "nothing found" : found.length > 100 ? `${number(found.length)} found, the first 100 are listed` : "";
  results.replaceChildren(...rows, ...(note ? [element("li", {}, element("small", {}, note))] : []));
  const row = results.children[chosen];
  if (row) row.scrollIntoView({block: "nearest"});
}

function pick(index) {
  if (!found[index]) return;
  chosen = index;
  results.hidden = true;
  reveal(found[index]);
}

function listenToSearch() {
  searchField.addEventListener("input", () => search(searchField.value));
  searchField.addEventListener("focus", () => { if (searchField.value) showResults(); });
  searchField.addEventListener("blur", () => setTimeout(() => { results.hidden = true; }, 200));
  searchField.addEventListener("keydown", event => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      chosen = Math.max(0, Math.min(Math.min(found.length, 100) - 1, chosen + (event.key === "ArrowDown" ? 1 : -1)));
      showResults();
      event.preventDefault();
    } else if (event.key === "Enter") {
      if (results.hidden) pick((chosen + 1) % Math.max(1, found.length));
      else pick(chosen);
    } else if (event.key === "Escape") {
      search("");
      results.hidden = true;
      canvas.focus();
    }
  });
}

function listenToKeys() {
  const keys = {f: fit, e: () => changeLevel(true), c: () => changeLevel(false), t: switchTheme, "+": () => zoom(1.25), "-": () => zoom(0.8),
                "/": () => searchField.focus(), Escape: () => select(null), Enter: () => { if (state.selected && state.selected.kind === "group") setOpen(state.selected, !state.selected.open); }};
  const arrows = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]};
  document.addEventListener("keydown", event => {
    if (event.target.tagName === "INPUT" || event.ctrlKey || event.metaKey || event.altKey) return;
    if (arrows[event.key] && event.target === canvas) {
      camera.x += arrows[event.key][0] * 80 / camera.scale;
      camera.y += arrows[event.key][1] * 80 / camera.scale;
      redraw();
    } else if (!keys[event.key] || (event.key === "Enter" && event.target !== canvas)) return;
    else keys[event.key]();
    event.preventDefault();
  });
}

function switchTheme() {
  const root = document.documentElement;
  root.dataset.theme = root.dataset.theme === "dark" ? "light" : "dark";
  readColours();
  redraw();
}

function showFrame() {
  const info = given.info;
  document.getElementById("title").textContent = info.model_name || "model";
  document.getElementById("summary").textContent = `${number(info.num_nodes)} operators · ${shortNumber(info.total_parameters)} parameters · ${bytesText(info.weight_bytes)}`;
  for (const [name, title] of TABS) document.getElementById("tabs").append(element("button", {role: "tab", "data-tab": name, onclick: () => showTab(name)}, title));
  const used = new Set(nodes.map(node => node.colour));
  const names = {matrix: "matrix", norm: "norm", activation: "activation", attention: "attention", element: "element-wise", shape: "layout", pool: "reduction", index: "indexing", other: "other"};
  for (const [name, title] of Object.entries(names)) if (used.has(name)) document.getElementById("legend").append(element("span", {style: {"--c": `var(--${name})`}}, title));
  for (const [id, action] of [["fit", fit], ["expand", () => changeLevel(true)], ["collapse", () => changeLevel(false)], ["theme", switchTheme]])
    document.getElementById(id).addEventListener("click", action);
}

function start() {
  const wanted = new URLSearchParams(location.hash.slice(1)).get("theme");
  document.documentElement.dataset.theme = wanted === "light" || wanted === "dark" ? wanted : matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  readColours();
  showFrame();
  openReadable(60);
  canvas.width = canvas.clientWidth;
  layoutAll(textWidth);
  resize();
  firstSight();
  showTab("model");
  state.onSelect = () => showTab("node");
  listenToMouse();
  listenToSearch();
  listenToKeys();
  new ResizeObserver(resize).observe(canvas);
}

start();
