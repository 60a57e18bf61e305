"""Threads, forks, exceptions and ends of processes. Longer: make threads MINUTES=10, make soak MINUTES=60."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path
from typing import Any

import ingot
import pytest
import torch
from ingot import TorchKernel, ops
from ingot.lowering import get_operand
from robustness.load import Plain, make_load
from support import export, run_ingot


@torch.library.custom_op("robustness::twice", mutates_args=())
def twice(x: torch.Tensor) -> torch.Tensor:
    return x * 2


twice.register_fake(lambda x: torch.empty_like(x))


class Twice(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return twice(x) + 1


def at_once(functions: list[Any]) -> list[Any]:
    """Runs each in a thread of its own; results, or what was raised."""
    results: list[Any] = [None] * len(functions)

    def work(number: int) -> None:
        try:
            results[number] = functions[number]()
        except Exception as error:
            results[number] = error

    threads = [threading.Thread(target=work, args=(number,)) for number in range(len(functions))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive(), "a thread hangs"
    return results


def test_thirty_two_threads(tmp_path: Path) -> None:
    """Calls with different sizes, sessions, loading, saving and unloading, all at once."""
    load = make_load(tmp_path, converts=True)
    load.run(threads=32, seconds=3)
    assert not load.errors, "\n".join(load.errors)
    assert sum(load.calls) > 32


def test_one_session_from_several_threads(tmp_path: Path) -> None:
    """Calls of one session wait for each other: nothing that is counted is lost."""
    load = make_load(tmp_path)
    session = load.counter.session()
    x = torch.ones(1, 24)
    results = at_once([lambda: [session(x) for _ in range(50)] for _ in range(8)])
    assert all(isinstance(result, list) for result in results), results
    assert session.read_state("total")[0] == 400
    assert sorted(float(y[0]) for result in results for y in result) == [float(n) for n in range(1, 401)]


def test_exceptions_in_lowerings_at_once() -> None:
    exported = export(Twice(), (torch.ones(3),))

    def good(values: dict[str, Any], node: torch.fx.Node, loc: object) -> Any:
        x = get_operand(values, node, 0, loc)
        return ops.add(x, x)

    def bad(values: dict[str, Any], node: torch.fx.Node, loc: object) -> Any:
        raise KeyError(f"not in thread {threading.get_ident()}")

    def run(lowering: Any) -> Any:
        return lambda: ingot.convert(exported, lowerings={"robustness::twice": lowering})(torch.ones(3))

    results = at_once([run(bad if number % 2 else good) for number in range(12)])
    for number, result in enumerate(results):
        if number % 2:
            assert isinstance(result, ingot.LoweringError) and "not in thread" in str(result), result
        else:
            assert torch.equal(result, torch.full((3,), 3.0)), result


def test_exceptions_in_kernels_at_once() -> None:
    """The call fails with what was thrown; calls beside it, and after it, do not."""

    def checked_ref(x: torch.Tensor) -> torch.Tensor:
        return x * 2

    source = """
    for (int64_t i = 0; i < x_numel; ++i) {
      if (x[i] < 0) throw std::runtime_error("a negative number");
      y[i] = x[i] * 2;
    }
    """
    checked = TorchKernel("checked", ["x"], ["y"], source, checked_ref, helper_src="#include <stdexcept>")

    class Model(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return checked(x) + 1

    exported = export(Model(), (torch.ones(4),))
    converter = ingot.TorchConverter().register_custom_kernels([checked])
    program = converter.add_exported_program(exported).to_ingot()
    calls = [lambda sign=sign: program(torch.full((4,), float(sign))) for sign in (1, -1) * 8]
    for _ in range(5):
        for number, result in enumerate(at_once(calls)):
            if number % 2:
                assert isinstance(result, ingot.IngotError) and "a negative number" in str(result), result
            else:
                assert torch.equal(result, torch.full((4,), 3.0)), result


def test_lowerings_may_use_ingot() -> None:
    """Converting, compiling and running inside a conversion."""
    exported = export(Twice(), (torch.ones(3),))
    other = export(torch.nn.ReLU(), (torch.ones(3),))

    def lowering(values: dict[str, Any], node: torch.fx.Node, loc: object) -> Any:
        inner = ingot.convert(other)
        assert torch.equal(inner(torch.ones(3)), torch.ones(3))
        assert "relu" in str(inner)
        x = get_operand(values, node, 0, loc)
        return ops.add(x, x)

    def run() -> torch.Tensor:
        return ingot.convert(exported, lowerings={"robustness::twice": lowering})(torch.ones(3))

    for result in at_once([run, run, run]):
        assert torch.equal(result, torch.full((3,), 3.0)), result


class SlowCounter(torch.nn.Module):
    """Its calls need Python, for a while, and hold the states meanwhile."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("total", torch.zeros(3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.total += slow(x)
        return self.total.clone()


