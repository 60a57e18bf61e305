"""Runs every libFuzzer target for its share of the time, then the campaign: `make fuzz SECONDS=600`.

Findings lie in build-fuzz/found. A finding that is mended becomes a file of tests/fuzz/regressions/TARGET.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

from fuzz.campaign import Campaign
from fuzz.corpora import make_corpora
from fuzz.seeds import ROOT, make_seeds

BUILD = ROOT / "build-address-undefined"
WORK = ROOT / "build-fuzz"
COMMITTED = Path(__file__).parent
ENVIRONMENT = {
    "ASAN_OPTIONS": "detect_container_overflow=0:allow_user_poisoning=0:allocator_may_return_null=1:detect_leaks=0",
    "UBSAN_OPTIONS": "print_stacktrace=1",
    "INGOT_NUM_THREADS": "1",
}


def run_target(target: Path, seconds: int) -> bool:
    """Whether nothing was found. What is new goes to the target's folder of build-fuzz/corpus."""
    corpus = WORK / "corpus" / target.name
    corpus.mkdir(parents=True, exist_ok=True)
    seeds = [folder for kind in ("corpus", "regressions") if (folder := COMMITTED / kind / target.name).is_dir()]
    if target.name in ("ingot_convert_fuzz", "ingot_zip_fuzz", "ingot_pt2_fuzz"):
        seeds.append(WORK / "seeds/pt2")
    command = [
        target, corpus, *seeds, f"-max_total_time={seconds}", "-timeout=20", "-rss_limit_mb=4096", "-max_len=200000",
        f"-artifact_prefix={WORK}/found/{target.name}-", "-print_final_stats=0", "-verbosity=0",
    ]  # fmt: skip
    return subprocess.run(command, env={**os.environ, **ENVIRONMENT}, check=False).returncode == 0


def run_campaign(seconds: int) -> bool:
    """New files every day; the seed is printed, so that they can be had again."""
    seed = int(time.time()) // 86400
    campaign = Campaign(WORK / "seeds", WORK / "found", seed)
    end = time.monotonic() + seconds
    number = 0
    while time.monotonic() < end:
        campaign.case(number)
        number += 1
    print(f"campaign: seed {seed}, {number} files, {len(campaign.findings)} findings")
    return not campaign.findings


def main() -> int:
    parser = argparse.ArgumentParser(prog="fuzz.libfuzzer", description=__doc__)
    parser.add_argument("--seconds", type=int, default=600, help="in all")
    parser.add_argument("--only", default="", help="the targets whose names hold this")
    options = parser.parse_args()
    (WORK / "found").mkdir(parents=True, exist_ok=True)
    make_seeds(WORK / "seeds")
    make_corpora(WORK / "seeds", WORK / "corpus", 100_000)
    targets = sorted(path for path in (BUILD / "bin").glob("ingot_*_fuzz") if options.only in path.name)
    if not targets:
        print(f"there are no fuzz targets in {BUILD}; use make fuzz", file=sys.stderr)
        return 2
    share = max(1, options.seconds // (len(targets) + (not options.only)))
    failed = []
    for target in targets:
        print(f"== {target.name}, {share} s", flush=True)
        if not run_target(target, share):
            failed.append(target.name)
    if not options.only:
        print(f"== campaign, {share} s", flush=True)
        if not run_campaign(share):
            failed.append("campaign")
    print(f"FOUND SOMETHING: {', '.join(failed)}; see {WORK / 'found'}" if failed else "nothing found")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
