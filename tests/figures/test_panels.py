"""What the panels plot is what the table says, and every figure keeps to the style."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from lbtheory.core import ParameterError
from lbtheory.plots import gaps, published_beside_reproduced, save, style, trajectories


@pytest.fixture
def loads() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    return {name: rng.integers(1000, 9000, (40, 4)).astype(float) for name in ("jsq", "br0", "level-plus")}


@pytest.fixture
def ratios() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "workload": ["A", "A", "A", "B", "B", "B"],
            "policy": ["jsq", "brh:beta=43", "level-plus"] * 2,
            "published": [1.0, 8.97, np.nan, 1.0, 2.77, np.nan],
            "reproduced": [1.0, 3.1, 3.9, 1.0, 2.9, np.nan],
            "low": [np.nan, 2.9, 3.5, np.nan, 2.7, np.nan],
            "high": [np.nan, 3.3, 4.3, np.nan, 3.1, np.nan],
        }
    )


@pytest.fixture
def states() -> pd.DataFrame:
    return pd.DataFrame(
        {"policy": ["io"] * 3 + ["br0"] * 3, "gap": [0, 0, 0, 0, 20, 400], "seconds": [0.1, 0.3, 0.2, 2e-6, 2e-6, 3e-6]}
    )


def texts(axis) -> set[str]:
    return {text.get_text() for text in axis.texts}


def test_trajectories_plot_the_largest_and_the_mean_load(loads: dict[str, np.ndarray]) -> None:
    figure = trajectories(loads, first_iteration=100)
    for axis, (policy, values) in zip(figure.axes, loads.items(), strict=False):
        *workers, top, mean = axis.lines
        assert len(workers) == 4
        np.testing.assert_allclose(top.get_ydata(), values.max(axis=1) / 1000)
        np.testing.assert_allclose(mean.get_ydata(), values.mean(axis=1) / 1000)
        assert top.get_xdata()[0] == 100 and top.get_xdata()[-1] == 139
        assert top.get_color() == style.color(policy)
        imbalance = np.mean(4 * values.max(axis=1) - values.sum(axis=1))
        assert f"{imbalance:,.0f}" in axis.get_title(loc="right")
        assert axis.get_title(loc="left") == style.label(policy)
        assert axis.get_ylim() == figure.axes[0].get_ylim()


def test_trajectories_from_a_table_are_those_from_arrays(loads: dict[str, np.ndarray]) -> None:
    parts = [
        pd.DataFrame(values, columns=[f"worker_{g}" for g in range(4)]).assign(policy=name, iteration=np.arange(40))
        for name, values in loads.items()
    ]
    for one, other in zip(trajectories(pd.concat(parts)).axes, trajectories(loads).axes, strict=True):
        for line, same in zip(one.lines, other.lines, strict=True):
            np.testing.assert_array_equal(line.get_xydata(), same.get_xydata())


def test_published_beside_reproduced_shows_both_numbers(ratios: pd.DataFrame) -> None:
    first, second = published_beside_reproduced(ratios).axes
    assert texts(first) == {"1.00", "3.10", "8.97", "3.90"}
    assert texts(second) == {"1.00", "2.90", "2.77"}
    assert first.get_xscale() == "log"
    assert [text.get_text() for text in first.get_yticklabels()] == ["JSQ", "BR-H (beta=43)", "LEVEL+"]
    points = {
        (round(float(x), 2), float(y)) for line in first.lines for x, y in [line.get_xydata()[-1]] if len(line.get_xdata()) == 1
    }
    assert points == {(1.0, 0.0), (3.1, 1.0), (8.97, 1.0), (3.9, 2.0)}


def test_gaps_shows_the_numbers_of_the_table(states: pd.DataFrame) -> None:
    _, numbers = gaps(states).axes
    assert {"100%", "33%", "140", "400", "200 ms", "2 µs"} <= texts(numbers)


@pytest.mark.parametrize("panel", [published_beside_reproduced, gaps])
def test_a_table_without_a_column_or_row_is_refused(panel, ratios: pd.DataFrame, states: pd.DataFrame) -> None:
    table = ratios if panel is published_beside_reproduced else states
    with pytest.raises(ParameterError, match="no column policy"):
        panel(table.drop(columns="policy"))
    with pytest.raises(ParameterError, match="an empty table"):
        panel(table.head(0))


def test_trajectories_of_the_wrong_shape_are_refused() -> None:
    with pytest.raises(ParameterError, match="shape"):
        trajectories({"jsq": np.zeros(5)})
    with pytest.raises(ParameterError, match="none"):
        trajectories({})


def test_every_figure_has_the_same_bytes_twice(
    tmp_path: Path, loads: dict[str, np.ndarray], ratios: pd.DataFrame, states: pd.DataFrame
) -> None:
    for name, draw in {
        "trajectories": lambda: trajectories(loads),
        "published": lambda: published_beside_reproduced(ratios),
        "gaps": lambda: gaps(states),
    }.items():
        first, second = (save(draw(), tmp_path / turn / name) for turn in ("one", "two"))
        for one, other in zip(first, second, strict=True):
            assert one.read_bytes() == other.read_bytes(), one.name
        assert b"/Type3" not in first[2].read_bytes()


def test_no_text_leaves_the_figure_or_covers_another(
    loads: dict[str, np.ndarray], ratios: pd.DataFrame, states: pd.DataFrame
) -> None:
    for figure in (trajectories(loads), published_beside_reproduced(ratios), gaps(states)):
        with style.context():
            figure.draw_without_rendering()
        frame = figure.bbox
        for axis in figure.axes:
            boxes = [text.get_window_extent() for text in axis.texts if text.get_text()]
            for index, box in enumerate(boxes):
                assert box.x0 >= frame.x0 and box.x1 <= frame.x1 and box.y0 >= frame.y0 and box.y1 <= frame.y1
                assert not any(box.overlaps(other) for other in boxes[index + 1 :])


def test_colours_are_one_a_policy_and_differ() -> None:
    colours = [style.color(name) for name in style.POLICIES]
    assert len(set(colours)) == len(colours)
    assert style.color("brh:beta=43,gamma=0.86") == style.color("brh")
    assert style.label("brh:beta=43,gamma=0.86") == "BR-H (beta=43, gamma=0.86)"
    assert style.color("mine") == style.color("another")


def test_settings_of_the_caller_come_back() -> None:
    import matplotlib

    before = matplotlib.rcParams["font.size"]
    with style.context():
        assert matplotlib.rcParams["svg.hashsalt"] == "lbtheory"
    assert matplotlib.rcParams["font.size"] == before
