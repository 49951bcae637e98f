# The whole project in a few words. `make` alone lists them.
.DEFAULT_GOAL := help
SHELL := /bin/bash
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/pip --disable-pip-version-check
# Extra words for the command behind a target: make demo ARGS=--once, make test ARGS="tests/selector -x"
ARGS ?=
# Which benchmarks: a name, or all of them.
BENCH ?= *

.PHONY: help demo run test test-server device e2e check bench faults reference capacity lock clean shots

help:  ## list the targets
	@grep -hE '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

demo: device  ## set up, then show one upstream change go all the way (ARGS=--once stops by itself)
	@$(BIN)/relay demo $(ARGS)

run: device  ## set up, then serve on this machine: web and one worker
	@$(BIN)/relay up $(ARGS)

# A file of tests stays in one process: its servers are started once.
test: $(VENV)/.dev device  ## set up, then run all tests, two files at a time
	$(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder $(ARGS)

test-server: $(VENV)/.dev device  ## the tests of the relay on PostgreSQL and Redis instead of SQLite and a folder
	$(BIN)/python -m pytest -n 2 --dist loadfile --setup=server tests/relay tests/conformance tests/e2e $(ARGS)

e2e: $(VENV)/.dev device  ## only the tests that start the whole service, and the browser tests
	$(BIN)/python -m pytest -m "e2e or browser" $(ARGS)

shots: $(VENV)/.dev  ## pictures of every page, narrow and wide, light and dark, in shots/ (needs chromium)
	$(BIN)/python -m tests.browser.shots shots

device: $(VENV)/.emulator  ## compile the emulated device for the installed torch; quick when that has been done
	@$(BIN)/relay device build > /dev/null

check: $(VENV)/.dev  ## lint, formatting, types, who may import whom, manifests
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/relay manifest check test_manifests
	$(BIN)/relay manifest check test_manifests/profiles/spyre-2026-06

bench: $(VENV)/.dev  ## the benchmarks: figures, no verdicts (BENCH=selection for one, with its ARGS)
	@for file in tests/benchmarks/bench_$(BENCH).py; do \
	  echo "== $$file"; $(BIN)/python -m "tests.benchmarks.$$(basename "$$file" .py)" $(ARGS) || exit 1; \
	done

faults: $(VENV)/.dev  ## break every part of a whole service while changes arrive: a table (ARGS="--only NAME --seed N")
	$(BIN)/python -m tests.faults $(ARGS)

reference: $(VENV)/.dev  ## write the commands into README.md
	$(BIN)/python -m relay.cli.reference README.md

capacity: $(VENV)/.dev  ## simulate how many workers it takes, and write that into README.md
	$(BIN)/python -m tests.benchmarks.simulate --readme --write README.md

lock: $(VENV)/.dev  ## write the versions installed here, and the hashes of what images install, to deploy/
	@$(PIP) install --quiet --group lock
	$(BIN)/python deploy/lock.py

clean:  ## remove the virtual environment and the state folder
	rm -rf $(VENV) .relay

# What must be there before anything is downloaded.
$(VENV)/bin/python:
	@$(PYTHON) deploy/prerequisites.py
	@$(PYTHON) -m venv $(VENV)

# The device is compiled against torch's own headers, so the emulator wants the exact torch and a compiler.
$(VENV)/.emulator: $(VENV)/bin/python pyproject.toml deploy/constraints.txt
	@$(PYTHON) deploy/prerequisites.py
	@$(PIP) install --quiet --upgrade 'pip>=25.1'  # also in an environment that was there before: --group needs it
	@$(BIN)/python deploy/torch_download.py
	@echo "Installing the project with its emulator into $(VENV) (some minutes the first time) ..."
	@$(PIP) install --quiet --constraint deploy/constraints.txt --editable '.[emulator]'
	@touch $@

$(VENV)/.dev: $(VENV)/.emulator
	@$(PIP) install --quiet --constraint deploy/constraints.txt --editable '.[emulator,models]' --group dev
	@touch $@
