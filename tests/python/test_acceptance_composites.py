"""Modules kept whole: composites of the library and of the user's own, over both spellings (§13–§16)."""

from __future__ import annotations

import functools
import itertools
import re
from typing import Any

import pytest
import torch
from acceptance import API, Api, Holder, Opened, both, close, export, run
from torch import Tensor

TOLERANCE = {torch.float32: 1e-5, torch.float16: 4e-3, torch.bfloat16: 3e-2}
DTYPES = pytest.mark.parametrize("dtype", list(TOLERANCE), ids=lambda dtype: str(dtype).rpartition(".")[2])
# The library is the same in both spellings; most of its tests take one.
INGOT, COMPAT = API["ingot"], API["compat"]


def random(*shape: int, dtype: torch.dtype = torch.float32, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


SPECS = {
    "RMSNormImpl": ("rms_norm", ["axes", "eps"]),
    "RoPE": ("rope", ["scale", "base", "dims", "interleaved"]),
    "SDPA": ("scaled_dot_product_attention", ["scale", "is_causal", "window_size"]),
    "GatherMM": ("gather_mm", ["num_batch_axes"]),
    "GatedDeltaUpdate": ("gated_delta_update", ["use_qk_l2_norm"]),
}


def spec(api: Api, name: str) -> Any:
    return api.package.ExternalizeSpec(getattr(api.composites, name), *SPECS[name])


def kept(api: Api, model: torch.nn.Module, specs: list[Any], *args: Tensor, shapes: Any = None) -> Any:
    """The model converted with modules kept whole."""
    options = {} if shapes is None else {"dynamic_shapes": shapes}
    converter = api.converter().add_pytorch_module(
        model.eval(), export_fn=lambda m: export(m, *args, **options), externalize_modules=specs
    )
    return api.convert(converter)


class Case:
    """A module of the library, and what it is called with; tensors without a name are given by position."""

    def __init__(self, module: torch.nn.Module, *tensors: Tensor, **named: Tensor) -> None:
        self.module, self.names = module, list(named)
        self.tensors = (*tensors, *named.values())

    def call(self, module: torch.nn.Module, tensors: tuple[Tensor, ...]) -> Any:
        plain = len(tensors) - len(self.names)
        return module(*tensors[:plain], **dict(zip(self.names, tensors[plain:], strict=True)))


def declarations(program: Any) -> list[str]:
    """Of all composites, in the order of the functions."""
    return re.findall(r"composite_decl = (.*?version = 1 : si64.*)", str(program))


def check(api: Api, name: str, *cases: Case) -> list[str]:
    """Externalizes the modules of all cases as the composite `name`, in one model; the declarations.

    Numerics against eager, saved, loaded and run by name.
    """

    def forward(model: Any, *tensors: Tensor) -> Any:
        given, results = iter(tensors), []
        for number, case in enumerate(cases):
            results.append(
                case.call(getattr(model, f"case{number}"), tuple(itertools.islice(given, len(case.tensors))))
            )
        return results

    model = Holder(forward, **{f"case{number}": case.module for number, case in enumerate(cases)})
    tensors = [tensor.clone() for case in cases for tensor in case.tensors]
    program = kept(api, model, [spec(api, name)], *tensors)
    results = run(api, program, *tensors)
    with torch.no_grad():
        wanted = torch.utils._pytree.tree_leaves(model(*tensors))
    for result, want in zip(results, wanted, strict=True):
        close(result, want, TOLERANCE[want.dtype])
    found = declarations(program)
    assert len(found) == len(cases)
    assert all(SPECS[name][0] in text for text in found)
    return found


def names(text: str, which: str) -> list[str]:
    (listed,) = re.findall(rf"{which} = \[(.*?)\]", text)
    return re.findall(r'"(\w+)"', listed)


def attribute(text: str, name: str) -> str | None:
    found = re.findall(rf"[{{ ]{name} = ([^,}}]*)", text)
    return found[0].strip() if found else None


# ---- the library


@DTYPES
def test_rms_norm(dtype: torch.dtype) -> None:
    api = COMPAT
    x = random(2, 3, 8, dtype=dtype)
    plain = Case(api.composites.RMSNormImpl(eps=0.5), x, random(8, dtype=dtype, seed=1))
    precise = Case(api.composites.RMSNormImpl(), x, random(8, seed=1))
    for text, eps in zip(check(api, "RMSNormImpl", plain, precise), ("5.000000e-01", "9.99999974E-6"), strict=True):
        assert (names(text, "input_names"), names(text, "output_names")) == (["input", "scale"], ["output"])
        assert attribute(text, "axes") == "-1 : si64"
        assert attribute(text, "eps") == f"{eps} : f32"


def test_rms_norm_with_its_own_weight() -> None:
    api = COMPAT
    model = Holder(lambda m, x: m.b(m.a(x)), a=api.composites.RMSNorm(8), b=api.composites.RMSNorm(8, 0.5, n_heads=3))
    torch.nn.init.normal_(model.b.weight)
    x = random(2, 3, 4, 8)
    program = kept(api, model, [spec(api, "RMSNormImpl")], x)
    close(run(api, program, x)[0], model(x))
    assert [attribute(text, "eps") for text in declarations(program)] == ["9.99999974E-6 : f32", "5.000000e-01 : f32"]


FREQUENCIES = torch.tensor([1.0, 0.3, 0.1, 0.02])
POSITIONS = torch.tensor([[0, 1, 2, 3], [4, 7, 5, 6]])
OFFSET = torch.tensor([3, 5])
ROPE_INPUTS: list[dict[str, Tensor]] = [
    {},
    {"position_ids": POSITIONS},
    {"offset": OFFSET},
    {"freqs": FREQUENCIES},
    {"position_ids": POSITIONS, "freqs": FREQUENCIES},
    {"freqs": FREQUENCIES, "offset": OFFSET},
    {"cos": random(4, 4, seed=3), "sin": random(4, 4, seed=4)},
]


@pytest.mark.parametrize(
    ("api", "interleaved", "dtype", "inputs"),
    [(COMPAT, False, torch.float32, ROPE_INPUTS), (INGOT, True, torch.float16, ROPE_INPUTS[-2:])],
    ids=["float32", "float16"],
)
def test_rope(api: Api, interleaved: bool, dtype: torch.dtype, inputs: list[dict[str, Tensor]]) -> None:
    cases = []
    for given in inputs:
        tensors = {key: value.to(dtype) if key in ("cos", "sin") else value for key, value in given.items()}
        rope = api.composites.RoPE(base=100.0, interleaved=interleaved)
        cases.append(Case(rope, random(2, 3, 4, 8, dtype=dtype), **tensors))
    for text, given in zip(check(api, "RoPE", *cases), inputs, strict=True):
        assert names(text, "input_names") == ["input", *given], "omitted arguments are not declared"
        assert attribute(text, "interleaved") == str(interleaved).lower()
        assert attribute(text, "base") == "1.000000e+02 : f32"
        assert attribute(text, "dims") is None, "attributes that are None are left out"


def test_rope_of_some_lanes() -> None:
    api = INGOT
    rope = api.composites.RoPE(scale=0.5, dims=4)
    (text,) = check(api, "RoPE", Case(rope, random(1, 2, 3, 8, dtype=torch.bfloat16)))
    assert (attribute(text, "dims"), attribute(text, "scale")) == ("4 : si64", "5.000000e-01 : f32")


SDPA_CASES: list[tuple[dict[str, Any], dict[str, Tensor]]] = [
    ({}, {}),
    ({"is_causal": True}, {}),
    ({"is_causal": True, "window_size": 2}, {}),
    ({"is_causal": True}, {"attn_mask": random(5, 6, seed=5)}),
    ({}, {"attn_mask": random(5, 6, seed=5) > -1, "sinks": random(4, seed=6)}),
    ({"window_size": 2}, {}),
    ({"scale": 0.5}, {}),
    ({}, {"attn_mask": random(5, 6, seed=5) > -1}),
    ({"is_causal": True}, {"sinks": random(4, seed=6)}),
]


@pytest.mark.parametrize(
    ("heads", "dtype", "count"),
    [(4, torch.float32, 9), (2, torch.float16, 2), (1, torch.bfloat16, 2)],
    ids=["MHA", "GQA", "MQA"],
)
def test_sdpa(heads: int, dtype: torch.dtype, count: int) -> None:
    api, cases = COMPAT if heads == 4 else INGOT, []
    for options, given in SDPA_CASES[:count]:
        tensors = {name: value.to(dtype) if value.is_floating_point() else value for name, value in given.items()}
        query, key, value = (random(2, n, t, 8, dtype=dtype, seed=n + t) for n, t in ((4, 5), (heads, 6), (heads, 6)))
        cases.append(Case(api.composites.SDPA(**options), query, key, value, **tensors))
    for text, (options, given) in zip(check(api, "SDPA", *cases), SDPA_CASES, strict=False):
        assert names(text, "input_names") == ["query", "key", "value", *given]
        assert attribute(text, "is_causal") == str(options.get("is_causal", False)).lower()
        assert attribute(text, "window_size") == f"{options.get('window_size', 0)} : si64"
        assert attribute(text, "scale") == ("5.000000e-01 : f32" if "scale" in options else None)


@pytest.mark.parametrize(("api", "window"), [(INGOT, 0), (COMPAT, 3)], ids=["causal", "window"])
def test_sdpa_of_any_length(api: Api, window: int) -> None:
    attention = api.composites.SDPA(is_causal=True, window_size=window)
    model = Holder(lambda m, q, k, v: m.inner(q, k, v), inner=attention)
    queries, keys = torch.export.Dim("queries", min=2, max=16), torch.export.Dim("keys", min=16, max=64)
    args = (random(1, 4, 5, 8), random(1, 2, 20, 8), random(1, 2, 20, 8))
    program = kept(api, model, [spec(api, "SDPA")], *args, shapes=({2: queries}, ({2: keys}, {2: keys})))
    opened = Opened(api, program)
    inputs = opened.function().desc.input_names
    for q, k in ((2, 16), (7, 33), (16, 16)):
        given = (random(1, 4, q, 8), random(1, 2, k, 8, seed=1), random(1, 2, k, 8, seed=2))
        (result,) = opened(dict(zip(inputs, given, strict=True))).values()
        close(result, model(*given))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16], ids=["float32", "float16"])
