"""The cost models by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tilework.algebra.errors import UsageError, did_you_mean
from tilework.targets import Target
from tilework.targets.cpu.target import CpuTarget
from tilework.tuning.models.analytic import Analytic
from tilework.tuning.models.base import CostModel
from tilework.tuning.models.boosted_trees import BoostedTrees
from tilework.tuning.models.residual import Residual

MODELS: Mapping[str, Callable[[CpuTarget], CostModel]] = {
    "analytic": Analytic,
    "residual": Residual,
    "trees": lambda _: BoostedTrees(),
}


def model_named(name: str, target: Target) -> CostModel:
    """A model for a processor. Raises UsageError where there is none of that name, or the target is no processor."""
    if name not in MODELS:
        raise UsageError(f"model '{name}': they are {', '.join(MODELS)}{did_you_mean(name, MODELS)}")
    if not isinstance(target, CpuTarget):
        raise UsageError(f"cost models are for processors, and '{target}' is none")
    return MODELS[name](target)
