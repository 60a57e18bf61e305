"""Where libFuzzer starts: small files for each target. The smallest are kept in `tests/fuzz/corpus`, for unit tests;
run this after a change of a format:

    cd tests && ../.venv/bin/python -m fuzz.corpora
"""

from __future__ import annotations

import io
import json
import shutil
import struct
import subprocess
import tempfile
import zipfile
from pathlib import Path

import numpy as np
import safetensors.numpy

from fuzz.files import read_members, write_members
from fuzz.seeds import INGOT, ROOT, make_seeds

CORPUS = Path(__file__).with_name("corpus")
LARGEST = 6_000  # bytes of a file that is kept
EXPRESSIONS = ["s0", "2*s0 + 1", "Max(1, s0//2)", "Mod(s0 - 3, 4)", "s0**2", "Ne(s0, 1) & (s1 < 4)", "-s0/3", "oo"]
SCHEMAS = [
    "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
    "aten::split.sizes(Tensor(a -> *) self, SymInt[] split_size, int dim=0) -> Tensor(a)[]",
    "x::y(Tensor(a!)? out=None, int[2] pad=[0, 1], str mode='same', float? eps=1e-05) -> (Tensor(a!), bool)",
]


class Corpora:
    def __init__(self, folder: Path, largest: int) -> None:
        self.folder = folder
        self.largest = largest

    def put(self, target: str, name: str, data: bytes) -> None:
        if len(data) > self.largest:
            return
        folder = self.folder / target
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)


def arrays(corpora: Corpora) -> None:
    for dtype in ("float32", "int64", "bool", "complex64"):
        array = np.zeros((2, 3), dtype)
        buffer = io.BytesIO()
        np.save(buffer, array)
        corpora.put("ingot_npy_fuzz", dtype, buffer.getvalue())
    corpora.put(
        "ingot_safetensors_fuzz",
        "two",
        safetensors.numpy.save({"a": np.ones((2, 2), "float32"), "b": np.ones(3, "int8")}),
    )
    corpora.put("ingot_safetensors_fuzz", "none", safetensors.numpy.save({}))


FLOAT32, SLACK = 11, 4096
PACKED = {  # records as in src/runtime/Packed.h, and the bytes of their panels
    "matrix": ([0, 0, 1, 512, 0, 0, 0, 512, 0, 0, 0, 512, 1, 0, FLOAT32, 0, 1], (1 << 20) + SLACK),
    "pairs": ([0, 0, 1, 1024, 0, 0, 0, 256, 0, 0, 0, 256, 1, 0, FLOAT32, 1, 1], (1 << 19) + SLACK),
    "filters": ([0, 64, 3, 3, 3, 64, 0, 192, 64, 1, 0, 256, 576, 1, FLOAT32, 0, 0], (1 << 20) + SLACK),
}


def caches(corpora: Corpora) -> None:
    for names in (("matrix",), ("filters",), ("matrix", "pairs"), ("filters", "matrix", "pairs")):
        fields = [field for name in names for field in PACKED[name][0]]
        size = sum(PACKED[name][1] for name in names)
        packed = struct.pack(f"<I{len(fields)}q", size // 64, *fields)
        corpora.put("ingot_cache_fuzz", "-".join(names), b"p" + packed)
    methods = {"conv a f32[1], 2 threads, highest": "winograd", "matmul b": "onednn", "c": "faster"}
    document = {"format": 1, "program": "key", "methods": methods}
    corpora.put("ingot_cache_fuzz", "methods", b"m" + json.dumps(document).encode())


def programs(corpora: Corpora, folder: Path) -> None:
    for path in sorted((folder / "pt2").glob("*.pt2")):
        for name, data in read_members(path.read_bytes()):
            if "/models/" not in name or not name.endswith(".json"):
                continue
            corpora.put("ingot_pt2_fuzz", f"{path.stem}.json", b"j" + data)
            for call in json.loads(data)["graph_module"]["module_call_graph"]:
                spec = (call.get("signature") or {}).get("in_spec")
                if spec and not call["fqn"]:
                    corpora.put("ingot_pt2_fuzz", f"{path.stem}.spec", b"t" + spec.encode())
        done = subprocess.run([INGOT, "extract", path], capture_output=True, check=False)
        if done.returncode == 0:
            corpora.put("ingot_graph_fuzz", f"{path.stem}.json", done.stdout)
    for i, text in enumerate(EXPRESSIONS):
        corpora.put("ingot_pt2_fuzz", f"expression{i}", b"e" + text.encode())
    for i, text in enumerate(SCHEMAS):
        corpora.put("ingot_pt2_fuzz", f"schema{i}", b"s" + text.encode())


def assets(corpora: Corpora, folder: Path) -> None:
    for asset in sorted((folder / "assets").glob("*.ingot")):
        if asset.stem.endswith("_ready"):
            continue
        files = [(path.name, path.read_bytes()) for path in sorted(asset.iterdir()) if path.is_file()]
        corpora.put("ingot_load_fuzz", f"{asset.stem}.zip", write_members(files, zipfile.ZIP_STORED))
        corpora.put("ingot_manifest_fuzz", f"{asset.stem}.json", dict(files)["manifest.json"])
        subprocess.run([INGOT, "specialise", asset], capture_output=True, check=True)
        for plan in asset.glob("cache/*/plan.json"):
            corpora.put("ingot_plan_fuzz", f"{asset.stem}.json", plan.read_bytes())


def make_corpora(seeds: Path, folder: Path, largest: int) -> None:
    corpora = Corpora(folder, largest)
    arrays(corpora)
    caches(corpora)
    programs(corpora, seeds)
    with tempfile.TemporaryDirectory() as name:  # plans are made by compiling, which seeds do without
        assets(corpora, shutil.copytree(seeds, Path(name) / "seeds"))


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "seeds"
        make_seeds(folder)
        make_corpora(folder, CORPUS, LARGEST)
    size = sum(path.stat().st_size for path in CORPUS.rglob("*") if path.is_file())
    print(f"{CORPUS.relative_to(ROOT)}: {size >> 10} KiB")


if __name__ == "__main__":
    main()
