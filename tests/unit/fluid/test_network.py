"""Networks in Python: arrays, neighbours, and every refusal by name."""

from dataclasses import FrozenInstanceError, replace
from math import inf, nan
from typing import Any

import numpy as np
import pytest

from lbtheory.core import InputError, ParameterError
from lbtheory.fluid import Cell, Network, NetworkError, Source, make_rate

RATE = make_rate({"family": "mm1", "capacity": 2.0, "half": 1.0})


def cell(name: str, arrival_rate: float = 1.0, **others: Any) -> Cell:
    """A cell with an M/M/1 rate."""
    return Cell(name=name, arrival_rate=arrival_rate, rate=RATE, **others)


def pair(**changes: Any) -> Network:
    """Two cells and a source beyond them; ``b`` may not send to ``a``."""
    parts: dict[str, Any] = {
        "cells": (cell("a", 1.6, replicas=4), cell("b", 0)),
        "sources": (Source(name="edge", arrival_rate=0.3),),
        "latency": [[0, 0.1], [inf, 0.0], [0.2, 0.3]],
    }
    return Network(**{**parts, **changes})


def test_arrays() -> None:
    """Shapes, orders and neighbours; a direction may be missing."""
    network = pair()
    assert network.cell_names == ("a", "b") and network.source_names == ("a", "b", "edge")
    assert network.arrivals.tolist() == [1.6, 0, 0.3] and network.total == pytest.approx(1.9)
    assert network.allowed.tolist() == [[True, True], [False, True], [True, True]]
    assert [a.tolist() for a in network.arcs] == [[0, 0, 1, 2, 2], [0, 1, 1, 0, 1]]
    assert network.out_neighbours(1).tolist() == [1] and network.in_neighbours(0).tolist() == [0, 2]
    assert network.capacities.tolist() == [2, 2] and network.replicas.tolist() == [4, 1]
    assert network.offered == pytest.approx([1.9, 1.9]) and network.longest_latency == 0.3
    assert [c.cost for c in network.costs("rif")] == ["rif", "rif"] and network.costs("rif")[0].value(2.0) == 0.5


def test_nothing_can_be_changed() -> None:
    """Arrays are read-only and copies, fields frozen."""
    given = np.zeros((1, 1))
    network = Network(cells=[cell("a")], latency=given)  # type: ignore[arg-type]
    given[0, 0] = 5
    assert network.latency[0, 0] == 0
    for array in (network.latency, network.allowed, network.arrivals, *network.arcs):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
    with pytest.raises(FrozenInstanceError):
        network.cells = ()  # type: ignore[misc]
    assert replace(network, latency=[[0.5]]).latency[0, 0] == 0.5


def test_a_mask_narrows_the_arcs() -> None:
    """``allowed`` wins over finite latency."""
    network = pair(allowed=[[True, False], [False, True], [False, True]])
    assert network.offered == pytest.approx([1.6, 0.3])


BAD: list[tuple[dict[str, Any], str, tuple[str | int, ...]]] = [
    ({"latency": [[0, nan], [inf, 0], [0, 0]]}, "from 'a' to 'b' must be one-way seconds", ("network", "latency", 0)),
    ({"latency": [[0, 1], [inf, -1], [0, 0]]}, "from 'b' to 'b'.*got -1", ("network", "latency", 1)),
    ({"latency": [[0, 1], [inf, 0]]}, "must have 3 rows .* of 2; got 2 rows", ("network", "latency")),
    ({"latency": [[0, 1], [0], [0, 0]]}, "row 1 .* must have 2 entries.*got 1", ("network", "latency", 1)),
    ({"latency": [[0, 1], [0, "x"], [0, 0]]}, "row 1 .* must hold numbers; got 'x'", ("network", "latency", 1)),
    ({"latency": [[0, True], [0, 0], [0, 0]]}, "row 0 .* must hold numbers; got True", ("network", "latency", 0)),
    ({"latency": 3}, "must have 3 rows", ("network", "latency")),
    ({"latency": np.zeros((3, 3))}, "row 0 .* must have 2 entries", ("network", "latency", 0)),
    ({"allowed": [[1, 1], [0, 1], [1, 1]]}, "row 0 .* true or false; got 1", ("network", "allowed", 0)),
    ({"allowed": [[True, True]] * 3}, "from 'b' to 'a' must be finite", ("network", "allowed", 1)),
    ({"allowed": [[False, False], [False, True], [True, True]]}, "source 'a' must have an admissible cell", ("cell", 0)),
    ({"allowed": [[True, True], [False, True], [False, False]]}, "source 'edge' must have an admissible", ("source", 0)),
    ({"allowed": [[True, False], [False, False], [True, False]]}, "cell 'b' must have an in-neighbour.*Remove it", ("cell", 1)),
    ({"cells": (cell("a"), cell("a"))}, "must differ; got 'a' again", ("cell", 1, "name")),
    ({"sources": (Source(name="b", arrival_rate=1),)}, "must differ; got 'b' again", ("source", 0, "name")),
    ({"cells": (), "sources": (), "latency": []}, "at least one cell", ("cell",)),
    ({"cells": (RATE,)}, "must be a sequence of Cell", ("cell",)),
    ({"sources": 4}, "must be a sequence of Source", ("source",)),
]


@pytest.mark.parametrize(("changes", "message", "where"), BAD, ids=[message[:40] for _, message, _ in BAD])
def test_bad_networks(changes: dict[str, Any], message: str, where: tuple[str | int, ...]) -> None:
    """Each a `NetworkError`, hence a `ParameterError`, that knows its place in a file."""
    with pytest.raises(NetworkError, match=message) as caught:
        pair(**changes)
    assert caught.value.where == where and isinstance(caught.value, ParameterError) and caught.value.exit_code == 2


def test_no_arrivals_need_no_arc() -> None:
    """A source at rest may have an empty row."""
    network = pair(allowed=[[True, True], [False, False], [True, True]])
    assert network.out_neighbours(1).size == 0


@pytest.mark.parametrize("bad", [-1.0, nan, inf, "1", None, True])
def test_bad_arrival_rates(bad: Any) -> None:
    """Of cells and of sources."""
    with pytest.raises(NetworkError, match="`arrival_rate` of cell 'a' must be finite and ≥ 0"):
        cell("a", bad)
    with pytest.raises(NetworkError, match="`arrival_rate` of source 'a'"):
        Source(name="a", arrival_rate=bad)


@pytest.mark.parametrize("bad", ["", "  ", 3, None, "a\nb", "\x7f"])
def test_bad_names(bad: Any) -> None:
    """Blank, unprintable, no text."""
    with pytest.raises(NetworkError, match="`name` of `Cell` must be a printable text"):
        cell(bad)


@pytest.mark.parametrize("bad", [0, -1, 1.5, "2", True])
def test_bad_replicas(bad: Any) -> None:
    """Whole numbers from 1 only."""
    with pytest.raises(NetworkError, match="`replicas` of cell 'a' must be a whole number ≥ 1"):
        cell("a", replicas=bad)


def test_bad_rate_and_cost() -> None:
    """A rate that is none, a cost that is none."""
    with pytest.raises(NetworkError, match=r"must be a RateFamily.*make_rate"):
        Cell(name="a", arrival_rate=1, rate={"family": "mm1"})  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"unknown cost 'latancy'.*Did you mean 'latency'"):
        pair().costs("latancy")
