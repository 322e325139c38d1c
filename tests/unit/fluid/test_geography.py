"""Latencies from places on the globe."""

import math
from pathlib import Path

import numpy as np
import pytest

from lbtheory.core import ParameterError
from lbtheory.fluid import read_region_latency
from lbtheory.fluid.geography import EARTH_RADIUS, FIBRE_SPEED, fibre_latency, great_circle

REGIONS = {
    "East US": (37.4, -79.0),
    "West Europe": (52.4, 4.9),
    "Japan East": (35.7, 139.8),
    "Brazil South": (-23.5, -46.6),
    "Australia East": (-33.9, 151.2),
    "Southeast Asia": (1.3, 103.8),
    "UK South": (51.5, -0.1),
    "West US": (37.8, -122.4),
    "South Africa North": (-26.2, 28.0),
    "Central India": (18.5, 73.9),
    "UAE North": (25.3, 55.3),
    "Korea Central": (37.6, 127.0),
}


def test_great_circles() -> None:
    """A quarter and a half of the circumference, over the date line too; London to Paris 344 km."""
    turn = 2 * math.pi * EARTH_RADIUS
    kilometres = great_circle([0, 0, 90, 0, -90], [0, 90, 0, 180, 12])
    assert kilometres[0, 1:] == pytest.approx([turn / 4, turn / 4, turn / 2, turn / 4])
    assert kilometres[2, 4] == pytest.approx(turn / 2) and (kilometres == kilometres.T).all()
    assert great_circle([10, 10], [179, -179])[0, 1] == pytest.approx(great_circle([10, 10], [1, -1])[0, 1])
    assert great_circle([51.5074, 48.8566], [-0.1278, 2.3522])[0, 1] == pytest.approx(344, abs=1)


def test_fibre_latency() -> None:
    """Detour times distance over speed, and a fixed part; none at home."""
    times = fibre_latency([0, 0], [0, 90], detour=2.0, fixed=0.003)
    assert times[0, 1] == pytest.approx(0.003 + 2 * math.pi / 2 * EARTH_RADIUS / FIBRE_SPEED) and times[0, 0] == 0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: great_circle([91.0], [0.0]), "latitude"),
        (lambda: great_circle([0.0], [math.nan]), "longitude"),
        (lambda: great_circle([0.0, 1.0], [0.0]), "as many entries"),
        (lambda: fibre_latency([0.0], [0.0], detour=0.5), "detour"),
        (lambda: fibre_latency([0.0], [0.0], fixed=-1.0), "fixed"),
    ],
)
def test_bad_places(call: object, message: str) -> None:
    """The argument by name."""
    with pytest.raises(ParameterError, match=message):
        call()  # type: ignore[operator]


def test_detour_is_that_of_a_public_matrix(shared_data: Path) -> None:
    """Measured latencies between twelve regions are 1.76 times those of a straight fibre, by the median."""
    measured = read_region_latency(shared_data / "azure_region_rtt" / "azure_region_rtt_p50_ms.csv")
    at = [measured.regions.index(name) for name in REGIONS]
    latitude, longitude = np.array(list(REGIONS.values())).T
    straight = great_circle(latitude, longitude) / FIBRE_SPEED
    times = np.asarray(measured.one_way)[np.ix_(at, at)]
    far = np.isfinite(times) & (straight > 0)
    assert np.quantile(times[far] / straight[far], [0.25, 0.5, 0.75]) == pytest.approx([1.51, 1.76, 2.13], abs=0.01)
