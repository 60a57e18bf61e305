"""torch.compile(backend="ingot") against eager."""

from __future__ import annotations

import copy
import gc
import threading
import warnings
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from ingot import compile_backend
from ingot.compile_backend import CompiledGraph
from models import zoo
from torch.utils import _pytree as pytree


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    torch._dynamo.reset()
    torch.manual_seed(0)
    yield
    torch._dynamo.reset()


@pytest.fixture
def graphs(monkeypatch: pytest.MonkeyPatch) -> list[CompiledGraph]:
    """The graphs that are compiled during a test."""
    made: list[CompiledGraph] = []
    initialise = CompiledGraph.__init__

    def record(self: CompiledGraph, *args: Any) -> None:
        initialise(self, *args)
        made.append(self)

    monkeypatch.setattr(CompiledGraph, "__init__", record)
    return made


def compiled(model: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    return torch.compile(model, backend="ingot", **options)


def assert_native(graphs: list[CompiledGraph], count: int | None = None) -> None:
    assert graphs and not any(graph._is_eager for graph in graphs)
    assert all(graph._entries for graph in graphs)
    if count is not None:
        assert len(graphs) == count


def assert_same(actual: Any, expected: Any) -> None:
    assert pytree.tree_structure(actual) == pytree.tree_structure(expected)
    torch.testing.assert_close(actual, expected, rtol=1e-4, atol=1e-5)


@pytest.fixture
def no_warnings() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message="ingot")
        yield


