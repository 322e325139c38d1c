"""Synthetic traces match the published statistics for every seed; recurring prompts do not change them."""

import numpy as np
import pytest

from lbtheory.core import ParameterError, UnknownNameError
from lbtheory.decode.traces import bivariate_normal, residual_start, synthetic

PUBLISHED = [("azure2024-like", 10_000, 4_652, 1_052), ("proprietary-like", 8_000, 3_197, 1_185)]


@pytest.mark.parametrize(("name", "requests", "prompt", "output"), PUBLISHED)
@pytest.mark.parametrize("recurrence", [0.0, 0.4])
@pytest.mark.parametrize("seed", range(4))
def test_published_statistics(name: str, requests: int, prompt: float, output: float, recurrence: float, seed: int) -> None:
    """Number of requests; means within 0.5 %; Azure outputs above 1,000; a long right tail in the other."""
    trace = synthetic(name, seed, recurrence=recurrence)
    assert trace.n == requests
    assert trace.prompts.mean() == pytest.approx(prompt, rel=0.005) and trace.outputs.mean() == pytest.approx(output, rel=0.005)
    if name == "azure2024-like":
        assert trace.outputs.min() > 1_000
    else:
        assert np.quantile(trace.outputs, 0.99) > 3 * trace.outputs.mean() and trace.outputs.max() <= 16_384
    if recurrence == 0:
        assert trace.keys is None
        return
    assert trace.keys is not None
    keys, first = np.unique(trace.keys, return_index=True)
    assert 1 - len(keys) / requests == pytest.approx(recurrence, abs=1e-3)
    size = dict(zip(keys.tolist(), trace.prompts[first].tolist(), strict=True))
    assert all(size[k] == s for k, s in zip(trace.keys.tolist(), trace.prompts.tolist(), strict=True))


def test_outputs_of_one_prompt_are_alike() -> None:
    """Within a key outputs vary less than over all (latent correlation 0.8); with correlation 0 they do not."""

    def share(correlation: float) -> float:
        trace = synthetic("proprietary-like", 0, recurrence=0.5, output_correlation=correlation)
        logs, keys = np.log(trace.outputs), np.unique(trace.keys, return_inverse=True)[1]  # type: ignore[arg-type]
        counts = np.bincount(keys)
        means = np.bincount(keys, logs) / counts
        within = ((logs - means[keys]) ** 2).sum() / (len(logs) - len(counts))
        return float(within / logs.var())

    assert share(0.8) == pytest.approx(0.2, abs=0.08) and share(0.0) == pytest.approx(1.0, abs=0.08)


def test_seeds_and_options() -> None:
    """Equal seeds, equal traces; arrivals do not change sizes; names and numbers are checked."""
    a, b = synthetic("azure2024-like", 5), synthetic("azure2024-like", 5, rate=2.0)
    assert np.array_equal(a.prompts, b.prompts) and np.array_equal(a.outputs, b.outputs) and a.arrivals is None
    assert b.rate == pytest.approx(2.0, rel=0.05)
    assert not np.array_equal(a.prompts, synthetic("azure2024-like", 6).prompts)
    spread = synthetic("azure2024-like", 5, prompt_cv=1.5).prompts
    assert spread.std() / spread.mean() == pytest.approx(1.5, rel=0.1)
    with pytest.raises(UnknownNameError, match="azure2024-like"):
        synthetic("azure-2024-like")
    for bad in ({"n": 0}, {"recurrence": 1.0}, {"prompt_cv": -1.0}, {"rate": 0.0}, {"output_correlation": 2.0}):
        with pytest.raises(ParameterError):
            synthetic("azure2024-like", **bad)  # type: ignore[arg-type]


def test_bivariate_normal_moments() -> None:
    """Truncated means by rejection from an independent generator, five standard errors of 200,000 draws."""
    trace = bivariate_normal(200_000, 0)
    rng = np.random.default_rng(9)
    cov = [[2600**2, -0.1 * 2600 * 700], [-0.1 * 2600 * 700, 700**2]]
    pairs = rng.multivariate_normal([3200, 1200], cov, 600_000)
    pairs = pairs[(pairs > 0).all(axis=1)]
    for ours, theirs in ((trace.prompts, pairs[:, 0]), (trace.outputs, pairs[:, 1])):
        assert ours.min() >= 1
        error = np.sqrt(theirs.var() / 200_000 + theirs.var() / len(theirs))
        assert abs(ours.mean() - theirs.mean()) < 5 * error + 0.5
    assert np.corrcoef(trace.prompts, trace.outputs)[0, 1] == pytest.approx(np.corrcoef(pairs.T)[0, 1], abs=0.01)


def test_residual_lengths() -> None:
    """``P(residual = r) = P(O ≥ r) / E O``: mean ``E O(O+1) / (2 E O)``; the rest of the outputs is untouched."""
    outputs = np.array([1, 1, 2, 10, 4] * 4_000)
    made = residual_start(outputs, 20_000, np.random.default_rng(2))
    mean = (outputs * (outputs + 1)).mean() / (2 * outputs.mean())
    law = np.array([(outputs >= r).mean() / outputs.mean() for r in range(1, 11)])
    seen = np.bincount(made, minlength=11)[1:] / 20_000
    assert abs(made.mean() - mean) < 5 * made.std() / np.sqrt(20_000)
    assert (abs(seen - law) < 5 * np.sqrt(law / 20_000)).all()
    some = residual_start(outputs, 7, np.random.default_rng(2))
    assert np.array_equal(some[7:], outputs[7:])
    with pytest.raises(ParameterError, match="`slots`"):
        residual_start(outputs[:3], 4, np.random.default_rng(0))


def test_prompts_may_say_something_about_outputs() -> None:
    """The same sizes, paired by rank; the latent correlation shows in the ranks (6/π arcsin(ρ/2))."""
    plain = synthetic("proprietary-like", 0, n=6_000)
    for correlation in (-0.9, 0.5, 1.0):
        trace = synthetic("proprietary-like", 0, n=6_000, prompt_correlation=correlation)
        assert np.array_equal(trace.prompts, plain.prompts)
        assert np.array_equal(np.sort(trace.outputs), np.sort(plain.outputs))
        ranks = np.corrcoef(trace.prompts.argsort().argsort(), trace.outputs.argsort().argsort())[0, 1]
        assert ranks == pytest.approx(6 / np.pi * np.arcsin(correlation / 2), abs=0.03)
    for bad in ({"prompt_correlation": 1.1}, {"prompt_correlation": 0.5, "recurrence": 0.5}):
        with pytest.raises(ParameterError, match="prompt_correlation"):
            synthetic("proprietary-like", 0, **bad)  # type: ignore[arg-type]
