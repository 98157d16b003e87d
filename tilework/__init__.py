"""Tilework: a tensor compiler in four readable dialects."""
