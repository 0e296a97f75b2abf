# Fleetledger: `make help` lists what there is.
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
SHELL := /bin/bash
PYTHON ?= python3
BIN := .venv/bin
comma := ,
PYTEST := $(BIN)/python -m pytest
# Two processes are enough for two cores; more would share them.
WORKERS ?= 2

.PHONY: help run setup setup-dev lint fix test test-pages test-faults test-scale bench services openapi messages

help: ## what every target does
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

# --- run and setup ---------------------------------------------------------------------------------------------------

run: setup ## start everything: database, web, worker and beat
	@exec $(BIN)/python -m config.supervisor --end-with-parent

setup: ## make .venv from hash-locked requirements; EXTRAS=aws,gcp adds SDKs
	@$(PYTHON) config/bootstrap.py base.txt $(foreach extra,$(subst $(comma), ,$(EXTRAS)),$(extra).txt)

setup-dev:
	@$(PYTHON) config/bootstrap.py dev.txt

openapi: setup-dev ## write docs/reference/openapi.yaml anew after a change of the API
	@$(BIN)/python -m config.api > docs/reference/openapi.yaml

messages: setup-dev ## collect the words of pages into locale/ and compile what is translated
	@PYTHONPATH=. DJANGO_SETTINGS_MODULE=config.settings $(BIN)/django-admin makemessages --all --no-location --no-obsolete --no-wrap --ignore '.venv/*' --ignore 'var/*' --ignore 'tests/*'
	@for words in locale/*/LC_MESSAGES/django.po; do msgfmt --check -o "$${words%.po}.mo" "$$words" || exit 1; done

# --- checks ----------------------------------------------------------------------------------------------------------

services: ## install the programs that tests start (Debian, as root; elsewhere it says what is missing)
	@tests/support/install-services

lint: setup-dev ## style, types, import rules, house rules
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/mypy .
	$(PYTEST) -q --no-header tests/architecture

fix: setup-dev ## repair what can be repaired mechanically
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

test: setup-dev services ## the suite that CI runs
	$(PYTEST) -n $(WORKERS) --dist loadgroup -m "not pages and not faults and not scale"

test-pages: setup-dev services ## every page in a browser
	$(PYTEST) -m pages

test-faults: setup-dev services ## kills, stops, full disks
	$(PYTEST) -m faults

test-scale: setup-dev services ## large fleets, long histories
	$(PYTEST) -m scale --timeout 1800

bench: setup-dev services ## figures side by side with a bare copy of the same work
	$(BIN)/python -m benchmarks
