# kinetree: `make demo` shows it at work, `make test` checks everything. Both set up .venv by themselves.
# All that must be there is Python 3.11 or newer with pip, and make.

PYTHON ?= $(shell command -v python3.11 || command -v python3 || command -v python)
VENV   := .venv
BIN    := $(VENV)/bin
OUT    := out
SET_UP := sh tools/setup.sh "$(PYTHON)" $(VENV)

.DEFAULT_GOAL := help
.PHONY: help demo test setup lint types docs slow bench coverage lock pictures clean
MAKEFLAGS += --no-print-directory

help: ## show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: ## set up a small environment and show a 300-link pendulum and the analysis of a walk in out/
	@$(SET_UP) demo
	@$(BIN)/kinetree demo
	@$(BIN)/kinetree analyze --out $(OUT)/walk

test: ## set up everything and run every check that CI runs
	@$(SET_UP) test
	@sh tools/browser.sh
	@$(BIN)/python tools/check.py

setup: ## only set up .venv, with everything
	@$(SET_UP) test

lint: setup ## style, format and layers
	@$(BIN)/python tools/check.py lint format layers

types: setup ## the type checker
	@$(BIN)/python tools/check.py types

docs: setup ## build the documentation into site/
	@$(BIN)/python tools/check.py docs

coverage: setup ## coverage with the kernels as plain Python, line by line in htmlcov/
	@$(BIN)/python tools/check.py coverage
	@$(BIN)/coverage html --quiet && echo "htmlcov/index.html"

slow: setup ## the slow tests
	@$(BIN)/python -m pytest -m slow --durations=20

bench: setup ## the tables of speed and accuracy, against the peers
	@$(BIN)/kinetree bench full

lock: setup ## write requirements/*.txt anew; UPGRADE=1 takes the newest versions
	@$(BIN)/python tools/lock.py $(if $(UPGRADE),--upgrade)

pictures: setup ## draw the pictures of the documentation
	@$(BIN)/python tools/make_pictures.py

clean: ## remove everything that was made, .venv too
	rm -rf $(VENV) $(OUT) build dist site htmlcov .coverage .coverage.* .pytest_cache .mypy_cache .ruff_cache \
	    .import_linter_cache .hypothesis
	find src tests tools examples -name __pycache__ -type d -prune -exec rm -rf {} +
