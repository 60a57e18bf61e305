"""Changes to assets: their files, the values in their JSON, their programs and their plans."""

from __future__ import annotations

import os
import re
import shutil
import struct
import subprocess
from pathlib import Path
from random import Random
from typing import Any

from fuzz.mutate import NUMBERS, change_value, mutate_bytes, mutate_document, mutate_json, mutate_json_text, slots_of
from fuzz.seal import seal_asset

OPT = Path(__file__).parents[2] / "build/bin/ingot-opt"
FILES = ("manifest.json", "program.mlirbc", "weights.safetensors")
TYPES = ("f32", "f64", "f16", "bf16", "i1", "i8", "ui8", "i32", "i64", "f8E4M3FN", "complex<f32>")
NUMBER = re.compile(r"(?<=[ :,\[<])-?[0-9]+(?=[ ,\]>}])")


def mutate_weights_header(data: bytes, random: Random) -> bytes:
    """The JSON in front of a safetensors file."""
    (length,) = struct.unpack_from("<Q", data)
    header = mutate_json(data[8 : 8 + length], random)
    stated = random.choice((len(header),) * 8 + (0, 2**63, len(header) + 1))
    return struct.pack("<Q", stated) + header + data[8 + length :]


def mutate_bytecode(data: bytes, random: Random) -> bytes:
    """Names in the bytecode, which lie in it as text, exchanged for others; numbers of the same width."""
    names = [found.span() for found in re.finditer(rb"(?<=\0)[a-z_][a-z_.0-9]{2,30}(?=\0)", data)]
    if not names or random.random() < 0.4:
        work = bytearray(data)
        for _ in range(random.choice((1, 2, 8))):
            at = random.randrange(len(work))
            work[at] = (work[at] + 2 * random.randrange(128)) % 256  # the lowest bits say how wide a number is
        return bytes(work)
    start, end = random.choice(names)
    fitting = [data[a:b] for a, b in names if b - a == end - start and data[a:b] != data[start:end]]
    name = random.choice(fitting) if fitting else bytes(random.choices(b"abcdefgnors", k=end - start))
    return data[:start] + name + data[end:]


def change_program(text: str, random: Random) -> str:
    """The program in its readable form with another attribute, operand, operation or element type."""
    lines = text.splitlines()
    bodies = [i for i, line in enumerate(lines) if "ingot." in line and "func.func" not in line]
    if not bodies:
        return text
    at = random.choice(bodies)
    line, kind = lines[at], random.randrange(6)
    values = sorted(set(re.findall(r"%[a-z]*[_0-9]+", text)))
    if kind <= 2 and (numbers := list(NUMBER.finditer(line))):
        start, end = random.choice(numbers).span()
        number = random.choice((0, 1, 2, 3, -1, -2, 5, int(line[start:end]) + 1, random.choice(NUMBERS[:28])))
        lines[at] = f"{line[:start]}{number}{line[end:]}"
    elif kind == 3 and (uses := list(re.finditer(r"%[a-z]*[_0-9]+", line.partition("=")[2]))):
        start, end = random.choice(uses).span()
        head, _, rest = line.partition("=")
        lines[at] = f"{head}={rest[:start]}{random.choice(values)}{rest[end:]}"
    elif kind == 4:
        other = re.findall(r"ingot\.[a-z_0-9]+", lines[random.choice(bodies)])[0]
        lines[at] = re.sub(r"ingot\.[a-z_0-9]+", other, line, count=1)
    else:
        element = random.choice(TYPES)
        return re.sub(rf"(?<=[x<]){random.choice(TYPES[:2] + TYPES[7:9])}(?=>)", element, text)
    return "\n".join(lines)


def read_program(path: Path) -> str:
    return subprocess.run([OPT, path], capture_output=True, check=False).stdout.decode(errors="replace")


def mutate_program(path: Path, random: Random) -> None:
    """Another program that the verifier takes, as far as one is found soon; else other bytes."""
    text = read_program(path) if OPT.is_file() and random.random() < 0.7 else ""
    for _ in range(6 if text else 0):
        changed = change_program(text, random)
        done = subprocess.run([OPT, "--emit-bytecode"], input=changed.encode(), capture_output=True, check=False)
        if done.returncode == 0:
            text = changed
            path.write_bytes(done.stdout)
            if random.random() < 0.6:
                return
    if not text:
        path.write_bytes(random.choice((mutate_bytes, mutate_bytecode))(path.read_bytes(), random))


