#!/usr/bin/env bash
# Puts what `build/` holds into .venv: the package, its libraries and the native program .venv/bin/ingot.
# Does nothing when no installed file would change.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

stamp=build/.installed
state() {
  find build/bin/ingot build/lib build/python python/ingot pyproject.toml README.md LICENSE \
    -type f -not -name '*.a' -not -path '*/__pycache__/*' -printf '%p %s %T@\n' 2>/dev/null | sort | sha256sum || true
}

if [ ! -f python/ingot/__init__.py ]; then
  echo "install: python/ingot is not there yet"
  exit 0
fi
if [ -x .venv/bin/ingot ] && [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$(state)" ]; then
  exit 0
fi
echo "install: into .venv"
.venv/bin/python -m pip --disable-pip-version-check -q install --no-build-isolation --no-deps --no-index .
state >"$stamp"
