"""Changes to whole .pt2 files: their bytes, their records and members, the values, graphs and text of their JSON."""

from __future__ import annotations

import io
import struct
import warnings
import zipfile
from pathlib import Path
from random import Random
from typing import Any

from fuzz.graphs import GRAPH_CHANGES
from fuzz.mutate import change_value, mutate_bytes, mutate_document, mutate_json, mutate_json_text, slots_of
from fuzz.operators import change_argument

Members = list[tuple[str, bytes]]
SCHEMAS = Path(__file__).parents[2] / "src/pt2/aten_schemas.txt"
LOCAL, CENTRAL, END = b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06"


def read_members(data: bytes) -> Members:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return [(name, archive.read(name)) for name in archive.namelist()]


def write_members(members: Members, compression: int = zipfile.ZIP_STORED) -> bytes:
    buffer = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # duplicate names are meant
        with zipfile.ZipFile(buffer, "w", compression) as archive:
            for name, data in members:
                archive.writestr(name, data)
    return buffer.getvalue()


def operators() -> list[str]:
    """Names of operators as programs have them."""
    names = []
    for line in SCHEMAS.read_text().splitlines():
        if line.startswith("aten::"):
            name, _, overload = line.split("(")[0].removeprefix("aten::").partition(".")
            names.append(f"torch.ops.aten.{name}.{overload or 'default'}")
    return names


OPERATORS = operators()


def change_operator(document: Any, random: Random) -> Any:
    """Another operator on the same arguments: most such programs are refused, some run with odd shapes."""
    targets = [slot for slot in slots_of(document) if slot[1] == "target"]
    if not targets:
        return mutate_document(document, random)
    container, key = random.choice(targets)
    container[key] = random.choice(OPERATORS)
    return document


def change_meaning(document: Any, random: Random) -> Any:
    """Sizes, strides, element types and arguments of nodes; the structure stays."""
    wanted = {"as_int", "as_float", "as_bool", "as_ints", "dtype", "as_scalar_type", "as_name", "as_expr", "expr_str",
              "storage_offset", "name", "as_string"}  # fmt: skip
    slots = [slot for slot in slots_of(document) if slot[1] in wanted or isinstance(slot[0], list)]
    slots = [slot for slot in slots if not isinstance(slot[0][slot[1]], dict)]
    if not slots:
        return mutate_document(document, random)
    values = [container[key] for container, key in slots]
    strings = [value for value in values if isinstance(value, str)]
    for _ in range(random.choice((1, 1, 2))):
        container, key = random.choice(slots)
        container[key] = change_value(container[key], random, strings, values)
    return document


def change_spec(document: Any, random: Random) -> Any:
    """A tree spec is JSON in a string of the document."""
    slots = [slot for slot in slots_of(document) if isinstance(slot[1], str) and slot[1].endswith("_spec")]
    slots = [slot for slot in slots if isinstance(slot[0][slot[1]], str) and slot[0][slot[1]]]
    if not slots:
        return mutate_document(document, random)
    container, key = random.choice(slots)
    container[key] = mutate_json(container[key].encode(), random).decode(errors="replace")
    return document


CHANGES = [mutate_document, mutate_document, change_operator, change_meaning, change_meaning, change_spec]


def choose_document(members: Members, random: Random) -> int:
    """The number of a JSON member, most often of a program."""
    documents = [i for i, (name, _) in enumerate(members) if name.endswith(".json")]
    models = [i for i in documents if "/models/" in members[i][0]]
    return random.choice(models if models and random.random() < 0.8 else documents)


def mutate_values(data: bytes, random: Random) -> bytes:
    """One JSON member of an archive with other values."""
    members = read_members(data)
    chosen = choose_document(members, random)
    name, text = members[chosen]
    members[chosen] = (name, mutate_json(text, random, random.choice(CHANGES)))
    return write_members(members)


def mutate_graph(data: bytes, random: Random) -> bytes:
    """A program, or a list of weights, that is well-formed and means something else."""
    members = read_members(data)
    for _ in range(random.choice((1, 1, 2, 3))):
        chosen = choose_document(members, random)
        name, text = members[chosen]
        members[chosen] = (name, mutate_json(text, random, random.choice(GRAPH_CHANGES)))
    return write_members(members)