class Mlp(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = torch.nn.Linear(4, 8)
        self.second = torch.nn.Linear(8, 3)

    def forward(self, x: torch.Tensor, *, scale: float = 1.0) -> torch.Tensor:
        return self.second(torch.relu(self.first(x))) * scale


def frozen(model: torch.nn.Module) -> torch.nn.Module:
    return model.eval().requires_grad_(False)


def test_is_registered_by_the_package() -> None:
    assert "ingot" in torch._dynamo.list_backends()
    assert torch._dynamo.lookup_backend("ingot") is compile_backend.ingot_backend


def test_runs_natively(graphs: list[CompiledGraph], no_warnings: None) -> None:
    model = frozen(Mlp())
    fast = compiled(model)
    for _ in range(3):
        x = torch.randn(5, 4)
        assert_same(fast(x), model(x))
    assert_native(graphs, 1)


def test_keyword_arguments(graphs: list[CompiledGraph], no_warnings: None) -> None:
    model = frozen(Mlp())
    x = torch.randn(5, 4)
    assert_same(compiled(model)(x=x, scale=2.5), model(x, scale=2.5))
    assert_native(graphs)


def test_nested_results(graphs: list[CompiledGraph], no_warnings: None) -> None:
    def function(x: torch.Tensor, pair: dict[str, torch.Tensor]) -> dict[str, Any]:
        return {"sum": x + pair["a"], "rest": (x * 2, [pair["b"].sin(), None]), "rows": x.shape[0]}

    args = (torch.randn(3, 2), {"a": torch.randn(3, 2), "b": torch.randn(4)})
    assert_same(compiled(function)(*args), function(*args))
    assert_native(graphs)


def test_graph_breaks(graphs: list[CompiledGraph], no_warnings: None) -> None:
    seen: list[float] = []

    def function(x: torch.Tensor) -> torch.Tensor:
        y = torch.exp(x) + 1
        seen.append(y.sum().item())
        torch._dynamo.graph_break()
        if y.sum() > 0:
            y = y * 2
        return y - x

    x = torch.randn(3, 4)
    assert_same(compiled(function)(x), function(x))
    assert seen[0] == pytest.approx(seen[1], rel=1e-5)
    assert_native(graphs)
    assert len(graphs) > 1


@pytest.mark.parametrize("dynamic", [None, True])
def test_sizes_that_vary(dynamic: bool | None, graphs: list[CompiledGraph], no_warnings: None) -> None:
    model = frozen(Mlp())
    fast = compiled(model, dynamic=dynamic)
    for rows in (3, 5, 7, 2, 11):
        x = torch.randn(rows, 4)
        assert_same(fast(x), model(x))
    assert_native(graphs, 1 if dynamic else 2)
    assert len(graphs[-1]._entries) == 1  # one program for all sizes


def test_sums_of_sizes(graphs: list[CompiledGraph], no_warnings: None) -> None:
    def function(x: torch.Tensor, y: torch.Tensor, z: torch.Tensor) -> torch.Tensor:
        return torch.cat([x, y, z, torch.arange(x.shape[0] + y.shape[0] + z.shape[0], dtype=torch.float32)])

    fast = compiled(function, dynamic=True)
    for sizes in ((3, 4, 5), (6, 4, 7)):
        x, y, z = (torch.randn(size) for size in sizes)
        assert_same(fast(x, y, z), function(x, y, z))
    assert_native(graphs, 1)


def test_a_size_that_is_marked(graphs: list[CompiledGraph], no_warnings: None) -> None:
    fast = compiled(lambda x, y: torch.cat([x, y]).reshape(-1, 2) * x.shape[0])
    for rows in (4, 6, 10):
        x, y = torch.randn(rows, 3), torch.randn(rows, 3)
        torch._dynamo.mark_dynamic(x, 0, min=2, max=64)
        torch._dynamo.mark_dynamic(y, 0, min=2, max=64)
        assert_same(fast(x, y), torch.cat([x, y]).reshape(-1, 2) * rows)
    assert_native(graphs, 1)


def test_numbers_that_vary(graphs: list[CompiledGraph], no_warnings: None) -> None:
    def function(x: torch.Tensor, count: int, factor: float) -> tuple[torch.Tensor, int]:
        return x[:count] * count + factor, count + x.shape[0]

    fast = compiled(function, dynamic=True)
    for count, factor in ((3, 0.5), (5, 0.25), (2, 4.0)):
        x = torch.randn(8, 2)
        assert_same(fast(x, count, factor), function(x, count, factor))
    assert_native(graphs)


def test_other_element_types(graphs: list[CompiledGraph], no_warnings: None) -> None:
    fast = compiled(lambda x: (x + x).abs())
    for dtype in (torch.float64, torch.bfloat16, torch.int32, torch.complex64):
        x = torch.ones(3, dtype=dtype) * 2
        x = x.conj() if dtype.is_complex else x
        assert_same(fast(x), (x + x).abs())
    assert_native(graphs)


class Counter(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("total", torch.zeros(3))
        self.register_buffer("calls", torch.tensor(0))
        self.linear = torch.nn.Linear(3, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.total += self.linear(x).sum(0)
        self.calls.add_(1)
        return x + self.total


def test_buffers_that_are_written_to(graphs: list[CompiledGraph], no_warnings: None) -> None:
    model = frozen(Counter())
    reference = copy.deepcopy(model)
    place = model.total.data_ptr()
    fast = compiled(model)
    for _ in range(3):
        x = torch.randn(2, 3)
        assert_same(fast(x), reference(x))
        assert_same(dict(model.named_buffers()), dict(reference.named_buffers()))
    assert model.total.data_ptr() == place
    assert_native(graphs, 1)
    model.total.zero_()
    reference.total.zero_()
    assert_same(fast(x), reference(x))


def test_batch_norm_in_training_mode(graphs: list[CompiledGraph], no_warnings: None) -> None:
    model = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4)).train().requires_grad_(False)
    reference = copy.deepcopy(model)
    fast = compiled(model)
    for _ in range(3):
        x = torch.randn(2, 3, 6, 6)
        assert_same(fast(x), reference(x))
        assert_same(dict(model.named_buffers()), dict(reference.named_buffers()))
    assert_native(graphs)


def test_arguments_that_are_written_to(graphs: list[CompiledGraph], no_warnings: None) -> None:
    def function(x: torch.Tensor, cache: torch.Tensor, place: torch.Tensor) -> torch.Tensor:
        cache.index_copy_(0, place, x * 2)
        return cache.sum(0)

    fast = compiled(function)
    cache, expected = torch.zeros(8, 2), torch.zeros(8, 2)
    for position in range(4):
        x, place = torch.randn(1, 2), torch.tensor([position])
        assert_same(fast(x, cache, place), function(x, expected, place))
        assert_same(cache, expected)
    assert_native(graphs)


def test_arguments_that_overlap(no_warnings: None) -> None:
    def function(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        x.add_(1)
        return y * 2

    fast = compiled(function)
    for make in (lambda: (torch.ones(4), torch.ones(4)), lambda: (lambda t: (t, t[:]))(torch.ones(4))):
        x, y = make()
        x2, y2 = make()
        assert_same(fast(x, y), function(x2, y2))
        assert_same((x, y), (x2, y2))


def test_results_that_are_views(graphs: list[CompiledGraph], no_warnings: None) -> None:
    def function(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        y = x * 2
        low, high = y.split(2)
        return x.t(), x[1:], y, low, high.t(), x.exp().max(0).values, x.exp().max(0).indices

    def use(f: Callable[..., Any], x: torch.Tensor) -> list[torch.Tensor]:
        results = f(x)
        results[0][0] = 5  # which x and x[1:] show
        results[3].zero_()  # which y shows
        results[4].fill_(7)
        return [x, *results]

    x = torch.randn(4, 3)
    assert_same(use(compiled(function), x.clone()), use(function, x.clone()))
    assert_native(graphs, 1)


def test_views_of_what_was_written_to(graphs: list[CompiledGraph], no_warnings: None) -> None:
    def function(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        y = x.view(-1)
        y.mul_(2)
        z = x + 1
        z[0] = 0
        return y[1:], z, z.t()

    x = torch.randn(3, 2)
    first, second = x.clone(), x.clone()
    left, right = compiled(function)(first), function(second)
    left[0].add_(1)
    right[0].add_(1)
    assert_same([first, *left], [second, *right])
    assert_native(graphs, 1)


def test_a_function_without_results(graphs: list[CompiledGraph], no_warnings: None) -> None:
    def function(x: torch.Tensor) -> None:
        x.mul_(2).add_(1)

    fast = compiled(function)
    for rows in (2, 3):
        x = torch.ones(rows, 2)
        assert fast(x) is None
        assert_same(x, torch.full((rows, 2), 3.0))
    assert_native(graphs)


def test_a_graph_of_views_alone(no_warnings: None) -> None:
    x = torch.randn(2, 3)
    result = compiled(lambda x: x.t()[1:])(x)
    result.zero_()
    assert_same(x[:, 1:], torch.zeros(2, 2))


def test_results_keep_their_order_of_dims(graphs: list[CompiledGraph], no_warnings: None) -> None:
    def function(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return x.permute(0, 2, 3, 1) * 2, x.to(memory_format=torch.channels_last) + 1

    x = torch.randn(2, 3, 4, 5)
    for actual, expected in zip(compiled(function)(x), function(x), strict=True):
        assert_same(actual, expected)
        assert actual.stride() == expected.stride()
    assert_native(graphs)


def test_two_models_of_one_class(graphs: list[CompiledGraph], no_warnings: None) -> None:
    first, second = frozen(Mlp()), frozen(Mlp())
    fast = [compiled(first), compiled(second)]
    x = torch.randn(2, 4)
    for _ in range(2):
        assert_same(fast[0](x), first(x))
        assert_same(fast[1](x), second(x))
    assert not torch.equal(first(x), second(x))
    assert_native(graphs)


def test_a_module_used_twice(graphs: list[CompiledGraph], no_warnings: None) -> None:
    class Twice(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = torch.nn.Linear(4, 4)
            self.tied = torch.nn.Linear(4, 4)
            self.tied.weight = self.inner.weight

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.tied(self.inner(self.inner(x)))

    model = frozen(Twice())
    x = torch.randn(2, 4)
    assert_same(compiled(model)(x), model(x))
    assert_native(graphs, 1)


def test_weights_that_change(graphs: list[CompiledGraph], no_warnings: None) -> None:
    model = frozen(Mlp())
    fast = compiled(model)
    x = torch.randn(2, 4)
    before = fast(x)
    model.load_state_dict(frozen(Mlp()).state_dict())
    assert not torch.allclose(before, model(x))
    assert_same(fast(x), model(x))
    model.first.weight.data = torch.ones_like(model.first.weight)
    assert_same(fast(x), model(x))
    model.second = frozen(torch.nn.Linear(8, 3))
    assert_same(fast(x), model(x))
    assert_native(graphs)


def test_weights_that_do_not_settle() -> None:
    model = frozen(Mlp())
    fast = compiled(model)
    x = torch.randn(2, 4)
    with pytest.warns(UserWarning, match="stays in eager PyTorch: its parameters were changed") as caught:
        for _ in range(8):
            assert_same(fast(x), model(x))
            model.first.bias.add_(1)
    assert len([warning for warning in caught if "ingot" in str(warning.message)]) == 1


def test_a_model_is_not_kept_alive(graphs: list[CompiledGraph], no_warnings: None) -> None:
    model = frozen(Mlp())
    compiled(model)(torch.randn(2, 4))
    weight = weakref.ref(model.first.weight)
    del model
    gc.collect()
    assert weight() is None
    assert not graphs[0]._entries


def test_without_grad(graphs: list[CompiledGraph], no_warnings: None) -> None:
    model = Mlp().eval()
    fast = compiled(model)
    x = torch.randn(2, 4, requires_grad=True)
    for mode in (torch.no_grad, torch.inference_mode):
        with mode():
            result = fast(x)
            assert_same(result, model(x))
            assert not result.requires_grad
    assert_native(graphs)


def test_a_model_made_in_inference_mode() -> None:
    with torch.inference_mode():
        model = Mlp().eval()
        x = torch.randn(2, 4)
        with pytest.warns(UserWarning, match="its weights are inference tensors"):
            assert_same(compiled(model)(x), model(x))


def test_grad_modes_inside(graphs: list[CompiledGraph], no_warnings: None) -> None:
    model = Mlp().eval()

    @torch.no_grad()
    def function(x: torch.Tensor) -> torch.Tensor:
        return model(x).relu()

    x = torch.randn(2, 4)
    assert_same(compiled(function)(x), function(x))
    assert_native(graphs)


def test_what_needs_gradients_stays_in_eager() -> None:
    model = Mlp()
    reference = copy.deepcopy(model)
    fast = compiled(model)
    x = torch.randn(2, 4)
    with pytest.warns(UserWarning, match="need gradients.*no_grad") as caught:
        for _ in range(2):
            result = fast(x)
            result.sum().backward()
            reference(x).sum().backward()
    assert len([warning for warning in caught if "ingot" in str(warning.message)]) == 1
    assert_same(result, reference(x))
    assert_same([p.grad for p in model.parameters()], [p.grad for p in reference.parameters()])


def test_an_argument_that_gets_a_gradient() -> None:
    model = Mlp()

    def function(x: torch.Tensor) -> None:
        x.add_(model(torch.ones(1, 4)).sum())

    x = torch.zeros(2)
    with pytest.warns(UserWarning, match="need gradients"):
        compiled(function)(x)
    assert x.requires_grad


def test_random_numbers_are_those_of_pytorch() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.dropout(x, 0.5) + torch.rand(4)

    fast = compiled(function)
    x = torch.randn(4)
    torch.manual_seed(3)
    expected = function(x)
    torch.manual_seed(3)
    with pytest.warns(UserWarning, match="random numbers"):
        assert_same(fast(x), expected)


class WithOddOp(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.ops.ingot_compile_test.odd(x + 1) * 2


@pytest.fixture(scope="module", autouse=True)
def _odd_op() -> Iterator[None]:
    with torch.library._scoped_library("ingot_compile_test", "DEF") as library:
        library.define("odd(Tensor x) -> Tensor")
        library.impl("odd", lambda x: x.flip(0) * 3, "CPU")
        library.impl("odd", lambda x: torch.empty_like(x), "Meta")
        yield


def test_single_operators_fall_back(graphs: list[CompiledGraph], no_warnings: None) -> None:
    x = torch.randn(3)
    assert_same(compiled(WithOddOp())(x), WithOddOp()(x))
    assert_native(graphs, 1)


def test_an_unsupported_operator_warns_once(graphs: list[CompiledGraph]) -> None:
    fast = compiled(WithOddOp(), options={"fallback": False})
    with pytest.warns(UserWarning, match=r"(?s)stays in eager PyTorch.*ingot_compile_test") as caught:
        for _ in range(3):
            x = torch.randn(3)
            assert_same(fast(x), WithOddOp()(x))
    assert len([warning for warning in caught if "ingot:" in str(warning.message)]) == 1
    assert graphs[0]._is_eager


def test_an_option_that_is_none_of_the_backend() -> None:
    with pytest.raises(Exception, match="no option 'speed'; it has fallback, disable_passes"):
        compiled(lambda x: x + 1, options={"speed": 11})(torch.ones(2))


def test_errors_are_those_of_pytorch() -> None:
    fast = compiled(lambda x, i: x[i] + 1)
    x = torch.randn(4)
    assert_same(fast(x, torch.tensor([1])), x[[1]] + 1)
    with pytest.raises(IndexError, match=r"out of bounds|out of range"):
        fast(x, torch.tensor([9]))


def test_threads(graphs: list[CompiledGraph], no_warnings: None) -> None:
    model = frozen(Mlp())
    fast = compiled(model)
    problems: list[BaseException] = []

    def work(seed: int) -> None:
        try:
            for step in range(5):
                x = torch.randn(2, 4, generator=torch.Generator().manual_seed(seed + step))
                assert_same(fast(x), model(x))
        except BaseException as error:
            problems.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not problems
    assert_native(graphs)


def test_thread_that_comes_while_another_traces(
    graphs: list[CompiledGraph], no_warnings: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = frozen(Mlp())
    fast = compiled(model)
    x = torch.randn(2, 4)
    results: list[Any] = []
    second = threading.Thread(target=lambda: results.append(fast(x)))
    has_come = threading.Event()
    prepare, call = CompiledGraph._prepare, torch.fx.Interpreter.call_function

    def note_second(self: CompiledGraph, args: Any) -> Any:
        if threading.current_thread() is second:
            has_come.set()
        return prepare(self, args)

    def wait_for_second(self: torch.fx.Interpreter, *args: Any) -> Any:
        if second.ident is None:
            second.start()
            assert has_come.wait(60)
        return call(self, *args)

    monkeypatch.setattr(CompiledGraph, "_prepare", note_second)
    monkeypatch.setattr(torch.fx.Interpreter, "call_function", wait_for_second)
    assert_same(fast(x), model(x))
    second.join()
    assert len(results) == 1
    assert_same(results[0], model(x))
    assert_native(graphs, 1)


def test_autocast(graphs: list[CompiledGraph], no_warnings: None) -> None:
    model = frozen(Mlp())
    fast = compiled(model)
    x = torch.randn(2, 4)
    with torch.autocast("cpu", torch.bfloat16):
        result, expected = fast(x), model(x)
    assert result.dtype == expected.dtype == torch.bfloat16
    torch.testing.assert_close(result, expected, rtol=0.02, atol=0.02)
    assert_same(fast(x), model(x))
    assert_native(graphs)


def test_control_flow(graphs: list[CompiledGraph], no_warnings: None) -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        return torch.cond(x.sum() > 0, lambda x: x + 1, lambda x: x * 2, (x,))

    fast = compiled(function)
    for x in (torch.ones(3), -torch.ones(3)):
        assert_same(fast(x), function(x))
    assert_native(graphs)


@pytest.mark.slow
@pytest.mark.parametrize("batch", [1, 3])
@pytest.mark.parametrize("family", zoo.FAMILIES)
def test_family(family: str, batch: int, full: bool, graphs: list[CompiledGraph], no_warnings: None) -> None:
    model, args = zoo.FAMILIES[family](batch, "full" if full else "small")
    actual, expected = compiled(model)(*args), model(*args)
    assert pytree.tree_structure(actual) == pytree.tree_structure(expected)
    for left, right in zip(pytree.tree_leaves(actual), pytree.tree_leaves(expected), strict=True):
        torch.testing.assert_close(left, right, rtol=2e-3, atol=2e-4)
    assert_native(graphs)
