"""cd tests && ../.venv/bin/python -m fuzz --count 10000: mutated .pt2 files and assets give only clean errors."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from fuzz.campaign import Campaign
from fuzz.seeds import ROOT, make_seeds


def main() -> int:
    parser = argparse.ArgumentParser(prog="fuzz", description=__doc__)
    parser.add_argument("--count", type=int, default=1000, help="how many files")
    parser.add_argument("--first", type=int, default=0, help="number of the first one")
    parser.add_argument("--seed", type=int, default=1, help="other files for every seed")
    parser.add_argument("--work", type=Path, default=ROOT / "build-fuzz", help="folder for seeds and findings")
    options = parser.parse_args()
    seeds = options.work / "seeds"
    seeds.parent.mkdir(parents=True, exist_ok=True)
    make_seeds(seeds)
    campaign = Campaign(seeds, options.work / "found", options.seed)
    start = time.monotonic()
    done = 0
    try:
        for number in range(options.first, options.first + options.count):
            before = len(campaign.findings)
            campaign.case(number)
            done += 1
            for finding in campaign.findings[before:]:
                last = (finding.errors.strip().splitlines() or [""])[0][:200]
                print(f"{number}: ingot {finding.command} {finding.what}: {finding.seed}: {last}", flush=True)
    except KeyboardInterrupt:
        print("interrupted")
    print(
        f"{done} files, {campaign.codes['accepted']} commands done, {campaign.codes['refused']} refused, "
        f"slowest {campaign.slowest:.1f} s, largest {campaign.largest} MiB, "
        f"{len(campaign.findings)} findings, {time.monotonic() - start:.0f} s"
    )
    return 1 if campaign.findings else 0


if __name__ == "__main__":
    sys.exit(main())