def mutate_tensors(data: bytes, random: Random) -> bytes:
    """Weights and constants of other bytes, or of another length."""
    members = read_members(data)
    tensors = [i for i, (name, _) in enumerate(members) if "/data/" in name and not name.endswith(".json")]
    for chosen in random.choices(tensors, k=random.choice((1, 3))):
        name, content = members[chosen]
        fill = random.choice((b"\xff", b"\x00", b"\x00\x00\xc0\x7f", b"\x00\x00\x80\xff", b"\x7f"))
        length = random.choice((len(content),) * 4 + (0, len(content) - 1, len(content) + 1, len(content) * 3))
        members[chosen] = (name, (fill * (length // len(fill) + 1))[: max(length, 0)])
    return write_members(members)


def mutate_text(data: bytes, random: Random) -> bytes:
    """JSON that writers do not write: keys twice, numbers that are none, bytes that are no text, very deep nesting."""
    members = read_members(data)
    chosen = choose_document(members, random)
    name, text = members[chosen]
    members[chosen] = (name, mutate_json_text(text, random))
    return write_members(members)


def rename(name: str, random: Random) -> str:
    folder, _, last = name.rpartition("/")
    inside = (f"{name}/", last, " ", name.upper(), "a" * 60000)
    return random.choice((f"../{name}", f"/{name}", f"{folder}/../../{last}", f"\\{name}", *inside))


def mutate_members(data: bytes, random: Random) -> bytes:
    """Members dropped, doubled, renamed, swapped, damaged, compressed, or very compressible."""
    members = read_members(data)
    kind = random.randrange(9)
    at, other = random.randrange(len(members)), random.randrange(len(members))
    name, content = members[at]
    if kind == 0:
        del members[at]
    elif kind == 1:
        members.append((name, random.choice((content, b"", members[other][1]))))
    elif kind == 2:
        members[at] = (rename(name, random), content)
    elif kind == 3:
        members[at], members[other] = (name, members[other][1]), (members[other][0], content)
    elif kind in (4, 5):
        members[at] = (name, mutate_bytes(content, random))
    elif kind == 6:
        members[at] = (name, random.choice((b"", b"[" * 100000, b'"' + b"a" * 2**20 + b'"', b"\x00" * 2**22)))
    elif kind == 7:
        random.shuffle(members)
    else:
        members[at] = (name, b" " * (2**26))  # 64 MiB from 64 KiB
    return write_members(members, random.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)))


def mutate_fields(work: bytearray, start: int, fields: list[tuple[int, int]], random: Random) -> None:
    """One of the numbers, given by place and width, of the record at `start`."""
    at, width = random.choice(fields)
    limit = 256**width
    old = int.from_bytes(work[start + at : start + at + width], "little")
    values = (0, 1, 8, 99, old + 1, old - 1, old * 2, limit - 1, limit // 2, random.randrange(limit))
    work[start + at : start + at + width] = (random.choice(values) % limit).to_bytes(width, "little")


FIELDS = {
    LOCAL: [(4, 2), (6, 2), (8, 2), (14, 4), (18, 4), (22, 4), (26, 2), (28, 2)],
    CENTRAL: [(8, 2), (10, 2), (16, 4), (20, 4), (24, 4), (28, 2), (30, 2), (32, 2), (38, 4), (42, 4)],
    END: [(4, 2), (8, 2), (10, 2), (12, 4), (16, 4), (20, 2)],
}


def records(data: bytes | bytearray, mark: bytes) -> list[int]:
    found = []
    at = data.find(mark)
    while at >= 0:
        found.append(at)
        at = data.find(mark, at + 1)
    return found


def mutate_headers(data: bytes, random: Random) -> bytes:
    """Fields of the records of the archive: sizes, offsets, counts, methods, flags."""
    work = bytearray(data)
    for _ in range(random.choice((1, 1, 2, 4))):
        mark = random.choice((LOCAL, CENTRAL, CENTRAL, END))
        mutate_fields(work, random.choice(records(data, mark)), FIELDS[mark], random)
    return bytes(work)


def mutate_zip(data: bytes, random: Random) -> bytes:
    """What archives may have beside members: text before and after, comments, a second end, 64-bit records, links."""
    end = data.rindex(END)
    central = data.index(CENTRAL)
    kind = random.randrange(6)
    if kind == 0:
        return random.choice((b"#!/bin/sh\n", b"PK", b"\0" * 5000)) + data
    if kind == 1:
        return data + random.choice((b"\0", b"x" * 70000, data[end:], data[central:], data))
    if kind == 2:
        comment = random.choice((b"comment", END * 20, data[central:][:60000]))
        return data[: end + 20] + struct.pack("<H", len(comment)) + comment
    if kind == 3:  # one member listed again and again
        count = random.choice((1, 300))
        listed = data[central:end]
        first = listed[: listed.find(CENTRAL, 4)] if listed.find(CENTRAL, 4) > 0 else listed
        total = (len(records(listed, CENTRAL)) + count) % 65536
        tail = struct.pack("<4sHHHHIIH", END, 0, 0, total, total, len(listed) + len(first) * count, central, 0)
        return data[:central] + listed + first * count + tail
    if kind == 4:
        huge = random.choice((len(data), 2**40, 2**63, 2**64 - 1))
        record = struct.pack("<4sQHHIIQQQQ", b"PK\x06\x06", 44, 45, 45, 0, 0, huge, huge, huge, huge)
        locator = struct.pack("<4sIQI", b"PK\x06\x07", 0, random.choice((end, huge)), 1)
        return data[:end] + record + locator + END + b"\0" * 4 + b"\xff" * 12 + b"\0\0"
    work = bytearray(data)
    at = random.choice(records(data, CENTRAL))
    work[at + 5] = 3  # made by Unix, as a link
    work[at + 38 : at + 42] = struct.pack("<I", 0o120777 << 16)
    return bytes(work)


PT2_LEVELS = {
    "bytes": (mutate_bytes, 1), "headers": (mutate_headers, 1), "members": (mutate_members, 2), "zip": (mutate_zip, 1),
    "values": (mutate_values, 5), "graph": (mutate_graph, 6), "tensors": (mutate_tensors, 1), "text": (mutate_text, 1),
}  # fmt: skip


def mutate_operator(data: bytes, random: Random) -> bytes:
    """A program of one operator with other numbers for arguments."""
    members = read_members(data)
    chosen = next(i for i, (name, _) in enumerate(members) if "/models/" in name)
    members[chosen] = (members[chosen][0], mutate_json(members[chosen][1], random, change_argument))
    return write_members(members)


def mutate_pt2(data: bytes, random: Random) -> tuple[str, bytes]:
    level = random.choices(list(PT2_LEVELS), [weight for _, weight in PT2_LEVELS.values()])[0]
    return level, PT2_LEVELS[level][0](data, random)