inside = threading.Event()


@torch.library.custom_op("robustness::slow", mutates_args=())
def slow(x: torch.Tensor) -> torch.Tensor:
    inside.set()
    time.sleep(0.3)
    return x * 1


slow.register_fake(lambda x: torch.empty_like(x))


@pytest.mark.parametrize("action", ["read", "write", "reset", "fork"])
def test_states_during_a_call_that_needs_python(action: str) -> None:
    program = ingot.convert(export(SlowCounter(), (torch.ones(3),)), fallback=True)
    session, x = program.session(), torch.ones(3)
    session(x)
    inside.clear()
    thread = threading.Thread(target=lambda: session(x))
    thread.start()
    assert inside.wait(60)
    if action == "read":
        assert session.read_state("total").tolist() == [2, 2, 2]
    elif action == "write":
        session.write_state("total", torch.zeros(3))
    elif action == "reset":
        session.reset_states()
    else:
        child = os.fork()
        if child == 0:
            signal.alarm(30)
            session.reset_states()
            os._exit(0 if session.read_state("total").tolist() == [0, 0, 0] else 1)
        assert os.waitpid(child, 0)[1] == 0
    thread.join(60)
    assert not thread.is_alive()
    assert session.read_state("total").tolist() == ([0, 0, 0] if action in ("write", "reset") else [2, 2, 2])


class Long(torch.nn.Module):
    """A minute of steps."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        def step(i: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            return i + 1, (y @ y).tanh()

        return torch.while_loop(lambda i, y: i < 1_000_000_000, step, (torch.tensor(0), x))[1]


def test_cancelled_calls_end_and_others_do_not() -> None:
    program = ingot.convert(export(Long(), (torch.eye(16),), strict=False))
    first, second = program.session(), program.session()
    results: dict[str, Any] = {}

    def call(name: str, session: ingot.Session) -> None:
        try:
            results[name] = session(torch.eye(16))
        except Exception as error:
            results[name] = error

    threads = [threading.Thread(target=call, args=item) for item in (("first", first), ("second", second))]
    for thread in threads:
        thread.start()
    time.sleep(0.5)
    assert not results
    first.cancel()
    threads[0].join(30)
    assert isinstance(results["first"], ingot.CancelledError), results
    assert "second" not in results
    second.cancel()
    threads[1].join(30)
    assert isinstance(results["second"], ingot.CancelledError), results


def test_calls_that_take_too_long_end(tmp_path: Path) -> None:
    ingot.convert(export(Long(), (torch.eye(16),), strict=False)).save_asset(tmp_path / "long.ingot")
    program = ingot.load(tmp_path / "long.ingot", time_limit=0.2)
    for call in (program, program.session()):
        start = time.monotonic()
        with pytest.raises(ingot.UnsupportedError, match="longer than its time limit of 200 ms"):
            call(torch.eye(16))
        assert 0.15 < time.monotonic() - start < 20
    command = run_ingot("run", tmp_path / "long.ingot", "--random-seed", "1", "--time-limit", "0.2")
    assert command.returncode == 1
    assert "time limit" in command.stderr


def test_the_last_step_counts(tmp_path: Path) -> None:
    ingot.convert(torch.nn.Linear(2000, 2000), (torch.ones(2000, 2000),)).save_asset(tmp_path / "one.ingot")
    with pytest.raises(ingot.UnsupportedError, match="time limit of 1 ms"):
        ingot.load(tmp_path / "one.ingot", time_limit=1e-4)(torch.ones(2000, 2000))


INTERRUPTED = """
import os, signal, sys, threading, time
import ingot, numpy as np

program = ingot.load(sys.argv[1])
program.session()  # loaded
threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    program(np.eye(16, dtype=np.float32))
except KeyboardInterrupt:
    print("interrupted")

def late(*_):
    raise TimeoutError("late")

signal.signal(signal.SIGALRM, late)
signal.setitimer(signal.ITIMER_REAL, 0.3)
try:
    program.session()(np.eye(16, dtype=np.float32))
