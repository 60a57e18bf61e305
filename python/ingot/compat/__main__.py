"""python -m ingot.compat script.py args…, or python -m ingot.compat -m module args…"""

from __future__ import annotations

import os
import runpy
import sys
from pathlib import Path


def main() -> int:
    arguments = sys.argv[1:]
    if not arguments or arguments[0] in ("-h", "--help") or arguments == ["-m"]:
        print("usage: python -m ingot.compat (script.py | -m module) [arguments]", file=sys.stderr)
        return 0 if arguments and arguments[0] != "-m" else 2
    _reach_children()
    if arguments[0] == "-m":
        sys.argv = arguments[1:]
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
        return 0
    sys.argv = arguments
    # As Python itself does for a script: its folder is searched first.
    sys.path[0] = os.path.dirname(os.path.abspath(arguments[0]))
    runpy.run_path(arguments[0], run_name="__main__")
    return 0


def _reach_children() -> None:
    folder = str(Path(__file__).with_name("children"))
    paths = [folder, *filter(None, [os.environ.get("PYTHONPATH")])]
    os.environ["PYTHONPATH"] = os.pathsep.join(paths)


if __name__ == "__main__":
    sys.exit(main())
