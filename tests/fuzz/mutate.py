"""Changes to bytes and to JSON documents, drawn from a `random.Random`: the same seed gives the same file."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable
from random import Random
from typing import Any

NUMBERS: list[Any] = [
    0, 1, -1, 2, 3, 7, 8, 63, 64, 65, 127, 255, 4096, 2**15, 2**16, 2**20, 2**24, 2**30,
    2**31 - 1, 2**31, -(2**31), 2**32, 2**33 + 1, 2**40, 2**62, 2**63 - 1, -(2**63), 2**63, 2**64 - 1, 10**30,
    -(10**30), 0.5, -0.0, 1e308, -1e-320, 1e19,
]  # fmt: skip
STRINGS = [
    "", "x", "s0", "s77", "2*s0", "-s0", "s0//0", "Max(1, s0)", "s0**s0**9", "(" * 400, "aten.add.Tensor",
    "torch.ops.aten.add.Tensor", "torch.ops.aten.mm.default", "torch.ops.aten.view.default",
    "torch.ops.higher_order.cond", "Infinity", "NaN", "../../etc/passwd", "/etc/passwd", "a/b", "..", "\0", "\ud800",
    "é\u202e", "%s%n", "builtins.tuple", "float32", "int64", "complex128", "A" * 5000,
]  # fmt: skip
BYTES = [b"\x00", b"\xff", b"\x7f", b"\x80", b"\xff\xff\xff\xff", b"\x00" * 8, b"\xff" * 8, b"PK\x01\x02", b"{", b"]"]


def mutate_bytes(data: bytes, random: Random) -> bytes:
    """A few small changes anywhere."""
    work = bytearray(data)
    for _ in range(random.choice((1, 1, 1, 2, 4, 16))):
        kind = random.randrange(7)
        at = random.randrange(len(work) + 1)
        span = min(len(work) - at, random.choice((1, 2, 4, 8, 64, 1000)))
        if kind == 0 and span:
            work[at] ^= 1 << random.randrange(8)
        elif kind == 1 and span:
            work[at] = random.randrange(256)
        elif kind == 2:
            value = random.choice(BYTES)
            work[at : at + len(value)] = value
        elif kind == 3:
            del work[at : at + span]
        elif kind == 4:
            work[at:at] = work[at : at + span] * random.choice((1, 2, 50))
        elif kind == 5:
            other = random.randrange(len(work) + 1)
            work[at : at + span] = work[other : other + span]
        elif random.random() < 0.3:
            del work[at:]
    return bytes(work)


Slot = tuple[Any, Any]  # a container and a key of it


def slots_of(document: Any) -> list[Slot]:
    """Every place of a document that can be written to."""
    found: list[Slot] = []
    pending = [document]
    while pending:
        value = pending.pop()
        keys: list[Any] = list(value) if isinstance(value, dict) else list(range(len(value)))
        for key in keys:
            found.append((value, key))
            if isinstance(value[key], dict | list):
                pending.append(value[key])
    return found


def nested(depth: int, random: Random) -> Any:
    value: Any = random.choice(NUMBERS)
    for _ in range(depth):
        value = [value] if random.random() < 0.5 else {"a": value}
    return value


def change_number(value: Any, random: Random) -> Any:
    if random.random() < 0.4 and isinstance(value, int):
        return random.choice((value + 1, value - 1, -value, value * 2, value * 1000, value + 2**32, value << 40))
    return random.choice(NUMBERS)


def change_string(value: str, random: Random, others: list[str]) -> str:
    kind = random.randrange(5)
    if kind == 0:
        return random.choice(STRINGS)
    if kind <= 2 and others:
        return random.choice(others)
    at = random.randrange(len(value) + 1)
    if kind == 3:
        return value[:at] + value[at + 1 :]
    return value[:at] + random.choice(STRINGS) + value[at:]


def change_value(value: Any, random: Random, strings: list[str], values: list[Any]) -> Any:
    if random.random() < 0.12:
        return copy.deepcopy(random.choice(values))
    if isinstance(value, bool) or value is None:
        return random.choice([not value, None, 1, "true", [], {}])
    if isinstance(value, int | float):
        return change_number(value, random)
    if isinstance(value, str):
        return change_string(value, random, strings)
    return change_container(value, random, values)


def change_container(value: Any, random: Random, values: list[Any]) -> Any:
    kind = random.randrange(6)
    if isinstance(value, dict):
        keys = list(value)
        if kind == 0 or not keys:
            return {}
        key = random.choice(keys)
        if kind <= 2:
            return {name: item for name, item in value.items() if name != key}
        return {**value, random.choice([*keys, *STRINGS]): copy.deepcopy(random.choice(values))}
    items = list(value)
    if kind == 0 or not items:
        return [] if items else [copy.deepcopy(random.choice(values))]
    at = random.randrange(len(items))
    if kind == 1:
        return items[:at] + items[at + 1 :]
    if kind == 2:
        return items[:at] + [copy.deepcopy(items[at])] * random.choice((2, 3, 70)) + items[at:]
    if kind == 3:
        random.shuffle(items)
        return items
    if kind == 4:
        return [*items, copy.deepcopy(random.choice(values))]
    return nested(random.choice((1, 3, 600)), random)


def mutate_document(document: Any, random: Random) -> Any:
    """A copy with a few values changed."""
    document = copy.deepcopy(document)
    for _ in range(random.choice((1, 1, 1, 2, 3, 6))):
        slots = slots_of(document)
        if not slots:
            return nested(2, random)
        values = [container[key] for container, key in slots]
        strings = [value for value in values if isinstance(value, str)]
        # Numbers and strings carry the meaning; containers are few but many values hang on them.
        container, key = random.choice(slots)
        container[key] = change_value(container[key], random, strings, values)
    return document


def mutate_json(text: bytes, random: Random, change: Callable[[Any, Random], Any] = mutate_document) -> bytes:
    """The same for a text; one that is no JSON has its bytes changed."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return mutate_bytes(text, random)
    if not isinstance(document, dict | list):
        return mutate_bytes(text, random)
    try:
        return json.dumps(change(document, random)).encode()
    except RecursionError:  # several changes that nest
        return b"[" * 2000 + b"]" * 2000


