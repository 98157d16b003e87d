"""CPU seconds of Tilework beside those of scikit-learn, and a drawing of both, for the examples beside this file."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any


def seconds(run: Callable[[], Any]) -> tuple[float, Any]:
    """CPU seconds, and what was made."""
    begun = time.process_time()
    made = run()
    return time.process_time() - begun, made


def plot(times: Mapping[str, tuple[float, float]]) -> str:
    """Bars as long as each step takes, as SVG."""
    longest, parts = max(max(both) for both in times.values()), []
    for i, (name, both) in enumerate(times.items()):
        for j, (who, taken) in enumerate(zip(("Tilework", "scikit-learn"), both, strict=True)):
            y, width = 30 + 70 * i + 24 * j, max(1.0, 360 * taken / longest)
            color = ("#4269d0", "#9aa0a6")[j]
            parts.append(f'<rect x="120" y="{y}" width="{width:.1f}" height="20" fill="{color}"/>')
            parts.append(f'<text x="114" y="{y + 15}" text-anchor="end">{who}</text>')
            parts.append(f'<text x="{126 + width:.1f}" y="{y + 15}">{taken:.3f} s</text>')
        parts.append(f'<text x="120" y="{22 + 70 * i}" font-weight="bold">{name}</text>')
    size = f'width="560" height="{20 + 70 * len(times)}" font-family="sans-serif" font-size="13"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size}>{"".join(parts)}</svg>\n'
