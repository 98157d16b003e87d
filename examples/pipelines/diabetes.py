"""Search for the penalty of a regression on scikit-learn's diabetes data, and serve the best one.

    python examples/pipelines/diabetes.py --plot times.svg

Times are CPU seconds of one run each, once all code has been compiled; the plot shows them.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from times import plot, seconds

from tilework import pipelines


def main(arguments: list[str] | None = None) -> None:
    """Print what was fused, what was found, that the compiled model says what scikit-learn's says, and both times."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plot", type=Path, help="a file of SVG")
    given = parser.parse_args(arguments)
    data: Any = load_diabetes()
    pipe = make_pipeline(StandardScaler(), Ridge())
    own = GridSearchCV(pipe, {"ridge__alpha": np.logspace(-3, 3, 25)}, cv=10)
    search = pipelines.optimize(own)
    search.fit(data.data, data.target)
    print(search.explain())
    print(f"best: {search.best_params_}, r2 {search.best_score_:.4f}")
    model = pipelines.compile(search.best_estimator_, data.data[:5])
    found, expected = model.predict(data.data), search.best_estimator_.predict(data.data)
    print(f"the compiled model differs from scikit-learn's by {np.abs(found - expected).max():.1e} at most")
    times: dict[str, tuple[float, float]] = {}
    for name, (ours, theirs) in {
        "search": (lambda: search.fit(data.data, data.target), lambda: own.fit(data.data, data.target)),
        "predict": (lambda: model.predict(data.data), lambda: search.best_estimator_.predict(data.data)),
    }.items():
        (fast, _), (slow, _) = seconds(ours), seconds(theirs)
        times[name] = (fast, slow)
        print(f"{name}: {fast:.4f} s, scikit-learn {slow:.4f} s, {slow / fast:.1f} times")
    if given.plot is not None:
        given.plot.write_text(plot(times), encoding="utf-8")


if __name__ == "__main__":
    main()
