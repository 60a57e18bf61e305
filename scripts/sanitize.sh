#!/usr/bin/env bash
# The C++ and IR tests and a sample of the Python ones, in a build with sanitizers beside the usual one.
# Usage: scripts/sanitize.sh address,undefined | thread      (INGOT_ONLY="src/base;src/asset": only these folders)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

kinds=$1
folder=build-${kinds//,/-}
fuzz=OFF
# The fuzz targets are tests too, and `make fuzz` uses the same build.
case $kinds in *address*) fuzz=ON ;; esac
cmake -G Ninja -B "$folder" -DINGOT_SANITIZE="$kinds" -DINGOT_FUZZ=$fuzz -DINGOT_ONLY="${INGOT_ONLY:-}" >"$folder.log" ||
  { cat "$folder.log"; exit 1; }
mv "$folder.log" "$folder/configure.log"
cmake --build "$folder" -j "${INGOT_JOBS:-$(nproc)}"

# LLVM and MLIR are not instrumented: vectors that they fill have no marks of where they end, and what they give from pools that
# our code made has still the marks of free memory.
export ASAN_OPTIONS="detect_container_overflow=0:allow_user_poisoning=0:detect_leaks=1:allocator_may_return_null=1${ASAN_OPTIONS:+:$ASAN_OPTIONS}"
export UBSAN_OPTIONS="print_stacktrace=1${UBSAN_OPTIONS:+:$UBSAN_OPTIONS}"
# By default a child of several threads may start none: ours does, with what it needs set up anew.
export TSAN_OPTIONS="halt_on_error=1:second_deadlock_stack=1:die_after_fork=0${TSAN_OPTIONS:+:$TSAN_OPTIONS}"
ctest --test-dir "$folder" --output-on-failure -j "${INGOT_JOBS:-$(nproc)}"

if [ -n "${INGOT_ONLY:-}" ]; then
  exit 0
fi
# From here on MLIR works with threads of its own, or Python with its locks, which the thread sanitizer does not see: the calls that
# these make of the C library are not judged.
export TSAN_OPTIONS="$TSAN_OPTIONS:ignore_noninstrumented_modules=1"
.venv/bin/lit -q -j "${INGOT_JOBS:-$(nproc)}" "$folder/tests/lit"

# The package over the libraries of this build.
overlay=$folder/overlay/ingot
rm -rf "$folder/overlay"
mkdir -p "$overlay"
cp -r python/ingot/. "$overlay/"
cp "$folder"/python/ingot/*.so "$overlay/"
ln -s "$PWD/$folder/lib" "$overlay/lib"
case $kinds in
*address*) runtime=libclang_rt.asan-x86_64.so ;;
*thread*) runtime=libclang_rt.tsan-x86_64.so ;;
*) runtime=libclang_rt.ubsan_standalone-x86_64.so ;;
esac
preload=$(clang++-19 -print-file-name="$runtime")
[ -f "$preload" ] || { echo "sanitize: there is no $runtime" >&2; exit 1; }
# The program has the sanitizer's library within, and takes no second one.
program=$PWD/$folder/overlay/program
printf '#!/bin/sh\nunset LD_PRELOAD\nexec "%s" "$@"\n' "$PWD/$folder/bin/ingot" >"$program"
chmod +x "$program"
# Python and PyTorch leave memory to the end of the process.
export ASAN_OPTIONS="$ASAN_OPTIONS:detect_leaks=0"
LD_PRELOAD="$preload" PYTHONPATH="$folder/overlay" INGOT_PROGRAM="$program" OMP_NUM_THREADS=1 \
  .venv/bin/python -m pytest -q -p no:cacheprovider tests/errors tests/python/test_api.py tests/python/test_state.py \
  tests/python/test_runtime_classes.py tests/native/test_c.py
