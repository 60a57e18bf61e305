"""Changes to exported programs that know what a graph is: nodes and edges, tensors, signatures, sizes."""

from __future__ import annotations

import copy
from random import Random
from typing import Any

from fuzz.mutate import NUMBERS, nested, slots_of

Document = dict[str, Any]
DTYPES = range(36)
SIZES = [0, 1, 2, 3, 4, 6, 8, 16, 100, 1000, 2**16, 2**31, 2**40, 2**62, -1]
KINDS = ["as_int", "as_float", "as_bool", "as_string", "as_none", "as_ints", "as_floats", "as_tensor", "as_tensors",
         "as_sym_int", "as_sym_ints", "as_scalar_type", "as_optional_tensors", "as_device", "as_layout",
         "as_memory_format", "as_custom_obj", "as_operator", "as_graph", "as_complex"]  # fmt: skip


def graphs_of(document: Any) -> list[Document]:
    """The graph of the program and those of its branches and loops."""
    values = [document, *(container[key] for container, key in slots_of(document))]
    return [value for value in values if isinstance(value, dict) and isinstance(value.get("nodes"), list)]


def some_graph(document: Any, random: Random) -> Document | None:
    graphs = [graph for graph in graphs_of(document) if graph["nodes"]]
    return random.choice(graphs) if graphs else None


def references(value: Any) -> list[Document]:
    """Every {"name": ...} that names a value of the graph."""
    found = []
    for container, key in slots_of(value):
        item = container[key]
        is_list = key in ("as_tensors", "as_sym_ints", "as_optional_tensors") and isinstance(item, list)
        for each in item if is_list else [item]:
            if isinstance(each, dict) and isinstance(each.get("name"), str) and (is_list or key == "as_tensor"):
                found.append(each)
    return found


def rewire(document: Any, random: Random) -> Any:
    """Edges to other values: earlier ones, later ones, a node's own result, what is nowhere."""
    graph = some_graph(document, random)
    if graph is None:
        return document
    node = random.choice([*graph["nodes"], graph])
    edges = references(node.get("inputs", []) if node is not graph else graph.get("outputs", []))
    names = [each["name"] for each in references(graph)]
    for _ in range(random.choice((1, 1, 2, 5))):
        if edges and names:
            random.choice(edges)["name"] = random.choice([*names, "nowhere", ""])
    return document


def reorder(document: Any, random: Random) -> Any:
    """Nodes that are missing, doubled, in another order, or in another graph."""
    graph, other = some_graph(document, random), some_graph(document, random)
    if graph is None or other is None:
        return document
    nodes = graph["nodes"]
    at = random.randrange(len(nodes))
    kind = random.randrange(6)
    if kind == 0:
        del nodes[at]
    elif kind == 1:
        nodes.insert(random.randrange(len(nodes) + 1), copy.deepcopy(nodes[at]))
    elif kind == 2:
        nodes.reverse()
    elif kind == 3:
        random.shuffle(nodes)
    elif kind == 4:
        other["nodes"].append(copy.deepcopy(nodes[at]))
    else:
        graph["inputs"], graph["outputs"] = graph.get("outputs"), graph.get("inputs")
    return document


def chain(document: Any, random: Random) -> Any:
    """One node many times, each on the result of the one before: depth that nothing may follow by recursion."""
    graph = some_graph(document, random)
    if graph is None:
        return document
    at = random.randrange(len(graph["nodes"]))
    node = graph["nodes"][at]
    edges, results = references(node.get("inputs", [])), references(node.get("outputs", []))
    if not edges or len(results) != 1:
        return document
    last, added = results[0]["name"], []
    which = random.randrange(len(edges))
    for i in range(random.choice((20, 200, 1500))):
        new = copy.deepcopy(node)
        references(new["inputs"])[which]["name"] = last
        last = f"chained_{i}"
        references(new["outputs"])[0]["name"] = last
        if isinstance(graph.get("tensor_values"), dict) and results[0]["name"] in graph["tensor_values"]:
            graph["tensor_values"][last] = copy.deepcopy(graph["tensor_values"][results[0]["name"]])
        added.append(new)
    graph["nodes"][at + 1 : at + 1] = added
    for output in references(graph.get("outputs", [])):
        if output["name"] == results[0]["name"]:
            output["name"] = last
    return document


def nest(document: Any, random: Random) -> Any:
    """Graphs in graphs: a branch in a branch in a branch."""
    slots = [slot for slot in slots_of(document) if slot[1] == "as_graph"]
    slots = [slot for slot in slots if isinstance(slot[0]["as_graph"], dict) and "graph" in slot[0]["as_graph"]]
    if not slots:
        return chain(document, random)
    container, key = random.choice(slots)
    inner = container[key]
    target = random.choice(("torch.ops.higher_order.cond", "torch.ops.higher_order.while_loop"))
    for _ in range(random.choice((1, 4, 40, 100))):
        graph = inner["graph"]
        arguments = [{"name": "", "arg": {"as_graph": inner}, "kind": 1}]
        arguments += [{"name": "", "arg": copy.deepcopy(each), "kind": 1} for each in graph.get("inputs", [])]
        node = {"target": target, "inputs": arguments, "outputs": graph.get("outputs"), "metadata": {}}
        inner = {"name": inner.get("name"), "graph": {**graph, "nodes": [node]}}
    container[key] = inner
    return document


