"""Latencies from places on the globe, where no measured matrix is at hand (ours)."""

import numpy as np
from numpy.typing import ArrayLike

from lbtheory.core import ParameterError

EARTH_RADIUS = 6371.0088
"""Mean radius of the Earth, kilometres (IUGG, 1980)."""
FIBRE_SPEED = 204_000.0
"""Kilometres per second: the speed of light over 1.468, the group index of G.652 fibre at 1550 nm."""


def great_circle(latitude: ArrayLike, longitude: ArrayLike) -> np.ndarray:
    """Distances on a sphere of the Earth's mean radius, by the haversine formula.

    Parameters
    ----------
    latitude, longitude : array_like (n,)
        Degrees, −90 to 90 and −180 to 180.

    Returns
    -------
    float array (n, n)
        Kilometres, symmetric, 0 on the diagonal.

    Raises
    ------
    ParameterError
    """
    places = []
    for name, values, limit in (("latitude", latitude, 90.0), ("longitude", longitude, 180.0)):
        angles = np.asarray(values, dtype=float)
        if angles.ndim != 1 or not np.all(np.abs(angles) <= limit):
            raise ParameterError(
                f"`{name}` of `great_circle` must be a list of degrees from {-limit:g} to {limit:g}; got {values!r}."
            )
        places.append(np.radians(angles))
    phi, theta = places
    if phi.shape != theta.shape:
        raise ParameterError(
            f"`longitude` of `great_circle` must have as many entries as `latitude`; got {len(theta)} and {len(phi)}. "
            "Give one of each a place."
        )
    north, east = np.subtract.outer(phi, phi), np.subtract.outer(theta, theta)
    square = np.sin(north / 2) ** 2 + np.outer(np.cos(phi), np.cos(phi)) * np.sin(east / 2) ** 2
    return np.asarray(2 * EARTH_RADIUS * np.arcsin(np.sqrt(np.clip(square, 0, 1))))


def fibre_latency(latitude: ArrayLike, longitude: ArrayLike, *, detour: float = 1.75, fixed: float = 0.001) -> np.ndarray:
    """One-way latencies of fibre between places: ``fixed + detour × distance/FIBRE_SPEED``, 0 on the diagonal (empirical).

    Parameters
    ----------
    latitude, longitude : array_like (n,)
        Degrees.
    detour : float
        Length of the route over the great circle, ≥ 1. Between twelve cloud regions the measured latency is 1.5 to 2.1 times
        that of a straight fibre (quartiles; median 1.76), queues and switches included.
    fixed : float
        Seconds of switching each way, ≥ 0.

    Returns
    -------
    float array (n, n)
        Seconds.

    Raises
    ------
    ParameterError
    """
    if not (np.isfinite(detour) and detour >= 1):
        raise ParameterError(f"`detour` of `fibre_latency` must be finite and ≥ 1; got {detour!r}.")
    if not (np.isfinite(fixed) and fixed >= 0):
        raise ParameterError(f"`fixed` of `fibre_latency` must be finite and ≥ 0, seconds; got {fixed!r}.")
    kilometres = great_circle(latitude, longitude)
    return np.where(np.eye(len(kilometres), dtype=bool), 0.0, fixed + detour * kilometres / FIBRE_SPEED)
