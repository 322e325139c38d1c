"""The theory's panels plot what their tables say."""

import numpy as np
import pandas as pd
import pytest

from lbtheory.plots import style
from lbtheory.plots.theory import CERTIFICATES, certified_ratios, frontier_map, ladders, scaling

SYSTEM = {"p": "1/4", "prompts": "uniform:4", "workers": 8}


def test_ladders_go_from_value_to_value() -> None:
    """A mark at every value, a bar from the one before, the decades beside it."""
    steps = pd.DataFrame(
        [
            {**SYSTEM, "slots": 64, "side": "upper", "step": "simulated Ī of IO_0", "value": 10.0, "lost": 0.0},
            {**SYSTEM, "slots": 64, "side": "upper", "step": "one-step", "value": 1000.0, "lost": 2.0},
            {**SYSTEM, "slots": 64, "side": "lower", "step": "exact Ī of FCFS", "value": 500.0, "lost": 0.0},
            {**SYSTEM, "slots": 64, "side": "lower", "step": "level", "value": 5.0, "lost": 2.0},
        ]
    )
    (axis,) = ladders(steps).axes
    marks = [float(line.get_xdata()[0]) for line in axis.lines if line.get_marker() == "o"]
    assert marks == [10.0, 1000.0, 500.0, 5.0]
    bars = [tuple(line.get_xdata()) for line in axis.lines if line.get_marker() != "o"]
    assert bars == [(10.0, 1000.0), (500.0, 5.0)]
    assert [text.get_text() for text in axis.texts] == ["2.0", "2.0"]
    assert axis.get_title(loc="left") == "p = 1/4, S ~ U{1..4}, G = 8, B = 64"


def test_frontier_marks_are_the_smallest_slots() -> None:
    """One mark a certificate at its ``B``; only the target 1 is drawn; a missing one is left out."""
    rows = [
        {"p": "1/4", "s": 4, "workers": 8, "certificate": name, "target": target, "slots": slots}
        for name, target, slots in (("theorem1", 1.0, 158_185), ("level", 1.0, 31), ("level", 2.0, 80), ("rich", 1.0, None))
    ]
    table = pd.DataFrame(rows).astype({"slots": "Int64"})
    axis = frontier_map(table, {"theorem1": "theorem", "level": "LEVEL", "rich": "rich"}).axes[0]
    marks = {line.get_color(): float(line.get_xdata()[0]) for line in axis.lines if len(line.get_xdata()) == 1}
    assert marks[CERTIFICATES["theorem1"][0]] == 158_185 and marks[CERTIFICATES["level"][0]] == 31
    assert np.isnan(marks[CERTIFICATES["rich"][0]])


def test_certified_ratios() -> None:
    """Lines are certificates, marks with intervals are simulated; all as ratios to FCFS."""
    base = {**SYSTEM, "exact": 100.0}
    rows = [
        {**base, "slots": b, "what": what, "name": "level", "imbalance": 100 / r, "low": 90 / r, "high": 110 / r, "ratio": r}
        for b in (16, 32)
        for what, r in (("certificate", b / 16), ("policy", b / 4))
    ]
    axis = certified_ratios(pd.DataFrame(rows), {"level": "LEVEL, certified"}).axes[0]
    line = next(line for line in axis.lines if line.get_label() == "LEVEL, certified")
    assert list(line.get_ydata()) == [1.0, 2.0]
    (bars,) = axis.containers
    assert list(bars[0].get_ydata()) == [4.0, 8.0] and bars[0].get_color() == style.color("level")


def test_a_run_without_imbalance_is_an_arrow() -> None:
    """Its ratio is infinite: it does not stretch the axis, and it does not vanish."""
    base = {**SYSTEM, "exact": 100.0, "what": "policy", "name": "level"}
    rows = [
        {**base, "slots": 16, "imbalance": 25.0, "low": 20.0, "high": 30.0, "ratio": 4.0},
        {**base, "slots": 32, "imbalance": 0.0, "low": 0.0, "high": 0.0, "ratio": np.inf},
    ]
    axis = certified_ratios(pd.DataFrame(rows), {}).axes[0]
    (arrow,) = (line for line in axis.lines if line.get_marker() == "^")
    assert list(arrow.get_xdata()) == [32] and arrow.get_color() == style.color("level")
    (bars,) = axis.containers
    assert list(bars[0].get_ydata()) == [4.0] and axis.get_ylim()[1] < 10


def test_scaling_is_per_worker() -> None:
    """Imbalance over ``G`` against ``B`` on the left and against ``G`` on the right; laws are lines."""
    rows = [
        {"workers": g, "slots": b, "policy": "jsq", "imbalance": 10.0 * g, "low": 9.0 * g, "high": 11.0 * g, "exact": 12.0 * g}
        for g, b in ((8, 32), (8, 64), (2, 64), (16, 64))
    ]
    left, right = scaling(pd.DataFrame(rows), {"exact": "exact law"}).axes
    for axis, sizes in ((left, [32, 64]), (right, [2, 8, 16])):
        law = next(line for line in axis.lines if line.get_label() == "exact law")
        assert list(law.get_xdata()) == sizes and law.get_ydata() == pytest.approx([12.0] * len(sizes))
        (bars,) = axis.containers
        assert set(bars[0].get_ydata()) == {10.0}