def change_indices(document: Any, random: Random) -> Any:
    """Small numbers: values of the plan, sizes and attributes, which other numbers of their kind replace."""
    slots = [slot for slot in slots_of(document) if type(slot[0][slot[1]]) is int]
    for container, key in random.choices(slots, k=random.choice((1, 1, 2, 3))) if slots else []:
        old = container[key]
        container[key] = random.choice((0, 1, 2, 3, -1, 5, old + 1, old - 1, random.randrange(24)))
    return document


def change_steps(document: Any, random: Random) -> Any:
    """Steps with a part of another step."""
    steps = [step for function in document["functions"] for step in [*function["steps"], *function["prologue"]]]
    if not steps:
        return change_indices(document, random)
    step, other = random.choice(steps), random.choice(steps)
    part = random.choice(("kernel", "attributes", "in", "out"))
    if part in other:
        step[part] = other[part]
    if part == "kernel" and random.random() < 0.5:
        step["attributes"] = {**other.get("attributes", {}), **step.get("attributes", {})}
    return document


def change_parts(document: Any, random: Random) -> Any:
    """Any value but those that only people read."""
    silent = ("source", "node", "in_spec", "out_spec", "format")
    slots = [slot for slot in slots_of(document) if slot[1] not in silent and not isinstance(slot[0][slot[1]], dict)]
    values = [container[key] for container, key in slots]
    strings = [value for value in values if isinstance(value, str)]
    for container, key in random.choices(slots, k=random.choice((1, 1, 2, 3))):
        container[key] = change_value(container[key], random, strings, values)
    return document


PLAN_CHANGES = [mutate_document, change_parts, change_parts, change_indices, change_indices, change_steps, change_steps]


def mutate_plan(path: Path, random: Random) -> None:
    path.write_bytes(mutate_json(path.read_bytes(), random, random.choice(PLAN_CHANGES)))


def mutate_file(path: Path, random: Random) -> None:
    data = path.read_bytes()
    kind = random.random()
    if path.name == "plan.json" and kind < 0.8:
        mutate_plan(path, random)
    elif path.suffix == ".mlirbc" and kind < 0.8:
        mutate_program(path, random)
    elif path.suffix == ".json" and kind < 0.75:
        path.write_bytes(mutate_json(data, random))
    elif path.suffix == ".json" and kind < 0.85:
        path.write_bytes(mutate_json_text(data, random))
    elif path.suffix == ".safetensors" and kind < 0.6:
        path.write_bytes(mutate_weights_header(data, random))
    else:
        path.write_bytes(mutate_bytes(data, random))


def disturb_folder(asset: Path, random: Random) -> None:
    """Files that are missing, swapped, empty, links, folders or nothing that can be read."""
    path = asset / random.choice(FILES)
    kind = random.randrange(6)
    other = asset / random.choice(FILES)
    content = other.read_bytes()
    path.unlink()
    if kind == 1:
        path.symlink_to("/etc/passwd")
    elif kind == 2:
        path.mkdir()
    elif kind == 3:
        path.write_bytes(content)
    elif kind == 4:
        os.mkfifo(path)
    elif kind == 5:
        path.write_bytes(b"")


def mutate_asset(seed: Path, target: Path, random: Random) -> str:
    """Copies the asset `seed` to `target` and changes it there; what was done."""
    shutil.copytree(seed, target)
    kind = random.random()
    if kind < 0.1:
        disturb_folder(target, random)
        return "folder"
    if kind < 0.15:  # parts of two assets
        other, name = random.choice(sorted(seed.parent.glob("*.ingot"))), random.choice(FILES)
        shutil.copy(other / name, target / name)
        seal_asset(target)
        return f"{name} of {other.name}"
    files = sorted(path for path in target.rglob("*") if path.is_file())
    plans = [path for path in files if path.name == "plan.json"]
    path = random.choice(plans if plans and random.random() < 0.6 else files)
    mutate_file(path, random)
    # Code with right checksums runs: whoever can write it needs no damaged file.
    if kind < 0.3 or path.name == "kernels.so":
        return f"{path.name} unsealed"
    seal_asset(target)
    return f"{path.name} sealed"