def test_gather_mm(dtype: torch.dtype) -> None:
    api = COMPAT
    lhs, rhs = random(2, 3, 4, dtype=dtype), random(5, 4, 6, dtype=dtype, seed=1)
    left, right = torch.tensor([1, 0, 1]), torch.tensor([4, 2, 0])
    calls: list[tuple[Tensor, Tensor, dict[str, Tensor]]] = [
        (lhs[0], rhs, {}),
        (lhs[:, None], rhs, {"rhs_indices": right}),
        (lhs, rhs[:3], {"lhs_indices": left}),
        (lhs, rhs, {"lhs_indices": left, "rhs_indices": right.int()}),
    ]
    calls = calls if dtype == torch.float32 else calls[-1:]
    cases = [Case(api.composites.GatherMM(), a, b, **given) for a, b, given in calls]
    for text, (_, _, given) in zip(check(api, "GatherMM", *cases), calls, strict=True):
        assert names(text, "input_names") == ["lhs", "rhs", *given]
        assert attribute(text, "num_batch_axes") == "0 : si64"


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=["float32", "bfloat16"])
def test_gated_delta_update(dtype: torch.dtype) -> None:
    api, norms = COMPAT, (True, False) if dtype == torch.float32 else (True,)
    batch, heads, steps, width, values = 1, 2, 5, 4, 6
    rows, gates = (batch, heads, steps), (batch, heads, steps)
    shapes = [(*rows, width), (*rows, width), (*rows, values), gates, gates, (batch, heads, width, values)]
    tensors = [random(*shape, dtype=dtype, seed=seed) * 0.5 for seed, shape in enumerate(shapes)]
    cases = [Case(api.composites.GatedDeltaUpdate(use_qk_l2_norm=norm), *tensors) for norm in norms]
    for text, norm in zip(check(api, "GatedDeltaUpdate", *cases), norms, strict=True):
        assert names(text, "input_names") == ["query", "key", "value", "g", "beta", "initial_state"]
        assert names(text, "output_names") == ["output_0", "output_1"]
        assert attribute(text, "use_qk_l2_norm") == str(norm).lower()


