"""The module that generates pages of docs/."""

from __future__ import annotations

import importlib.util

from places import ROOT

DOCS = ROOT / "docs"
SPEC = importlib.util.spec_from_file_location("generate_docs", DOCS / "generate.py")
assert SPEC is not None and SPEC.loader is not None
generate = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(generate)
