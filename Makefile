# One command for each thing a newcomer wants. All of it lives in .venv; nothing is installed elsewhere.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test bench format format-check lint types contracts unit lock clean

demo: $(VENV)/.run
	$(BIN)/hushway demo demo --force

test: format-check lint types contracts unit

format-check: $(VENV)/.dev
	$(BIN)/ruff format --check .

lint: $(VENV)/.dev
	$(BIN)/ruff check .

types: $(VENV)/.dev
	$(BIN)/mypy

contracts: $(VENV)/.dev
	$(BIN)/lint-imports

# Tests of the cluster share one, so they are not divided among processes.
unit: $(VENV)/.dev
	$(BIN)/pytest -n 2 --dist worksteal -m "not cluster"
	$(BIN)/pytest -m cluster tests/cluster tests/conformance tests/integration

bench: $(VENV)/.dev
	$(BIN)/python benchmarks/run.py

format: $(VENV)/.dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# Pins for users (run), developers (dev) and the installer itself (uv), for every supported Python and machine: with
# hashes, and without the address of a registry.
COMPILE := $(BIN)/uv pip compile --universal --python-version 3.11 --no-emit-index-url --generate-hashes --no-header -q
lock: $(VENV)/.uv
	$(COMPILE) requirements/uv.in -o requirements/uv.lock
	$(COMPILE) pyproject.toml -o requirements/run.lock
	$(COMPILE) pyproject.toml --extra gtfs --extra postgres --extra spark --group dev -o requirements/dev.lock

clean:
	rm -rf $(VENV) demo bench-results

$(VENV)/.uv:
	$(PYTHON) -c 'import sys; assert sys.version_info >= (3, 11), "hushway needs Python 3.11 or newer: make PYTHON=python3.11"'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/uv.lock
	touch $@

$(VENV)/.run: requirements/run.lock pyproject.toml | $(VENV)/.uv
	$(BIN)/uv pip install --quiet --require-hashes --python $(BIN)/python -r requirements/run.lock
	$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps -e .
	touch $@

$(VENV)/.dev: requirements/dev.lock pyproject.toml | $(VENV)/.uv
	$(BIN)/uv pip install --quiet --require-hashes --python $(BIN)/python -r requirements/dev.lock
	$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps -e .
	touch $@ $(VENV)/.run
