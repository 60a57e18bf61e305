# One word for each thing a contributor does. `make` alone lists them.
.DEFAULT_GOAL := help
.PHONY: help demo build test unit lit pytest checks fuzz conformance property kill threads soak bench bench-quick docs format lint clean setup
MAKEFLAGS += --no-print-directory

PY := .venv/bin/python
CPP_FILES = $(shell git ls-files -co --exclude-standard '*.h' '*.hpp' '*.c' '*.cpp')
PY_FILES = $(shell git ls-files -co --exclude-standard '*.py')

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: ## install the tools (Debian packages, .venv); nothing to do when they are there
	@scripts/setup.sh

build/build.ninja: CMakeLists.txt $(wildcard cmake/*)
	@cmake -G Ninja -B build -DCMAKE_BUILD_TYPE=Release
	@touch $@

build: setup ## compile everything and install it into .venv
	@$(MAKE) -s build/build.ninja
	@cmake --build build
	@scripts/install.sh

test: $(if $(SANITIZE),setup,build) ## build, then every test and check; SANITIZE=address,undefined or thread: with sanitizers
	@$(if $(SANITIZE),scripts/sanitize.sh $(SANITIZE),scripts/test.sh)

unit: build ## the C++ unit tests
	@scripts/test.sh unit

lit: build ## the IR tests
	@scripts/test.sh lit

pytest: build ## the Python tests
	@scripts/test.sh python

checks: build ## sizes, layers, documents, words
	@scripts/test.sh checks

SECONDS ?= 600
fuzz: build ## hostile files for SECONDS=600 seconds: every libFuzzer target, then mutated .pt2 files and assets
	@cmake -G Ninja -B build-address-undefined -DINGOT_SANITIZE=address,undefined -DINGOT_FUZZ=ON >/dev/null
	@cmake --build build-address-undefined --target fuzzers
	@cd tests && ../$(PY) -m fuzz.libfuzzer --seconds $(SECONDS)

conformance: build ## every operator PyTorch knows against eager (hours), and docs/generated/ops.md from it
	@cd tests && ../$(PY) -m conformance --jobs $$(nproc) --summary ../docs/generated/ops.json --log ../build/conformance.jsonl
	@$(PY) docs/generate.py

property: build ## random graphs against eager, optimised and not (COUNT=20000, SEED=0); those that fail, made small
	@cd tests && ../$(PY) -m property --count $(or $(COUNT),20000) --seed $(or $(SEED),0) --jobs $$(nproc)

kill: build ## kill `ingot` while it writes (COUNT=500): what is there is old or new, and whole
	@cd tests && ../$(PY) -m robustness.kills --count $(or $(COUNT),500)

threads: build ## call programs from 32 threads (MINUTES=10): right results, flat memory
	@cd tests && ../$(PY) -m robustness.load --threads 32 --minutes $(or $(MINUTES),10)

soak: build ## mixed calls, loads, saves and conversions (MINUTES=60) with flat memory and an even pace
	@cd tests && ../$(PY) -m robustness.load --threads 4 --convert --minutes $(or $(MINUTES),60)

demo: build ## convert a model, run it and compare it with PyTorch
	@$(PY) examples/demo.py

bench: build ## measure Ingot beside other runtimes, each in its own environment (an hour; the first time more)
	@$(PY) bench/run.py
	@$(PY) bench/overheads.py

bench-quick: build ## three models of it in two minutes
	@$(PY) bench/run.py --quick

docs: build ## write docs/generated anew from the tables
	@$(PY) docs/generate.py

format: setup ## clang-format and ruff, in place
	@$(if $(CPP_FILES),clang-format-19 -i $(CPP_FILES))
	@.venv/bin/ruff check -q --fix --exit-zero $(PY_FILES)
	@.venv/bin/ruff format -q $(PY_FILES)

lint: build ## formatting, ruff, clang-tidy (INGOT_TIDY_ALL=1: the MLIR folders too), and the checks
	@$(if $(CPP_FILES),clang-format-19 --dry-run -Werror $(CPP_FILES))
	@.venv/bin/ruff check -q $(PY_FILES)
	@.venv/bin/ruff format -q --check $(PY_FILES)
	@$(PY) scripts/tidy.py
	@scripts/checks.sh

clean: ## delete what was built (not .venv)
	@rm -rf build build-* dist
