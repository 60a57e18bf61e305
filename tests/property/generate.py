"""Random graphs: from a seed to a case. The same seed gives the same case."""

from __future__ import annotations

import copy
import random
import re
from collections.abc import Sequence
from typing import TypeVar

import torch
from property.case import DTYPES, Case, Input, read_names, target
from property.evaluate import Evaluation, UndeterminedError
from property.ops import ANY, SINGLE
from property.patterns import PATTERNS

SIZES = (0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 6, 7, 8, 8, 16, 17, 33)
NAMES = {dtype: name for name, dtype in DTYPES.items()}
# Lines whose results are as many as the content says.
COUNTED = re.compile(r"(nonzero|masked_select|argwhere|unique|bincount)\(|where\([^,]*\)\[0\]")
Item = TypeVar("Item")


class NoValueError(Exception):
    """Nothing to make a line of."""


# What a line may raise that is none: eager's own errors, and ours. Others are bugs of this package.
REFUSALS = (NoValueError, UndeterminedError, RuntimeError, IndexError, TypeError, ValueError, AttributeError)


class Generator:
    no_value = NoValueError()

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.seed = seed
        self.inputs: list[Input] = []
        self.constants: list[Input] = []
        self.lines: list[str] = []
        self.evaluation = Evaluation()
        self.number_of_values = 0
        self.main = self.choose(
            ["f32"] * 8 + ["f64", "f16", "f16", "bf16", "bf16", "i8", "i16", "i32", "i64", "u8", "b1", "c64", "c128"]
        )
        self.kind = self.choose(["small", "small", "normal", "normal", "edges"])
        self.base = tuple(self.choose(SIZES) for _ in range(self.number(1, 4)))
        self.is_dynamic = self.chance(0.35)
        self.mixing = self.choose([0.05, 0.05, 0.5])

    # -- Chances

    def choose(self, items: Sequence[Item]) -> Item:
        return items[self.random.randrange(len(items))]

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def number(self, low: int, high: int) -> int:
        return self.random.randint(low, high)

    def some(self, items: Sequence[Item], most: int) -> list[Item]:
        return self.random.sample(list(items), self.number(0, most))

    # -- Values

    def value_of(self, name: str) -> torch.Tensor:
        return self.evaluation.values[name]

    def dtype_of(self, name: str) -> str:
        return NAMES[self.value_of(name).dtype]

    def value(self, dtypes: Sequence[str], rank: tuple[int, int] = (0, 8)) -> str:
        """The name of a value, rather a late one."""
        names = [
            name
            for name, value in self.evaluation.values.items()
            if name[0] == "v" and NAMES.get(value.dtype) in dtypes and rank[0] <= value.dim() <= rank[1]
        ]
        if not names:
            raise NoValueError
        late = names[-3:]
        return self.choose(late if self.chance(0.6) else names)

    def partner(self, name: str) -> str:
        """Something to compute with: another value, or a constant of a shape that fits."""
        value = self.value_of(name)
        fitting = [
            other
            for other, tensor in self.evaluation.values.items()
            if fits(tensor.shape, value.shape) and (tensor.dtype == value.dtype or self.chance(self.mixing))
        ]
        if fitting and self.chance(0.7):
            return self.choose(fitting)
        shape = [1 if self.chance(0.3) else size for size in value.shape][self.number(0, value.dim()) :]
        return self.constant(tuple(shape), self.choose(ANY) if self.chance(self.mixing / 2) else NAMES[value.dtype])

    def apart(self, name: str) -> str:
        """A partner in other memory: what writing over one's own operands gives is not defined."""
        other = self.partner(name)
        place = self.value_of(name).untyped_storage().data_ptr()
        return f"{other}.clone()" if self.value_of(other).untyped_storage().data_ptr() == place else other

    def mask(self, name: str) -> str:
        value = self.value_of(name)
        masks = [n for n, t in self.evaluation.values.items() if t.dtype == torch.bool and fits(t.shape, value.shape)]
        return self.choose(masks) if masks and self.chance(0.7) else f"({name} > 0)"

    def mask_like_scores(self, name: str) -> str:
        length = self.value_of(name).shape[-2]
        return self.constant((length, length), self.dtype_of(name), "small")

    def writable(self) -> str:
        """Something to change: mostly a computed value, now and then an input or a buffer."""
        computed = [name for name in self.evaluation.values if name[0] == "v" and not self.is_given(name)]
        if computed and self.chance(0.85):
            return self.choose(computed)
        return self.choose([name for name in self.evaluation.values if name[0] == "v" or self.chance(0.5)])

    def is_given(self, name: str) -> bool:
        return any(given.name == name for given in self.inputs)

    def is_whole(self, name: str) -> bool:
        """Row by row in memory of its own, and of known sizes: as_strided is refused elsewhere."""
        value = self.value_of(name)
        is_all = value.untyped_storage().nbytes() == value.numel() * value.element_size()
        is_counted = any(COUNTED.search(line) for line in self.lines)
        return value.is_contiguous() and is_all and not self.is_dynamic and not is_counted

    def axis(self, name: str) -> int:
        rank = max(self.value_of(name).dim(), 1)
        return self.number(-rank, rank - 1)

    def slices(self, name: str) -> str:
        parts = []
        for _ in range(self.number(1, max(self.value_of(name).dim(), 1))):
            parts.append(self.choose([":", ":", "1:", ":-1", "::2", "0", "-1", ":2", "1:3", "-2:", "5:", "None"]))
        return f"[{', '.join(parts)}]"

    # -- Making

    def input(self) -> None:
        shape = tuple(1 if self.chance(0.15) else size for size in self.base)
        shape = shape[self.number(0, len(shape)) if self.chance(0.3) else 0 :]
        dtype = self.main if self.chance(0.75) else self.choose(ANY)
        # Export makes no symbols of sizes 0 and 1.
        dynamic = tuple(axis for axis, size in enumerate(shape) if size > 1 and self.is_dynamic and self.chance(0.7))
        layout = self.choose(["reversed", "spread"]) if self.chance(0.15) else ""
        made = Input(self.fresh(), shape, dtype, self.kind, self.number(0, 999), dynamic, layout)
        self.inputs.append(made)
        self.evaluation.define(made.name, made.make())

    def constant(self, shape: Sequence[int], dtype: str, kind: str = "") -> str:
        """A buffer of the module. Sizes of inputs that it has to have are then no symbols."""
        kind = kind or ("small" if self.kind == "small" or self.chance(0.5) else "normal")
        made = Input(f"w{len(self.constants)}", tuple(shape), dtype, kind, self.number(0, 999))
        self.constants.append(made)
        self.evaluation.define(made.name, made.make())
        return made.name

    def positive(self, shape: Sequence[int], dtype: str) -> str:
        """The expression of a constant without zeros and signs."""
        return f"({self.constant(shape, dtype)}.abs() + 0.5)"

    def fresh(self) -> str:
        self.number_of_values += 1
        return f"v{self.number_of_values - 1}"

    def add(self, expression: str) -> str:
        """The new value's name. Raises what eager raises, or UndeterminedError."""
        line = f"{self.fresh()} = {expression}"
        self.change(line)
        return target(line)

    def change(self, line: str) -> None:
        if self.is_dynamic and ".squeeze(" in line:
            raise UndeterminedError("a size that turns out to be 1 is kept, as the export says; eager drops it")
        self.evaluation.step(line)
        self.lines.append(line)

    def try_line(self) -> bool:
        before = self.snapshot()
        try:
            if self.chance(0.3):
                self.weighted(PATTERNS)(self)
            else:
                self.add(self.weighted(SINGLE)(self))
            return True
        except REFUSALS:
            self.restore(before)
            return False

    def weighted(self, table: Sequence[tuple[float, Item]]) -> Item:
        return self.random.choices([item for _, item in table], [weight for weight, _ in table])[0]

    def snapshot(self) -> tuple:
        # Views of a value stay views of its copy: the copies of one evaluation share what they shared.
        return (copy.deepcopy(self.evaluation), list(self.constants), list(self.lines), self.number_of_values)

    def restore(self, before: tuple) -> None:
        self.evaluation, self.constants, self.lines, self.number_of_values = before


