# Each of `make demo` and `make test` does all its own set-up: a virtual environment with Tilework in it.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready

.PHONY: help demo test slow lit fuzz clean

help:  ## what there is to make
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

$(READY): pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Tilework needs Python 3.11 or newer")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	touch $@

demo: $(READY)  ## compile a small CNN and read handwritten digits with it
	$(BIN)/python examples/digits/demo.py

test: $(READY)  ## everything: lint, types, FileCheck tests in process, pytest
	$(BIN)/ruff check .
	$(BIN)/pyright --pythonpath $(BIN)/python
	$(BIN)/python -m pytest -n auto --dist loadfile

slow: $(READY)  ## what `make test` leaves out: large networks and very long graphs; minutes, and 4 GB of memory
	$(BIN)/python -m pytest -m slow

lit: $(READY)  ## the FileCheck tests with LLVM's own runner
	$(BIN)/lit test

fuzz: $(READY)  ## 20000 random schedules, interpreted and compiled (half an hour)
	$(BIN)/python -m tilework.tools.fuzz

clean:  ## remove what was made
	rm -rf $(VENV) build dist *.egg-info
