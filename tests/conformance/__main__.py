"""Conformance with eager PyTorch over its operator database.

python -m conformance                           everything (hours)
python -m conformance --ops 'fft.*' --dtypes f32,c64 --limit 4
python -m conformance --limit 3 --log out.jsonl
python -m conformance --ops 'fft.*' --log out.jsonl --update    these again, the others as they were
python -m conformance --dynamic                 the core ATen operators, exported with dynamic sizes
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path

import torch
from conformance.cases import DTYPES, all_units
from conformance.dynamic import dynamic_cases
from conformance.pool import run_units
from conformance.report import Tally, failures_text, finished, summary_text


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser("conformance", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--ops", default=".*", help="regular expression over whole operator names")
    parser.add_argument("--dtypes", default=",".join(DTYPES), help="some of " + ",".join(DTYPES))
    parser.add_argument(
        "--dynamic", action="store_true", help="the core operators with dynamic sizes, at three of each"
    )
    parser.add_argument("--limit", type=int, default=0, help="samples of each operator and dtype (default: all)")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--log", type=Path, help="write every outcome to this file, a line of JSON each, as it comes")
    parser.add_argument(
        "--update", action="store_true", help="keep what the log has of other operators and dtypes than those run now"
    )
    parser.add_argument("--summary", type=Path, help="write counts by operator and dtype to this file (for docs)")
    parser.add_argument("--resume", action="store_true", help="go on with the interrupted run that wrote the log")
    parser.add_argument("--show", default="wrong,crash,refused", help="statuses whose cases are listed")
    parser.add_argument("--width", type=int, default=300, help="characters of each listed detail")
    return parser.parse_args(arguments)


def main(arguments: list[str]) -> int:
    options = parse(arguments)
    pattern = re.compile(options.ops)
    if options.dynamic:
        units = [case for case in dynamic_cases() if pattern.fullmatch(case.name)]
    else:
        units = all_units(pattern, options.dtypes.split(","))
    tally = Tally()
    if options.log:
        if options.resume:
            done = finished(options.log, options.jobs)
            units = [unit for unit in units if (unit.name, unit.dtype) not in done]
            options.update = True
        again = {(unit.name, unit.dtype) for unit in units}
        tally.start_log(options.log, lambda old: options.update and (old.op, old.dtype) not in again)
    run_units(units, options.jobs, options.limit, tally)
    print(failures_text(tally, options.show.split(","), options.width))
    print(summary_text(tally))
    if options.summary:
        summary = {"torch": torch.__version__.partition("+")[0], "limit": options.limit, "ops": tally.by_op()}
        options.summary.write_text(json.dumps(summary, indent=1) + "\n")
    return 1 if tally.count("wrong") + tally.count("crash") else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
