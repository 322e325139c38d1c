"""Fits of softplus latency models."""

import numpy as np
import pytest
from scipy.optimize import minimize

from lbtheory.core import ParameterError
from lbtheory.estimate import _kernels, fit_softplus, perturb, project
from lbtheory.fluid.rates import Softplus

MODEL = Softplus(a=0.7, b=0.1, k=5.0, w=1.2)


def test_recovers_the_model():
    n = np.array([1, 3, 6, 9, 12, 16, 24.0])
    found = fit_softplus(n, MODEL.latency(n))
    np.testing.assert_allclose([getattr(found.model, p) for p in "abkw"], [0.7, 0.1, 5.0, 1.2], rtol=1e-4)
    assert found.relative_error < 1e-6 and found.model == found.unconstrained and found.ratio > 1.05


@pytest.mark.parametrize("seed", range(6))
def test_free_fit_is_no_worse_than_scipy(seed):
    rng = np.random.default_rng(seed)
    n = np.sort(rng.uniform(0.5, 25, 12))
    y = MODEL.latency(n) * np.exp(rng.normal(0, 0.05, 12))
    v = rng.uniform(0.5, 3, 12)
    prior = np.log([0.8, 0.09, 6.0, 2.0])

    def loss(theta):
        a, b, k, w = np.exp(theta)
        latency = a + b * w * np.logaddexp(0, (n - k) / w)
        return (v * np.log(latency / y) ** 2).sum() + 0.3 * ((theta - prior) ** 2).sum()

    theta = prior.copy()
    value = _kernels.descend(theta, n, np.log(y), v, 12, prior, 0.3, np.nan, np.zeros(_kernels.WORK))
    other = minimize(loss, prior, method="Nelder-Mead", options={"maxiter": 20000, "fatol": 1e-14, "xatol": 1e-9})
    assert abs(loss(theta) - value) < 1e-10
    assert value <= other.fun * (1 + 1e-6)


def test_constraint_binds():
    """Latencies of ``a < bk``: the free fit violates, the constrained one is on the boundary and the best there."""
    true = Softplus(a=0.7, b=0.11, k=7.0, w=1.0)
    n = np.array([1, 3, 6, 9, 12, 16, 24.0])
    y = true.latency(n)
    found = fit_softplus(n, y)
    m = found.model
    assert found.ratio < 1
    assert abs(m.a / (m.b * m.k) - 1.05) < 1e-9

    def loss(theta):
        a, b, w = np.exp(theta)
        return (np.log((a + b * w * np.logaddexp(0, (n - a / b / 1.05) / w)) / y) ** 2).sum()

    other = minimize(loss, np.log([m.a, m.b, m.w]), method="Nelder-Mead", options={"fatol": 1e-15, "xatol": 1e-10})
    assert loss(np.log([m.a, m.b, m.w])) <= other.fun * (1 + 1e-5)


def test_noise_needs_projection():
    """``θ → (1 + εξ)θ`` divides ``a/(bk)`` by ``1 + εξ``: a margin of 5 % does not survive 10 % of noise."""
    model = project(Softplus(a=0.7, b=0.1, k=7.0, w=1.2))
    noisy = perturb(model, 1.1, projected=False)
    assert noisy.margin < 0 and noisy.capacity_limit < np.inf and noisy.peak < np.inf
    assert float(noisy.marginal(noisy.peak * 1.5)) < 0
    safe = perturb(model, 1.1)
    assert safe.margin > 0 and (safe.a, safe.b, safe.w) == (noisy.a, noisy.b, noisy.w)
    assert perturb(model, 0.9).k == pytest.approx(0.9 * model.k)


def test_prior_alone():
    found = fit_softplus([], [], prior=MODEL, pull=1.0)
    np.testing.assert_allclose([getattr(found.model, p) for p in "abkw"], [0.7, 0.1, 5.0, 1.2])


@pytest.mark.parametrize(
    "change, message",
    [
        ({"loads": [1.0, np.nan]}, "`loads` .* nan at index 1"),
        ({"latencies": [0.0, 1.0]}, "`latencies` .* index 0"),
        ({"weights": [1.0]}, "differ in length"),
        ({"loads": [], "latencies": []}, "empty"),
        ({"pull": 1.0}, "needs a `prior`"),
        ({"loads": [[1.0]]}, "one-dimensional"),
    ],
)
def test_bad_input(change, message):
    given = {"loads": [1.0, 2.0], "latencies": [1.0, 1.1]} | change
    with pytest.raises(ParameterError, match=message):
        fit_softplus(**given)
    with pytest.raises(ParameterError, match="factor"):
        perturb(MODEL, 0.0)
    with pytest.raises(ParameterError, match="margin"):
        project(MODEL, -1.0)
