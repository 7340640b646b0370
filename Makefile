# One command for each thing a newcomer wants. All of it lives in .venv; nothing is installed elsewhere.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

# Where this is set, every process compiles a thousand modules for itself, which is more than half of a small release.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: demo test bench docs docs-write release-check test-long test-lowest lowest test-pythons format format-check lint types contracts warm families family code integration laws cluster installed web web-check lock clean

demo: $(VENV)/.run
	$(BIN)/hushway demo demo --force

# Parts run side by side, two more than two processors, for tests wait for what they start; the longest begin first. Each has a
# line here and its log in build/test.
PARTS := cluster integration families laws code installed lowest docs
test: $(VENV)/.dev
	$(MAKE) --no-print-directory -j 2 warm types web-check format-check lint contracts
	$(MAKE) --no-print-directory -j 4 $(PARTS:%=part-%)
	@.ci/skipped

part-%: $(VENV)/.dev
	@.ci/part $* $(MAKE) --no-print-directory --silent $*

format-check: $(VENV)/.dev
	$(BIN)/ruff format --check .

lint: $(VENV)/.dev
	$(BIN)/ruff check .

types: $(VENV)/.dev
	$(BIN)/mypy

contracts: $(VENV)/.dev
	$(BIN)/lint-imports
	$(BIN)/python -m tools.house

# Machine code that several processes of tests would otherwise make at once.
warm: $(VENV)/.dev
	$(BIN)/hushway --quiet warm
	cd tests && ../$(BIN)/python -m support.compiled

# Tests by folder. Each process collects its own alone, and none takes threads for sums from the others.
TESTED := OPENBLAS_NUM_THREADS=1 $(BIN)/pytest --durations=25 --durations-min=1 -m "not cluster and not long"
families: $(VENV)/.dev
	$(TESTED) tests/unit/families

# One family while it is changed: make family NAME=density
family: $(VENV)/.dev
	$(TESTED) tests/unit/families/$(NAME)

code: $(VENV)/.dev
	$(TESTED) --ignore tests/unit/families tests/unit tests/properties tests/docs

integration: $(VENV)/.dev
	$(TESTED) tests/integration

laws: $(VENV)/.dev
	$(TESTED) tests/statistical tests/conformance tests/browser

# Tests of the cluster share one.
cluster: $(VENV)/.dev
	$(BIN)/pytest -m "cluster and not long" tests/cluster tests/conformance tests/integration

# Planted mistakes that audits must catch, slow audits and laws of noise, whole studies, and most questions to a cluster. Before a
# release, and when audits, mechanisms or engines change.
test-long: $(VENV)/.dev
	$(BIN)/pytest -n 2 --dist worksteal -m "long and not cluster"
	$(BIN)/pytest -n 2 --dist worksteal --hypothesis-profile thorough tests/properties
	$(BIN)/pytest -m "long and cluster" tests/cluster tests/conformance

# The pages of sites and of the workbench, from web/ into src/hushway/web. Users need none of this: what is built is committed.
web: web/node_modules/.package-lock.json
	cd web && npm run --silent check && npm run --silent test && npm run --silent build

# Builds the pages again elsewhere: what is committed must be what the sources say.
web-check: $(VENV)/.dev
	@web/check-bundle

web/node_modules/.package-lock.json: web/package-lock.json
	cd web && npm ci --ignore-scripts --no-audit --no-fund --silent
	touch $@

bench: $(VENV)/.dev
	$(BIN)/python benchmarks/run.py

# The documentation as a site in build/site: pages that follow from the code are checked, tutorials are run, links are followed.
docs: $(VENV)/.dev
	$(BIN)/python -m tools.docs.write --check
	$(BIN)/python -m tools.docs.gather build/docs
	$(BIN)/zensical build --clean --config-file build/zensical.toml
	$(BIN)/python -m tools.docs.links build/site

# Writes the pages that follow from the code again.
docs-write: $(VENV)/.dev
	$(BIN)/python -m tools.docs.write

# Tests of the code, without those of clusters, pages and long runs: on the oldest versions that pyproject.toml admits, and on
# every Python of 3.11 to 3.13 that the machine has. Old versions may warn of what newer ones around them will stop doing.
# In short, as in `make test`, what calls most of other libraries, with one release type: each has its own kernels to compile.
CODE := -n 3 --dist worksteal -m "not cluster and not long" tests/unit tests/properties tests/integration
IN_SHORT := -m "not cluster and not long" --one-release-type -k "not log_file" tests/unit/cli tests/unit/tables tests/integration/release/test_tools.py
lowest: $(VENV)/.uv
	UV_EXCLUDE=requirements/no-cluster.txt .ci/test-elsewhere $(PYTHON) requirements/lowest.lock -W ignore $(IN_SHORT)

test-lowest: $(VENV)/.uv
	UV_EXCLUDE=requirements/no-cluster.txt .ci/test-elsewhere $(PYTHON) requirements/lowest.lock -W ignore $(CODE)

test-pythons: $(VENV)/.uv
	@set -e; for python in $$(.ci/pythons); do .ci/test-elsewhere $$python requirements/dev.lock $(CODE); done

# What users get who install it: built, installed read-only, used elsewhere by an ordinary user. In short, as in `make test`, that
# user publishes one little release, and otherwise runs the whole demo.
installed: $(VENV)/.dev
	.ci/release-check --short

release-check: $(VENV)/.dev
	.ci/release-check

format: $(VENV)/.dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# Pins for users (run, and what each extra adds), developers (dev), the oldest versions (lowest) and the installer itself (uv).
lock: $(VENV)/.uv
	.ci/lock

clean:
	rm -rf $(VENV) demo bench-results build web/node_modules

$(VENV)/.uv:
	$(PYTHON) -c 'import sys; assert sys.version_info >= (3, 11), "hushway needs Python 3.11 or newer: make PYTHON=python3.11"'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/uv.lock
	touch $@

# Who has seen the demo can open the workbench.
RUN := requirements/run.lock requirements/extras/serve.lock
$(VENV)/.run: $(RUN) pyproject.toml | $(VENV)/.uv
	$(BIN)/uv pip install --quiet --require-hashes --python $(BIN)/python $(RUN:%=-r %)
	$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps -e .
	touch $@

$(VENV)/.dev: requirements/dev.lock pyproject.toml | $(VENV)/.uv
	$(BIN)/uv pip install --quiet --require-hashes --python $(BIN)/python -r requirements/dev.lock
	$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps -e .
	touch $@ $(VENV)/.run
