"""Nests of loops as instructions of VDLA's units."""