# ---- the user's own


class Scale(torch.nn.Module):
    def __init__(self, factor: float = 2.0, label: str | None = None) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(random(4, seed=int(factor)))
        self.factor, self.label = factor, label

    def forward(self, x: Tensor, extra: Tensor | None = None, last: Tensor | None = None) -> Tensor:
        y = torch.nn.functional.silu(x * self.weight) * self.factor
        y = y if extra is None else y + extra
        return y if last is None else y * last


class Block(torch.nn.Module):
    def __init__(self, norm: torch.nn.Module) -> None:
        super().__init__()
        self.norm = norm
        self.linear = torch.nn.Linear(4, 4)

    def forward(self, x: Tensor) -> Tensor:
        return x + self.linear(self.norm(x))


X = random(3, 4)


def functions(program: Any) -> list[str]:
    """Names of all but the entry points."""
    found = re.findall(r"func\.func (?:private )?@(?:\"([^\"]+)\"|([\w.]+))", str(program))
    return [quoted or plain for quoted, plain in found if (quoted or plain) != "main"]


def test_attributes_of_each_instance() -> None:
    api = INGOT
    model = Holder(lambda m, x: m.b(m.a(x)), a=Scale(2.0, "first"), b=Scale(3.0))
    program = kept(api, model, [api.package.ExternalizeSpec(Scale, "scale", ["factor", "label"])], X)
    found = declarations(program)
    assert [attribute(text, "factor") for text in found] == ["2.000000e+00 : f32", "3.000000e+00 : f32"]
    assert [attribute(text, "label") for text in found] == ['"first"', None]
    assert len(functions(program)) == 2
    close(run(api, program, X)[0], model(X))