ODD_TEXTS = [
    b"NaN", b"-Infinity", b"1e999", b"-1e-999", b"1" * 400, b"0x10", b"01", b"+1", b".5", b"1.", b"--1", b"'a'", b"",
    b'"\\u12"', b'"\\ud800"', b'"\xff\xfe"', b'"\xc0\x80"', b'"\x00"', b'"\n"', b"/* */1", b"[1,]", b'{"a":1,}', b"tru",
    b"[" * 600 + b"]" * 600, b'{"a":' * 3000 + b"1" + b"}" * 3000, b"[" * 60000,
]  # fmt: skip


def mutate_json_text(text: bytes, random: Random) -> bytes:
    """What no writer of JSON writes."""
    kind = random.randrange(4)
    numbers = [found.span() for found in re.finditer(rb"-?\b[0-9]+\b", text)] or [(0, 0)]
    keys = [found.span() for found in re.finditer(rb'"[a-z_]+": ', text)] or [(0, 0)]
    if kind <= 1:
        start, end = random.choice(numbers)
        return text[:start] + random.choice(ODD_TEXTS) + text[end:]
    if kind == 2:
        start, end = random.choice(keys)
        other = text[slice(*random.choice((*keys[:50], (start, end))))]
        return text[:start] + other + random.choice((b"1, ", b"null, ", b"{}, ")) + text[start:]
    return random.choice((b"\xef\xbb\xbf" + text, text + text, text + b"\0", text.decode().encode("utf-16"), text[:-1]))
