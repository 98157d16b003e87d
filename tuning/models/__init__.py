"""Cost models: which configurations are worth measuring next, told from their features."""

from tilework.tuning.models.analytic import Analytic
from tilework.tuning.models.base import CostModel
from tilework.tuning.models.boosted_trees import BoostedTrees
from tilework.tuning.models.pooled import Pooled
from tilework.tuning.models.residual import Residual

__all__ = ["Analytic", "BoostedTrees", "CostModel", "Pooled", "Residual"]
