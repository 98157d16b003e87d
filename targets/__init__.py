"""What a machine is, as data: a small base, and for every family of machines a folder."""

from tilework.targets.base import Target
from tilework.targets.parse import EXAMPLE, HOST, parse_target, target_to_compile_for

__all__ = ["EXAMPLE", "HOST", "Target", "parse_target", "target_to_compile_for"]
