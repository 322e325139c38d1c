"""From gaps to latency, a priori: what the corollary adds to a bound of the gaps (ours; proved in `dynamics.diagnostics`)."""

import numpy as np

from lbtheory.fluid.guarantee.gaps import Gaps

Array = np.ndarray


def regret_margin(of: Gaps, horizon: float, first: Array) -> float:
    """``(1/T) Σ_j f*_j (N_j(0) + Σ_i λ_i τ_ij)``, of the regret over ``[0, T]`` above the bound of ``(1/T)∫(ΣD + Σλ S)``.

    ``N(T) ≥ 0``, which the corollary takes off, is not known before the run.
    """
    return float(of.values @ (first + of.arrivals @ of.latency)) / horizon
