"""Compiled exact comparison of ``Σ_h γ^h x_h`` where the ``γ^h`` have no common denominator within 64 bits.

A search compares integers, ``Σ_h w_h x_h`` with weights rounded down. Where two of these lie so close that the rounding could
have turned them, the sign is read from the exact weights, written as digits of a few bits each. Source: ours, proved.
"""

import numba as nb
import numpy as np


@nb.njit(cache=True)
def sign(limbs: np.ndarray, bits: int, x: np.ndarray, y: np.ndarray) -> int:
    """Sign of ``Σ_h W_h (x_h − y_h)``; ``limbs`` (L, n) holds the digits of the ``W_h ≥ 0``, ``bits`` each, largest first.

    Sums of one digit are carried upwards, rounded down, so that all but the first end non-negative.
    """
    carry, below = 0, 0
    for row in range(len(limbs) - 1, -1, -1):
        for h in range(len(x)):
            carry += limbs[row, h] * (x[h] - y[h])
        if row > 0:
            below |= carry & ((1 << bits) - 1)
            carry >>= bits
    if carry != 0:
        return 1 if carry > 0 else -1
    return 1 if below != 0 else 0


@nb.njit(cache=True)
def no_less(value: int, x: np.ndarray, best: int, best_x: np.ndarray, rounding: tuple[np.ndarray, int, int]) -> bool:
    """Whether ``Σ_h γ^h x_h ≥ Σ_h γ^h best_h``, given both sums with the rounded weights.

    ``rounding`` holds ``limbs``, ``bits``, and ``spare``: 0 with exact weights, else above all that rounding takes from a sum.
    """
    limbs, bits, spare = rounding
    if value >= best + spare:
        return True
    if spare == 0 or value + spare <= best:
        return False
    return sign(limbs, bits, x, best_x) >= 0