def metas_of(document: Any) -> list[Document]:
    """Descriptions of tensors, in graphs and in lists of weights."""
    values = [container[key] for container, key in slots_of(document)]
    return [value for value in values if isinstance(value, dict) and "sizes" in value and "strides" in value]


def size_list(random: Random) -> list[Any]:
    count = random.choice((0, 1, 2, 3, 4, 5, 9, 70, 1000))
    return [{"as_int": random.choice(SIZES)} for _ in range(count)]


def reshape(document: Any, random: Random) -> Any:
    """Tensors of other sizes, strides, offsets and element types, which agree with each other or do not."""
    metas = metas_of(document)
    if not metas:
        return document
    for meta in random.choices(metas, k=random.choice((1, 1, 2, 8))):
        kind = random.randrange(7)
        if kind == 0:
            meta["dtype"] = random.choice(DTYPES)
        elif kind == 1:
            meta["sizes"] = size_list(random)
            meta["strides"] = [{"as_int": random.choice((0, 1, 2))} for _ in meta["sizes"]]
        elif kind == 2:
            meta["strides"] = [{"as_int": random.choice([*SIZES, -(2**62)])} for _ in meta["sizes"]]
        elif kind == 3:
            meta["storage_offset"] = {"as_int": random.choice([*SIZES, 2**63 - 1, -(2**63)])}
        elif kind == 4:
            meta["sizes"], meta["strides"] = meta["strides"], meta["sizes"]
        elif kind == 5:
            other = random.choice(metas)
            meta.update({key: copy.deepcopy(other[key]) for key in ("sizes", "strides", "dtype") if key in other})
        else:
            symbol = {"as_expr": {"expr_str": random.choice(("s0", "s99", "s0*s0", "u3", "zuf0")), "hint": None}}
            meta["sizes"] = [symbol for _ in meta["sizes"]]
    return document


def retype(document: Any, random: Random) -> Any:
    """Arguments of another kind with the same content, or with one that fits the new kind."""
    slots = [slot for slot in slots_of(document) if slot[1] == "arg" and isinstance(slot[0]["arg"], dict)]
    if not slots:
        return document
    container, key = random.choice(slots)
    content = next(iter(container[key].values()), None)
    fitting: Document = {
        "as_int": random.choice(NUMBERS), "as_float": random.choice((0.0, 1e308, "NaN", "-Infinity", -1.5)),
        "as_ints": [random.choice(NUMBERS) for _ in range(random.choice((0, 1, 2, 5, 300)))],
        "as_scalar_type": random.choice(DTYPES), "as_none": True, "as_bool": random.random() < 0.5,
        "as_tensors": [], "as_string": "", "as_floats": [0.5, "Infinity"],
    }  # fmt: skip
    kind = random.choice(KINDS)
    container[key] = {kind: fitting.get(kind, content) if random.random() < 0.7 else content}
    return document


def resign(document: Any, random: Random) -> Any:
    """What inputs and outputs are: users', weights, buffers that are written, constants."""
    slots = [slot for slot in slots_of(document) if slot[1] in ("input_specs", "output_specs")]
    slots = [slot for slot in slots if isinstance(slot[0][slot[1]], list) and slot[0][slot[1]]]
    if not slots:
        return document
    container, key = random.choice(slots)
    specs = container[key]
    at, other = random.randrange(len(specs)), random.randrange(len(specs))
    kind = random.randrange(5)
    if kind == 0:
        specs[at] = copy.deepcopy(specs[other])
    elif kind == 1:
        del specs[at]
    elif kind == 2:
        specs[at], specs[other] = specs[other], specs[at]
    elif kind == 3:
        specs.append(copy.deepcopy(specs[at]))
    elif isinstance(specs[at], dict) and specs[at]:
        body = next(iter(specs[at].values()))
        names = ("user_input", "parameter", "buffer", "tensor_constant", "custom_obj", "token", "constant_input",
                 "user_output", "buffer_mutation", "user_input_mutation", "loss_output")  # fmt: skip
        specs[at] = {random.choice(names): body}
    return document


def bound(document: Any, random: Random) -> Any:
    """Symbols, their ranges and their hints."""
    ranges = document.get("range_constraints")
    if not isinstance(ranges, dict):
        return document
    name = random.choice([*ranges, "s0", "s99", "u0", ""])
    ranges[name] = {"min_val": random.choice(NUMBERS), "max_val": random.choice([*NUMBERS, None])}
    slots = [slot for slot in slots_of(document) if slot[1] in ("expr_str", "hint")]
    if slots:
        container, key = random.choice(slots)
        texts = ("s0*s1", "s0//2", "Mod(s0, 0)", "9**s0", "Max(s0, s1)", "-1", "1/0", "zoo", "((((s0))))", "s0 < 4")
        container[key] = random.choice(texts) if key == "expr_str" else {"as_int": random.choice(NUMBERS)}
    return document


def bury(document: Any, random: Random) -> Any:
    """Something very deep where something flat was."""
    slots = slots_of(document)
    if not slots:
        return document
    container, key = random.choice(slots)
    container[key] = nested(random.choice((30, 200, 700)), random)
    return document


GRAPH_CHANGES = [rewire, rewire, reorder, reorder, chain, nest, reshape, reshape, retype, retype, resign, bound, bury]