def test_a_class_without_a_declaration() -> None:
    api = COMPAT
    model = Holder(lambda m, x: m.inner(x) + 1, inner=Scale())
    program = kept(api, model, [Scale], X)
    (name,) = functions(program)
    assert re.fullmatch(r"inner_[0-9a-f]{8}", name) and "composite_decl" not in str(program)
    close(run(api, program, X)[0], model(X))


def test_nested_blocks() -> None:
    api = INGOT
    model = Holder(lambda m, x: m.second(m.first(x)), first=Block(api.composites.RMSNorm(4)), second=Block(Scale()))
    specs = [api.package.ExternalizeSpec(Block, "block"), spec(api, "RMSNormImpl"), Scale]
    program = kept(api, model, specs, X)
    paths = sorted(name.rpartition("_")[0] for name in functions(program))
    assert paths == ["first", "first.norm.rms_norm", "second", "second.norm"]
    close(run(api, program, X)[0], model(X))


def test_one_instance_called_twice() -> None:
    api = COMPAT
    model = Holder(lambda m, x, y: (m.inner(m.inner(x)), m.inner(y)), inner=Scale())
    args = (X, random(2, 4, seed=2))
    program = kept(api, model, [api.package.ExternalizeSpec(Scale, "scale", ["factor"])], *args)
    for result, want in zip(run(api, program, *args), model(*args), strict=True):
        close(result, want)
    shapes = re.findall(r"tensor<[23]x4xf32>", str(program))
    assert {"tensor<2x4xf32>", "tensor<3x4xf32>"} <= set(shapes)


def test_equal_bodies_are_shared() -> None:
    api = INGOT
    layers = {f"layer{i}": Block(api.composites.RMSNorm(4)) for i in range(3)}

    def forward(model: Any, x: Tensor) -> Tensor:
        for name in layers:
            x = getattr(model, name)(x)
        return x

    model = Holder(forward, **layers)
    program = kept(api, model, [api.package.ExternalizeSpec(Block, "block")], X)
    assert len(functions(program)) == 1, "bodies that differ in their weights only are one function"
    close(run(api, program, X)[0], model(X))


