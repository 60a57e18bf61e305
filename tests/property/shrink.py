"""Makes a case that fails smaller while it fails: fewer lines and outputs, smaller shapes, plainer values."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Iterator
from dataclasses import replace

from property.case import Case, Input, read_names, split, target
from property.check import Verdict, check

SECONDS = 60
# What has become small by then is small enough.
SECONDS_PER_SHRINKING = 240


def check_apart(case: Case, seed: int = 0) -> Verdict:
    """In a child process, so that a crash is a verdict as well."""
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    child = context.Process(target=lambda: sender.send(check(case, seed)))
    child.start()
    sender.close()
    try:
        return receiver.recv() if receiver.poll(SECONDS) else Verdict("failed", "it hangs")
    except EOFError:
        return Verdict("failed", "the process died")
    finally:
        child.kill()
        child.join()


def shrink(case: Case, seed: int, test: Callable[[Case, int], Verdict] = check_apart) -> tuple[Case, Verdict]:
    """The smallest case found that is bad in the same way, and what is wrong with it."""
    best, end = test(case, seed), time.monotonic() + SECONDS_PER_SHRINKING
    if not best.is_bad:
        return case, best
    improved = True
    while improved:
        improved = False
        for smaller in smaller_cases(case):
            if time.monotonic() > end:
                return case, best
            verdict = test(smaller, seed)
            if verdict.status == best.status:
                case, best, improved = smaller, verdict, True
                break
    return case, best


def smaller_cases(case: Case) -> Iterator[Case]:
    for index in reversed(range(len(case.lines))):
        if without := without_line(case, index):
            yield without
    for name in case.outputs:
        if len(case.outputs) > 1:
            yield tidy(replace(case, outputs=tuple(output for output in case.outputs if output != name)))
    for size in sorted({size for given in (*case.inputs, *case.constants) for size in given.shape}, reverse=True):
        for smaller in sorted({1, 2, 3, size // 2} - {0}):
            if smaller < size:
                yield with_all_sizes(case, size, smaller)
    for given in (*case.inputs, *case.constants):
        for plainer in plainer_inputs(given):
            yield with_input(case, given, plainer)


def without_line(case: Case, index: int) -> Case | None:
    """Without a line and what needs it; outputs that it gave are replaced by what it read."""
    lost: set[str] = set()
    lines = []
    name, _ = split(case.lines[index])
    for number, line in enumerate(case.lines):
        if number == index or lost.intersection(read_names(line)):
            defined, _ = split(line)
            lost |= {defined} if defined else set()
            continue
        lines.append(line)
    if len(lines) == 0:
        return None
    outputs = [output for output in case.outputs if output not in lost]
    if not outputs:
        sources = [read for read in read_names(case.lines[index]) if read != name]
        outputs = [*sources[:1]] or [target(lines[-1])]
    return tidy(replace(case, lines=tuple(lines), outputs=tuple(outputs)))


def tidy(case: Case) -> Case:
    """Without lines, inputs and constants that nobody needs."""
    used = {name for line in case.lines for name in read_names(line)} | set(case.outputs)
    lines = tuple(line for line in case.lines if not split(line)[0] or split(line)[0] in used)
    constants = tuple(constant for constant in case.constants if constant.name in used)
    inputs = tuple(given for given in case.inputs if given.name in used) or case.inputs[:1]
    return replace(case, lines=lines, constants=constants, inputs=inputs)


def plainer_inputs(given: Input) -> Iterator[Input]:
    if given.dynamic:
        yield replace(given, dynamic=())
        for axis in given.dynamic:
            yield replace(given, dynamic=tuple(other for other in given.dynamic if other != axis))
    if given.kind not in ("small", "indices"):
        yield replace(given, kind="small")
    for axis, size in enumerate(given.shape):
        for smaller in {1, 2, size // 2} - {0}:
            if smaller < size:
                yield replace(given, shape=(*given.shape[:axis], smaller, *given.shape[axis + 1 :]))
    if given.dtype in ("f64", "f16", "bf16"):
        yield replace(given, dtype="f32")


def with_input(case: Case, old: Input, new: Input) -> Case:
    return replace(
        case,
        inputs=tuple(new if given == old else given for given in case.inputs),
        constants=tuple(new if given == old else given for given in case.constants),
    )


def with_all_sizes(case: Case, size: int, smaller: int) -> Case:
    def changed(given: Input) -> Input:
        return replace(given, shape=tuple(smaller if old == size else old for old in given.shape))

    return replace(case, inputs=tuple(map(changed, case.inputs)), constants=tuple(map(changed, case.constants)))
