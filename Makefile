# One command for each thing a newcomer wants. All of it lives in .venv; nothing is installed elsewhere.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
UV_VERSION := 0.13.7

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

unit: $(VENV)/.dev
	$(BIN)/pytest -n 2 --dist worksteal

bench: $(VENV)/.dev
	$(BIN)/python benchmarks/run.py

format: $(VENV)/.dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# Pins for users (run) and developers (dev), for every supported Python and machine; no registry address in them.
lock: $(VENV)/.uv
	$(BIN)/uv pip compile --universal --python-version 3.11 --no-emit-index-url --no-header -q \
	  pyproject.toml -o requirements/run.lock
	$(BIN)/uv pip compile --universal --python-version 3.11 --no-emit-index-url --no-header -q \
	  pyproject.toml --extra gtfs --extra postgres --group dev -o requirements/dev.lock

clean:
	rm -rf $(VENV) demo bench-results

$(VENV)/.uv:
	$(PYTHON) -c 'import sys; assert sys.version_info >= (3, 11), "hushway needs Python 3.11 or newer: make PYTHON=python3.11"'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv==$(UV_VERSION)
	touch $@

$(VENV)/.run: requirements/run.lock pyproject.toml | $(VENV)/.uv
	$(BIN)/uv pip install --quiet --python $(BIN)/python -r requirements/run.lock
	$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps -e .
	touch $@

$(VENV)/.dev: requirements/dev.lock pyproject.toml | $(VENV)/.uv
	$(BIN)/uv pip install --quiet --python $(BIN)/python -r requirements/dev.lock
	$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps -e .
	touch $@ $(VENV)/.run
