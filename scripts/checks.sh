#!/usr/bin/env bash
# The rules that are not tests: sizes, layers, documents, words. All of them run; any of them fails the whole.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
status=0
for check in sizes layers docs words; do
  .venv/bin/python "scripts/check_$check.py" || status=1
done
exit $status
