"""Search for the penalty of a regression on scikit-learn's diabetes data, and serve the best one.

python examples/pipelines/diabetes.py
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tilework import pipelines


def main() -> None:
    """Print what was fused, what was found, and that the compiled model says what scikit-learn's says."""
    data: Any = load_diabetes()
    pipe = make_pipeline(StandardScaler(), Ridge())
    search = pipelines.optimize(GridSearchCV(pipe, {"ridge__alpha": np.logspace(-3, 3, 25)}, cv=10))
    search.fit(data.data, data.target)
    print(search.explain())
    print(f"best: {search.best_params_}, r2 {search.best_score_:.4f}")
    model = pipelines.compile(search.best_estimator_, data.data[:5])
    found, expected = model.predict(data.data), search.best_estimator_.predict(data.data)
    print(f"the compiled model differs from scikit-learn's by {np.abs(found - expected).max():.1e} at most")


if __name__ == "__main__":
    main()
