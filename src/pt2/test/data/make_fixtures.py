#!/usr/bin/env python3
"""Writes the .pt2 files of this folder: tiny programs, one for each thing that a reader can get wrong.

Run it after an update of torch; file names are what the tests refer to. Paths inside stack traces are
replaced, so that the files do not depend on where torch is installed.
"""

import collections
import pathlib
import re
import zipfile

import torch
from torch import nn
from torch.export import Dim, export, save
from torch.export.pt2_archive._package import package_pt2

FOLDER = pathlib.Path(__file__).parent
Point = collections.namedtuple("Point", "a b")


class Linear(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 3)
        with torch.no_grad():
            self.fc.weight.copy_(torch.arange(12.0).reshape(3, 4))
            self.fc.bias.copy_(torch.tensor([1.0, 2.0, 3.0]))

    def forward(self, x):
        return torch.relu(self.fc(x))


class SharedStrided(nn.Module):
    """Tied parameters, views of one storage, and every kind of stride."""

    def __init__(self):
        super().__init__()
        base = torch.arange(40.0).reshape(10, 4)
        self.w1 = nn.Parameter(base[:6])
        self.w2 = nn.Parameter(base[6:])
        self.tied = self.w1
        self.register_buffer("transposed", torch.arange(20.0).reshape(4, 5).t())
        self.register_buffer("expanded", torch.arange(3.0).expand(4, 3))
        self.register_buffer("sliced", torch.arange(20)[3:13:2])
        self.register_buffer("empty", torch.zeros(0, 3))
        self.register_buffer("scalar", torch.tensor(2.0, dtype=torch.float64))
        self.register_buffer("narrow", torch.ones(3, dtype=torch.bfloat16))
        self.register_buffer("hidden", torch.ones(2), persistent=False)

    def forward(self, x):
        y = x @ self.w1.t() @ self.tied @ self.w2 + self.transposed.sum() + self.expanded.sum()
        return y * self.scalar + self.sliced.sum() + self.narrow.sum() + self.hidden.sum() + self.empty.sum()


class Dynamic(nn.Module):
    def forward(self, x, y):
        n = x.shape[0]
        z = torch.cat([x, y]).reshape(-1, 2, x.shape[1] // 2)
        return z, torch.full((2 * n + 1,), float("inf")), n * 3


class Cond(nn.Module):
    def forward(self, x, y):
        def on_true(x, y):
            return x + y, x.sum()

        def on_false(x, y):
            return x - y, y.sum()

        return torch.cond(x.sum() > 0, on_true, on_false, (x, y))


class Pytree(nn.Module):
    def forward(self, x, pair, *rest, table, point, factor):
        a, (b,) = pair
        total = x + a + b + sum(rest) + table["k"] * table["scale"] + point.a * point.b
        return {"total": total * factor, "parts": [a, point], 3: None}


class Cache(nn.Module):
    """Buffers that change: in place before decomposition, as mutation outputs after it."""

    def __init__(self):
        super().__init__()
        self.register_buffer("k", torch.zeros(1, 2, 4))
        self.register_buffer("v", torch.zeros(1, 2, 4), persistent=False)

    def forward(self, position, x):
        self.k.index_copy_(1, position, x)
        self.v[:, position] = x
        return self.k + self.v, torch.tensor([1.0, 2.0])


def anonymize(module):
    """Replaces this machine's paths in stack traces, in bodies of higher-order operators too."""
    packages = str(pathlib.Path(torch.__file__).parents[1])
    for part in module.modules():
        if not isinstance(part, torch.fx.GraphModule):
            continue
        for node in part.graph.nodes:
            trace = node.meta.get("stack_trace")
            if trace:
                trace = trace.replace(packages, "/usr/lib/python3/site-packages")
                trace = trace.replace(str(pathlib.Path(__file__)), "make_fixtures.py")
                node.meta["stack_trace"] = re.sub(r'"/[^"]*/make_fixtures\.py"', '"make_fixtures.py"', trace)


def exported(model, args, kwargs=None, decompose=False, **options):
    program = export(model.eval(), args, kwargs, **options)
    if decompose:
        program = program.run_decompositions({})
    anonymize(program.graph_module)
    return program


def write(name, *args, **kwargs):
    save(exported(*args, **kwargs), FOLDER / f"{name}.pt2")


def rezip(source, target, compression):
    """What a user's archiver makes of a file: no alignment, perhaps compression."""
    with zipfile.ZipFile(FOLDER / source) as old, zipfile.ZipFile(FOLDER / target, "w", compression) as new:
        for entry in old.infolist():
            content = old.read(entry)
            info = zipfile.ZipInfo(entry.filename, (1980, 1, 1, 0, 0, 0))
            info.compress_type = compression
            new.writestr(info, content)


def main():
    torch.manual_seed(0)
    x = torch.ones(2, 4)
    write("linear", Linear(), (x,))
    write("shared_strided", SharedStrided(), (x,))
    rows = Dim("rows", min=3, max=64)
    shapes = {"x": {0: rows, 1: 2 * Dim("half", max=16)}, "y": {0: rows, 1: 2 * Dim("half", max=16)}}
    write("dynamic", Dynamic(), (torch.ones(6, 8), torch.ones(6, 8)), dynamic_shapes=shapes)
    write("cond", Cond(), (x, torch.zeros(2, 4)))
    torch.utils._pytree._register_namedtuple(Point, serialized_type_name="fixtures.Point")
    keywords = {"table": {"k": x, "scale": 2}, "point": Point(x, x), "factor": 2.5}
    write("pytree", Pytree(), (x, [x, (x,)], x, x), keywords)
    write("cache", Cache(), (torch.tensor([1]), torch.ones(1, 1, 4)))
    write("cache_decomposed", Cache(), (torch.tensor([1]), torch.ones(1, 1, 4)), decompose=True)
    programs = {"first": exported(Linear(), (x,)), "second": exported(Cond(), (x, torch.zeros(2, 4)))}
    package_pt2(str(FOLDER / "two_models.pt2"), exported_programs=programs)
    rezip("shared_strided.pt2", "shared_strided_stored.pt2", zipfile.ZIP_STORED)
    rezip("shared_strided.pt2", "shared_strided_deflated.pt2", zipfile.ZIP_DEFLATED)


if __name__ == "__main__":
    main()