@pytest.mark.parametrize(("api", "given"), [(INGOT, ("extra",)), (COMPAT, ("last",)), (COMPAT, ())])
def test_omitted_arguments(api: Api, given: tuple[str, ...]) -> None:
    def forward(model: Any, x: Tensor, *rest: Tensor) -> Tensor:
        return model.inner(x, **dict(zip(given, rest, strict=True)))

    model, args = Holder(forward, inner=Scale()), (X, *(random(4, seed=i) for i in range(len(given))))
    program = kept(api, model, [api.package.ExternalizeSpec(Scale, "scale")], *args)
    close(run(api, program, *args)[0], model(*args))
    (text,) = declarations(program)
    assert names(text, "input_names") == ["weight", "x", *given]


@both
def test_the_two_step_form(api: Api) -> None:
    from ingot.externalize import _STAMP

    model = Holder(lambda m, x: m.block(m.scale(x)), scale=Scale(), block=Block(api.composites.RMSNorm(4)))
    specs = [api.package.ExternalizeSpec(Scale, "scale", ["factor"]), spec(api, "RMSNormImpl")]
    patch, restore = api.externalize._patch_model_for_externalization, api.externalize._subexport_and_restore
    patch(model, specs)
    with pytest.raises(RuntimeError, match="externalized already"):
        patch(model, specs)
    exported = export(model, X, decompose=True)
    bodies = restore(model, exported)
    assert len(bodies) == 2 and restore(model, exported) == []
    assert not any(_STAMP in part.__dict__ or "forward" in part.__dict__ for part in model.modules())
    converter = api.converter().add_exported_program(exported, _externalized_exported_programs=bodies)
    for _ in range(2):
        program = api.convert(converter)
        assert len(functions(program)) == 2 and "rms_norm" in str(program)
        close(run(api, program, X)[0], model(X))


def test_refusals() -> None:
    api = COMPAT
    package = api.package
    with pytest.raises(ValueError, match="composite_op_name"):
        package.ExternalizeSpec(Scale, composite_attrs=["factor"])
    model = Holder(lambda m, x: m.inner(x), inner=Scale())
    with pytest.raises(AttributeError, match="nothing"):
        kept(api, model, [package.ExternalizeSpec(Scale, "scale", ["nothing"])], X)
    with pytest.warns(UserWarning, match="Conv2d"):
        kept(api, model, [torch.nn.Conv2d], X)
    unused = Holder(lambda m, x: x + 1, inner=Scale())
    with pytest.warns(UserWarning, match="No call sites found"):
        kept(api, unused, [Scale], X)
    numbers = Holder(lambda m, x: m.inner(x, 3.0), inner=Scale())
    with pytest.raises(TypeError, match="Only Tensor inputs are supported for externalized submodules"):
        kept(api, numbers, [Scale], X)
    for holder in (model, unused, numbers):
        assert "forward" not in holder.inner.__dict__


def test_entry_points_with_composites_share_weights() -> None:
    api = COMPAT
    model = Holder(lambda m, x: m.block(x), block=Block(api.composites.RMSNorm(4)))
    converter, block = api.converter(), api.package.ExternalizeSpec(Block, "block")
    for name, rows in (("one", 3), ("two", 5)):
        converter.add_pytorch_module(
            model,
            export_fn=functools.partial(lambda rows, m: export(m, random(rows, 4)), rows),
            externalize_modules=[block],
            entrypoint_name=name,
            output_names=["y"],
        )
    opened = Opened(api, api.convert(converter))
    for name, rows in (("one", 3), ("two", 5)):
        x = random(rows, 4, seed=rows)
        close(opened({"x": x}, None, name)["y"], model(x))
    weights = opened.files()["weights.safetensors"]
    assert weights.count(b'"block.linear.weight') == 1