def fits(shape: torch.Size, other: torch.Size) -> bool:
    """Whether the two can be broadcast."""
    pairs = zip(reversed(shape), reversed(other), strict=False)
    return all(left == right or 1 in (left, right) for left, right in pairs)


def outputs_of(generator: Generator) -> tuple[str, ...]:
    """What nobody reads, and now and then something else, which a pass may then not fold away."""
    defined = [target(line) for line in generator.lines if line.split(" = ")[0] == target(line)]
    changed = [target(line) for line in generator.lines]
    read = {name for line in generator.lines for name in read_names(line)}
    chosen = [name for name in defined if name not in read or generator.chance(0.12)]
    chosen += [name for name in changed if name not in defined and name[0] == "v" and generator.chance(0.5)]
    given = [one.name for one in (*generator.inputs, *generator.constants) if one.name in read]
    chosen += [name for name in given if generator.chance(0.05)]
    if chosen and generator.chance(0.05):
        return (*dict.fromkeys(chosen), generator.choose(chosen))
    return tuple(dict.fromkeys(chosen)) or (generator.inputs[0].name,)


def generate(seed: int) -> Case:
    generator = Generator(seed)
    for _ in range(generator.number(1, 3)):
        generator.input()
    wanted = generator.number(2, 10)
    for _ in range(8 * wanted):
        if len(generator.lines) >= wanted:
            break
        generator.try_line()
    used = {name for line in generator.lines for name in read_names(line)}
    constants = tuple(constant for constant in generator.constants if constant.name in used)
    return Case(tuple(generator.inputs), tuple(generator.lines), outputs_of(generator), constants, f"seed {seed}")
