"""Values with shares: mixtures of hazards, tenants, and releases whose gaps depend on sizes."""

from fractions import Fraction

import numpy as np
import pytest

from lbtheory.core import ParameterError
from lbtheory.decode.engine import simulate
from lbtheory.decode.policies import make_policy
from lbtheory.decode.traces import (
    Geometric,
    GeometricMixture,
    draw_classes,
    parse_hazards,
    parse_tenants,
    poisson_iterations,
    size_paced,
)
from lbtheory.decode.traces.public import PUBLIC, left_out
from lbtheory.decode.workload import Source, make_workload


def test_mixture_moments() -> None:
    """Mean and variance of the written formula are those of the series and of draws; a class alone is geometric."""
    law = parse_hazards("1/5:0.75,1/50:0.25")
    assert isinstance(law, GeometricMixture)
    k = np.arange(1, 4000)
    pmf = sum(float(w * p) * (1 - float(p)) ** (k - 1) for w, p in zip(law.shares, law.hazards, strict=True))
    assert law.mean == pytest.approx(float((k * pmf).sum())) == 16.25
    assert law.variance == pytest.approx(float((k**2 * pmf).sum()) - law.mean**2)
    rng = np.random.default_rng(0)
    classes = draw_classes(law.shares, 200_000, rng)
    outputs = law.sample(classes, rng)
    assert outputs.mean() == pytest.approx(law.mean, rel=0.01) and outputs.var() == pytest.approx(law.variance, rel=0.03)
    assert outputs[classes == 0].mean() == pytest.approx(5, rel=0.01) and classes.mean() == pytest.approx(0.25, abs=0.005)
    one = GeometricMixture(hazards=(Fraction(1, 7),), shares=(Fraction(1),))
    assert one.mean == Geometric(p=Fraction(1, 7)).mean and one.variance == pytest.approx(Geometric(p=Fraction(1, 7)).variance)
    assert parse_hazards("0.25") == Geometric(p=Fraction(1, 4))


@pytest.mark.parametrize("seed", range(6))
def test_mixed_streams_last(seed: int) -> None:
    """A saturated stream of classes is long enough for its steps, and its classes are the keys of stream and history."""
    source = Source(p="1/3:0.9,1/60:0.1", prompts="uniform:5")
    work = make_workload(source, workers=2, slots=3, steps=500, seed=seed, queue=4)
    run = simulate(work.stream, make_policy("jsq"), workers=2, slots=3, steps=500)
    assert run.stopped == "steps" and len(work.stream) < 5 * run.iterations.admitted.sum()
    keys, outputs = work.stream.keys, work.stream.outputs
    assert keys is not None and work.history.keys is not None
    assert outputs[keys == 0].mean() < 10 < outputs[keys == 1].mean()
    history = work.history
    assert history.outputs[history.keys == 0].mean() == pytest.approx(3, rel=0.05)


@pytest.mark.parametrize("text", ["1/3:0.5,1/4:0.6", "1/3:0.5,1/4", "2:0.5,1/4:0.5", "1/3:x,1/4:y", "1/3,"])
def test_wrong_mixtures_are_refused(text: str) -> None:
    """Shares sum to 1 and hazards are probabilities."""
    with pytest.raises(ParameterError, match="`p`"):
        parse_hazards(text)


def test_tenants() -> None:
    """Equal shares without any, exact ones with."""
    assert parse_tenants("1,4") == ((1, 4), (Fraction(1, 2), Fraction(1, 2)))
    assert parse_tenants("2:1/3,5:2/3") == ((2, 5), (Fraction(1, 3), Fraction(2, 3)))


def test_gaps_follow_sizes() -> None:
    """Power 0 is the Poisson process; at 1 gaps are proportional to sizes on average, at the same rate."""
    prompts = np.random.default_rng(1).integers(1, 100, 40_000)
    assert np.array_equal(
        size_paced(prompts, 0.02, 0.0, np.random.default_rng(5)).times,
        poisson_iterations(len(prompts), 0.02, np.random.default_rng(5)).times,
    )
    times = size_paced(prompts, 0.02, 1.0, np.random.default_rng(5)).times
    assert times is not None and len(prompts) / times[-1] == pytest.approx(0.02, rel=0.03)
    gaps = np.diff(times)
    small, large = gaps[prompts[1:] < 20].mean(), gaps[prompts[1:] > 80].mean()
    assert large / small == pytest.approx(prompts[prompts > 80].mean() / prompts[prompts < 20].mean(), rel=0.1)
    for power in (-0.1, 4.5, float("nan")):
        with pytest.raises(ParameterError, match="power"):
            size_paced(prompts, 0.02, power, np.random.default_rng(0))


def test_what_is_left_out_is_said() -> None:
    """Missing traces are named, and the variable that names their folder."""
    assert "LBTHEORY_TRACES" in left_out([]) and all(name in left_out([]) for name in PUBLIC)
    assert left_out(PUBLIC).startswith("All")
