#!/usr/bin/env bash
# Every test of the built tree, cheapest first; goes on after a failure and names the failed parts at the end.
# Usage: scripts/test.sh [unit|lit|python|checks]...    (default: all of them)
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

cores=$(nproc)
jobs=${INGOT_JOBS:-$((cores < 8 ? cores : 8))}
parts=("$@")
[ "${#parts[@]}" -eq 0 ] && parts=(unit lit python checks)
failed=()

part_unit() { ctest --test-dir build --output-on-failure -j "$jobs"; }

part_lit() {
  if [ -z "$(find src -path '*/test/*.mlir' -print -quit)" ]; then
    echo "no lit tests yet"
    return
  fi
  .venv/bin/lit -q -j "$jobs" build/tests/lit
}

part_python() {
  local folders=() folder
  for folder in tests python; do
    if [ -n "$(find "$folder" -name 'test_*.py' -print -quit 2>/dev/null)" ]; then folders+=("$folder"); fi
  done
  if [ "${#folders[@]}" -eq 0 ]; then
    echo "no Python tests yet"
    return
  fi
  # One thread for each worker: the cores are the workers'.
  OMP_NUM_THREADS=1 .venv/bin/python -m pytest -q -n "$jobs" --dist worksteal "${folders[@]}"
}

part_checks() { scripts/checks.sh; }

for part in "${parts[@]}"; do
  printf '\n== %s\n' "$part"
  "part_$part" || failed+=("$part")
done

if [ "${#failed[@]}" -gt 0 ]; then
  printf '\nFAILED: %s\n' "${failed[*]}" >&2
  exit 1
fi
printf '\nall passed\n'
