"""Compiled modules: linked into memory, called with arrays, saved and loaded."""
