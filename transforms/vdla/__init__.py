"""Passes on operations of VDLA's units."""
