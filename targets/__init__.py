"""What a machine is, as data: instruction set, vector registers, caches, cores."""

from tilework.targets.parse import parse_target
from tilework.targets.target import Target

__all__ = ["Target", "parse_target"]
