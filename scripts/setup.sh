#!/usr/bin/env bash
# Installs what Ingot is built and tested with: Debian packages (scripts/apt.txt) and a .venv (scripts/requirements.txt).
# Safe to run again; does nothing, in well under a second, when everything is there.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

say() { printf 'setup: %s\n' "$*"; }
die() { printf 'setup: %s\n' "$*" >&2; exit 1; }

as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    die "root or sudo is needed to run: $*"
  fi
}

# The packages, among those named, that dpkg does not call installed.
missing_packages() {
  local installed
  installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "$@" 2>/dev/null | sed -n 's/^installed //p' || true)
  comm -23 <(printf '%s\n' "$@" | sort -u) <(sort -u <<<"$installed")
}

install_packages() {
  local missing
  mapfile -t missing < <(missing_packages "$@")
  [ "${#missing[@]}" -eq 0 ] && return
  say "apt-get install ${missing[*]}"
  local apt=(apt-get -o DPkg::Lock::Timeout=600 -qq)
  as_root "${apt[@]}" update
  as_root env DEBIAN_FRONTEND=noninteractive "${apt[@]}" install -y --no-install-recommends "${missing[@]}"
}

find_python() {
  local candidate
  for candidate in python3 python3.11; do
    if "$candidate" -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' 2>/dev/null; then
      command -v "$candidate"
      return
    fi
  done
  die "Python 3.11 is needed, as python3 or python3.11"
}

make_venv() {
  [ -x .venv/bin/python ] && return
  local python
  python=$(find_python)
  "$python" -c 'import ensurepip, venv' 2>/dev/null || install_packages python3-venv
  say "making .venv with $("$python" --version)"
  "$python" -m venv .venv
}

# torch alone and first: resolved together with others, a package that asks for torch can pull in another build of it.
install_python_packages() {
  local stamp=.venv/.setup-stamp wanted
  wanted=$(cat scripts/requirements.txt scripts/constraints.txt scripts/setup.sh | sha256sum)
  [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$wanted" ] && return
  local pip=(.venv/bin/python -m pip --disable-pip-version-check -q install)
  say "pip install torch==2.13.0"
  "${pip[@]}" torch==2.13.0
  say "pip install -r scripts/requirements.txt"
  "${pip[@]}" -r scripts/requirements.txt -c scripts/constraints.txt
  printf '%s' "$wanted" >"$stamp"
}

mapfile -t packages <scripts/apt.txt
install_packages "${packages[@]}"
make_venv
install_python_packages
