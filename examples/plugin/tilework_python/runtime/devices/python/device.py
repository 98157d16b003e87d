"""How Python source is loaded: it is executed, and its functions are given arrays where it is called with addresses."""

from __future__ import annotations