except TimeoutError as error:
    print(error)
"""


def test_signals_end_long_calls(tmp_path: Path) -> None:
    asset = tmp_path / "long.ingot"
    ingot.convert(export(Long(), (torch.eye(16),), strict=False)).save_asset(asset)
    done = subprocess.run([sys.executable, "-c", INTERRUPTED, str(asset)], capture_output=True, text=True, timeout=100)
    assert done.stdout == "interrupted\nlate\n", done.stderr


COUNTED = """
import os, signal, sys, threading
import ingot, numpy as np

program = ingot.load(sys.argv[1])
x = np.eye(16, dtype=np.float32)

def handler(*_):
    program.read_state("count")

signal.signal(signal.SIGUSR1, handler)
threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGUSR1)).start()
try:
    program(x)
except ingot.UsageError as error:
    print(str(error).splitlines()[0])
program.reset_states()
"""


class Counted(Long):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("count", torch.zeros(1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.count.add_(1)
        return super().forward(x) + self.count


def test_handlers_cannot_wait_for_the_call_they_interrupt(tmp_path: Path) -> None:
    asset = tmp_path / "counted.ingot"
    ingot.convert(export(Counted(), (torch.eye(16),), strict=False)).save_asset(asset)
    done = subprocess.run([sys.executable, "-c", COUNTED, str(asset)], capture_output=True, text=True, timeout=100)
    assert done.stdout == "the states are in use by a call of this thread\n", done.stderr


@torch.library.custom_op("robustness::interrupted", mutates_args=())
def interrupted(x: torch.Tensor) -> torch.Tensor:
    signal.raise_signal(signal.SIGINT)
    return x.clone()


interrupted.register_fake(lambda x: torch.empty_like(x))


class Interrupted(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return interrupted(x) + 1


def test_interrupts_in_operators_stay_interrupts() -> None:
    program = ingot.convert(Interrupted(), (torch.ones(3),), fallback=True)
    compiled = torch.compile(Interrupted(), backend="ingot", options={"fallback": True})
    for call in (program, compiled):
        with pytest.raises(KeyboardInterrupt):
            call(torch.ones(3))


def test_loading_while_the_environment_changes(tmp_path: Path) -> None:
    """A lock of the C library may be held by another thread when a process is made to compile in."""
    program = ingot.convert(Plain(), (torch.ones(2, 24),))
    ended = threading.Event()

    def change() -> None:
        while not ended.is_set():
            os.environ["INGOT_TEST_CHANGES"] = "yes"
            os.environ.pop("INGOT_TEST_CHANGES")

    def load() -> None:
        try:
            for number in range(20):
                program.save_asset(tmp_path / f"{number}.ingot")
                ingot.load(tmp_path / f"{number}.ingot")(torch.ones(2, 24))
        finally:
            ended.set()

    assert at_once([change, load]) == [None, None]


def test_conversions_at_the_same_time() -> None:
    exported = export(Long(), (torch.eye(16),), strict=False)

    def convert() -> None:
        for _ in range(4):
            ingot.convert(exported)
            ingot.convert(torch.nn.Linear(3, 3), (torch.ones(2, 3),))

    assert at_once([convert] * 6) == [None] * 6


def test_cancelling_nothing_does_nothing(tmp_path: Path) -> None:
    load = make_load(tmp_path)
    session = load.counter.session()
    session.cancel()
    load.counter.cancel()
    assert session(torch.ones(1, 24))[0] == 1
    assert load.counter(torch.ones(1, 24))[0] == 1


# ---------------------------------------------------------------------------------------------------------------------
# Processes

LOADED = """
import os, signal, sys, threading, time
import ingot, torch
program = ingot.load(sys.argv[1])
x = torch.ones(5, 24)
expected = program(x=x)
expected = expected if isinstance(expected, torch.Tensor) else expected[0]
def right():
    y = program(x=x)
    return torch.equal(y if isinstance(y, torch.Tensor) else y[0], expected)
