# Fleetledger: `make help` lists what there is.
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
SHELL := /bin/bash
PYTHON ?= python3
BIN := .venv/bin
PYTEST := $(BIN)/python -m pytest
# Two processes are enough for two cores; more would share them.
WORKERS ?= 2

.PHONY: help run setup lint fix test test-pages test-faults test-scale bench services

help: ## what every target does
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

# --- run and setup ---------------------------------------------------------------------------------------------------

run: setup ## start everything: database, web, worker and beat
	@$(BIN)/python manage.py run

setup: .venv/installed ## make .venv from hash-locked requirements

.venv/installed: requirements/dev.txt
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt
	@touch $@

# --- checks ----------------------------------------------------------------------------------------------------------

services: ## install the programs that tests start (Debian, as root; elsewhere it says what is missing)
	@tests/support/install-services

lint: setup ## style, types, import rules, house rules
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/mypy .
	$(PYTEST) -q --no-header tests/architecture

fix: setup ## repair what can be repaired mechanically
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

test: setup services ## the suite that CI runs
	$(PYTEST) -n $(WORKERS) --dist loadgroup -m "not pages and not faults and not scale"

test-pages: setup services ## every page in a browser
	$(PYTEST) -m pages

test-faults: setup services ## kills, stops, full disks
	$(PYTEST) -m faults

test-scale: setup services ## large fleets, long histories
	$(PYTEST) -m scale --timeout 1800

bench: setup services ## figures side by side with a bare copy of the same work
	$(BIN)/python -m benchmarks
