"""Checks the seeds that it reads, one a line: says "made" when there is a graph, which eager has run, and then what it
found as one JSON line."""

from __future__ import annotations

import json
import logging
import os
import sys

import ingot
import torch
from property.check import check
from property.generate import generate


def main() -> None:
    # What libraries print must not get between the messages.
    messages = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    logging.disable(logging.WARNING)
    torch.set_num_threads(1)
    ingot.set_num_threads(1)
    for line in sys.stdin:
        seed = int(line)
        case = generate(seed)
        print("made", file=messages, flush=True)
        verdict = check(case, seed)
        found = {"seed": seed, "status": verdict.status, "detail": verdict.detail, "lines": len(case.lines)}
        print(json.dumps(found), file=messages, flush=True)


if __name__ == "__main__":
    main()
