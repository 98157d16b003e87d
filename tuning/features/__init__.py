"""Features of schedules with knobs, for many configurations at a time, from one lowering."""

from tilework.tuning.features.nest import SymbolicNest, symbolic_nest

__all__ = ["SymbolicNest", "symbolic_nest"]
