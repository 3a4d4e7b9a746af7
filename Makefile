# make demo      builds .venv and shows the main job on real input
# make test      the fast tests, with linting and types (make lint: only those)
# make test-all  everything; installs the agent programs that the end-to-end tests drive
# make bench     the figures    make docs  the generated reference    make lock  the locked sets    make clean
# make wheel-check   builds the wheel and uses it in an environment of its own
SHELL := /bin/sh
.SHELLFLAGS := -eu -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules
# What is compiled is kept, whatever the caller prefers: otherwise each of hundreds of processes compiles all anew.
unexport PYTHONDONTWRITEBYTECODE

VENV := .venv
BIN := $(VENV)/bin
PYTHONS := python3 python3.13 python3.12 python3.11 python3.14 python
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
PYTEST = $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal

.PHONY: help demo dev lint test test-all wheel-check programs services published fuzz bench docs lock clean screenshots

help:
	@sed -n 's/^# //p' Makefile | head -5

# Set PYTHON=/path/to/python to choose the interpreter.
$(BIN)/python:
	@usable='import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))'; \
	for candidate in $(if $(PYTHON),"$(PYTHON)",$(PYTHONS)); do \
		if "$$candidate" -c "$$usable" 2>/dev/null; then \
			"$$candidate" -m venv $(VENV) && exit 0; \
		fi; \
	done; \
	echo "No Python 3.11 or newer with venv and ensurepip was found (looked for: $(or $(PYTHON),$(PYTHONS)))." >&2; \
	echo "Install one (on Debian and Ubuntu: python3 and python3-venv), or name it: make PYTHON=/path/to/python demo" >&2; \
	exit 1

# The package is linked, not copied: a changed source needs no second installation. Its launchers are copied,
# and so is what pyproject.toml says, hence the prerequisites. The build backend is locked like all else.
$(VENV)/.base: $(BIN)/python requirements/base.txt requirements/build.txt pyproject.toml $(wildcard scripts/*)
	$(PIP) --require-hashes -r requirements/base.txt -r requirements/build.txt
	$(PIP) --no-deps --no-build-isolation --force-reinstall -e .
	@touch $@

$(VENV)/.dev: $(VENV)/.base requirements/dev.txt
	$(PIP) --require-hashes -r requirements/dev.txt
	@touch $@

demo: $(VENV)/.base
	@$(BIN)/python -m demo.run

dev: $(VENV)/.dev

lint: dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# How hard hypothesis tries; see tests/conftest.py.
test: WORKERS ?= 2
test: export HYPOTHESIS_PROFILE ?= fast
test: lint
	$(PYTEST) -m "not slow and not e2e"

# One worker more than otherwise: the chaos takes one for ten minutes, and mostly sleeps.
test-all: WORKERS ?= 3
test-all: export HYPOTHESIS_PROFILE ?= ci
# What the pages looked like, for whoever has to see why a test of them failed.
test-all: export RESTANTE_TEST_SCREENSHOTS ?= $(CURDIR)/.cache/screenshots
test-all: lint programs services published fuzz
	$(PYTEST)

wheel-check: dev
	$(BIN)/python -m pytest tests/architecture/test_wheel.py

# Fails only where RESTANTE_TEST_REQUIRE_PROGRAMS is set; elsewhere the end-to-end tests skip and say why.
programs: dev
	@$(BIN)/python -m tests.e2e.programs

# The same for the PostgreSQL servers, the browser, and the screen with its window that tests start.
services: dev
	@$(BIN)/python -m tests.postgres
	@$(BIN)/python -m tests.browser
	@$(BIN)/python -m tests.desktop

# Pictures of the pages, as the tests see them; those that README shows go into docs/images.
screenshots: services
	RESTANTE_TEST_SCREENSHOTS=docs/images $(BIN)/python -m pytest tests/faces/web/test_screenshots.py

# The same for the published OACP program, on whose trees ours is compared with it.
published: dev
	@$(BIN)/python -m tests.published

# Readers of bytes that nobody vouches for, for so many seconds each. FUZZ_SECONDS=600 make fuzz looks longer.
fuzz: dev
	@$(BIN)/python -m tests.fuzz $(or $(FUZZ_SECONDS),10)

bench: dev
	$(BIN)/python -m bench

docs: dev
	$(BIN)/python -m docs.generate

lock:
	requirements/lock.sh $(or $(PYTHON),python3)

clean:
	rm -rf $(VENV) .cache .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache build dist bench/out
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
