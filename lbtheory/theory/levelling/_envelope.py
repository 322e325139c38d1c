"""From bounds of ``E(e − x)⁺`` at points ``x`` to bounds of the mean and the largest of ``G`` i.i.d. deviations.

``x ↦ E(e − x)⁺`` is convex and its slope is at least −1, so the greatest convex minorant of proved points with that slope is
proved. ``E max_g e_g⁺`` and ``E(max_g e_g⁺ − e⁺)`` (its concave non-decreasing majorant ``φ̃``) are integrals of a concave
non-decreasing function of ``P(e > x)`` that vanishes at 0, hence monotone in the increasing convex order: the law whose ``E(e
− x)⁺`` is the minorant is the worst.
"""

import numpy as np


def convex_minorant(points: np.ndarray, values: np.ndarray) -> list[int]:
    """Vertices of the greatest convex minorant with slope ≥ −1 after the front point ``(0, min_k(x_k + h_k))``: indices.

    ``points`` increase from 0; ``values`` are positive, infinite where nothing is known. Entries may be exact fractions.
    """
    first = int(np.argmin([x + h for x, h in zip(points, values, strict=True)]))
    kept = [first]
    for i in range(first + 1, len(points)):
        if values[i] >= values[kept[-1]]:
            continue
        while len(kept) >= 2:
            a, b = kept[-2], kept[-1]
            if (values[b] - values[a]) * (points[i] - points[a]) < (values[i] - values[a]) * (points[b] - points[a]):
                break
            kept.pop()
        kept.append(i)
    return kept


def largest_mean(points: np.ndarray, values: np.ndarray, workers: int) -> tuple[float, float]:
    """Bounds of ``E max_g e_g⁺`` and of ``E(max_g e_g⁺ − e⁺)`` from a convex minorant (``points`` start at 0)."""
    width = np.diff(points)
    tail = np.minimum(-np.diff(values) / width, 1.0)
    peak = 1 - workers ** (-1 / (workers - 1))  # where 1 − (1 − u)^G − u is largest
    largest = float(width @ -np.expm1(workers * np.log1p(-np.minimum(tail, 1 - 1e-16)))) + workers * float(values[-1])
    low = np.minimum(tail, peak)
    spread = float(width @ (-np.expm1(workers * np.log1p(-low)) - low)) + (workers - 1) * float(values[-1])
    return largest, spread
