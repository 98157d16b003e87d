# Each of `make demo` and `make test` does all its own set-up: a virtual environment with Tilework in it.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready

# Tests start hundreds of Pythons; each would translate all of Tilework again if none were allowed to keep bytecode.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo test lint filecheck unit slow lit onnx-tests fuzz docs clean

help:  ## what there is to make
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

$(READY): pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Tilework needs Python 3.11 or newer")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	touch $@

demo: $(READY)  ## compile a small CNN and read handwritten digits with it
	$(BIN)/python examples/digits/demo.py

# Pyright keeps one core busy, and shall not keep the other one waiting.
test: $(READY)  ## everything that must hold
	$(MAKE) -j2 lint filecheck
	$(MAKE) unit

lint: $(READY)  ## style and types: ruff, pyright
	$(BIN)/ruff check .
	$(BIN)/pyright --pythonpath $(BIN)/python

filecheck: $(READY)  ## the FileCheck tests, in process
	$(BIN)/python -m pytest -n auto test/python/conventions/test_filecheck.py

unit: $(READY)  ## all other tests
	$(BIN)/python -m pytest -n auto --dist loadfile --ignore test/python/conventions/test_filecheck.py

slow: $(READY)  ## what `make test` leaves out: large networks and very long graphs; minutes, and 4 GB of memory
	$(BIN)/python -m pytest -m slow

lit: $(READY)  ## the FileCheck tests with LLVM's own runner
	$(BIN)/lit test

onnx-tests: $(READY)  ## ONNX's own node tests, compiled (half an hour); of their outcome docs/onnx-support.md is made
	$(BIN)/python -m tilework.tools.onnx_tests -o docs/results/onnx-node-tests.json; status=$$?; \
	$(BIN)/python docs/generate.py && exit $$status

fuzz: $(READY)  ## 20000 random schedules, interpreted and compiled (half an hour)
	$(BIN)/python -m tilework.tools.fuzz

docs: $(READY)  ## the documentation as a site, in site/
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[docs]'
	$(BIN)/mkdocs build --strict

clean:  ## remove what was made
	rm -rf $(VENV) build dist site *.egg-info