"""


@pytest.fixture(scope="module")
def asset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("use") / "plain.ingot"
    shapes = ({0: torch.export.Dim("batch", min=1, max=64)},)
    exported = export(Plain().eval().requires_grad_(False), (torch.ones(3, 24),), dynamic_shapes=shapes, strict=False)
    ingot.convert(exported).save_asset(path)
    return path


def python(code: str, *arguments: object, **options: Any) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", LOADED + textwrap.dedent(code), *(str(argument) for argument in arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, **options)


def test_fork_after_load(asset: Path) -> None:
    """Parent and children go on, also when threads of the parent run programs during the fork."""
    done = python(
        """
        stop = threading.Event()
        def work():
            while not stop.is_set():
                assert right()
        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads: thread.start()
        codes = []
        for _ in range(6):
            child = os.fork()
            if child == 0:
                fresh = ingot.load(sys.argv[1])
                os._exit(0 if right() and fresh(x=x) is not None else 1)
            codes.append(os.waitpid(child, 0)[1])
        stop.set()
        for thread in threads: thread.join()
        print(codes, right())
        """,
        asset,
    )
    assert done.stdout == "[0, 0, 0, 0, 0, 0] True\n", done.stdout + done.stderr


def test_fork_during_conversions(asset: Path) -> None:
    """What another thread was doing is not there in a child, which compiles and runs nonetheless."""
    done = python(
        """
        import shutil, tempfile
        model = torch.nn.Linear(24, 3)
        stop = threading.Event()
        def work():
            while not stop.is_set():
                ingot.convert(model, (x,))
        ingot.convert(model, (x,))
        thread = threading.Thread(target=work)
        thread.start()
        codes = []
        for _ in range(3):
            time.sleep(0.1)
            child = os.fork()
            if child == 0:
                signal.alarm(60)
                copy = tempfile.mkdtemp() + "/m.ingot"
                shutil.copytree(sys.argv[1], copy, ignore=shutil.ignore_patterns("cache"))
                y = ingot.load(copy)(x=x)
                shutil.rmtree(os.path.dirname(copy))
                os._exit(0 if right() and y is not None else 1)
            codes.append(os.waitpid(child, 0)[1])
        stop.set()
        thread.join()
        print(codes, right())
        """,
        asset,
    )
    assert done.stdout == "[0, 0, 0] True\n", done.stdout + done.stderr


def test_end_with_programs_and_threads_alive(asset: Path) -> None:
    done = python(
        """
        sessions = [program.session() for _ in range(3)]
        array = x.numpy()  # torch itself ends the process when a thread is inside it
        def work():
            while True:
                program(x=array)
        for _ in range(6): threading.Thread(target=work, daemon=True).start()
        time.sleep(0.2)
        print("end")
        """,
        asset,
    )
    assert (done.returncode, done.stdout) == (0, "end\n"), done.stderr
    assert "Fatal" not in done.stderr and "terminate" not in done.stderr


def test_end_by_exit_in_a_thread(asset: Path) -> None:
    code = """
    array = x.numpy()
    threading.Thread(target=lambda: [program(x=array) for _ in range(100000)], daemon=True).start()
    sys.exit(3)
    """
    done = python(code, asset)
    assert done.returncode == 3, done.stderr


def test_unloading_while_running(asset: Path) -> None:
    """The last reference goes while a call of another thread is inside."""
    done = python(
        """
        def work(mine):
            for _ in range(200): mine(x=x)
        for _ in range(20):
            mine = ingot.load(sys.argv[1])
            threads = [threading.Thread(target=work, args=(mine,)) for _ in range(2)]
            for thread in threads: thread.start()
            del mine
            for thread in threads: thread.join()
        print(right())
        """,
        asset,
    )
    assert done.stdout == "True\n", done.stderr


def test_interrupt_in_python(tmp_path: Path) -> None:
    """Ctrl-C while models are converted and saved: an exception, and no half of an asset."""
    code = """
    import torch, ingot, sys
    class Model(torch.nn.Module):
        def forward(self, x): return torch.relu(x @ x.T).softmax(-1)
    print("ready", flush=True)
    while True:
        ingot.convert(Model(), (torch.randn(8, 8),)).save_asset(sys.argv[1], overwrite=True)
    """
    target = tmp_path / "m.ingot"
    command = [sys.executable, "-c", textwrap.dedent(code), str(target)]
    # Jobs in the background ignore SIGINT, and what they start inherits that; not here.
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert process.stdout and process.stdout.readline() == "ready\n"
    deadline = time.monotonic() + 60
    while not target.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert process.returncode in (1, -signal.SIGINT) and "KeyboardInterrupt" in errors, errors
    assert ingot.load(target)(torch.ones(8, 8)).shape == (8, 8)
    assert [name for name in os.listdir(tmp_path) if name != "m.ingot"] == []
