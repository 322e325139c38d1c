"""Noise in the latency models: routing on requests in flight does not see it, routing on latency does."""

from lbtheory.cells.calibration import oracle_models
from lbtheory.verify.cell_trials import COMPLETIONS, scenario_of, trial
from lbtheory.verify.claim import Claim, Kind
from lbtheory.verify.laboratory import Laboratory
from lbtheory.verify.verdict import Verdict, close, mean_at_least, together

ORDER = 803
RIF, LATENCY = ("disc-rif", "flow-rif"), "disc-lat"
NOISE = 0.5
EXACT = 6
"""Scenarios in which the RIF policies run: they are the same or not, without chance."""


def check(laboratory: Laboratory) -> Verdict:
    """Mean latencies at ε = 0 and 0.5 are the same number for RIF; Disc-Lat loses."""
    pairs, losses = [], []
    for k in range(laboratory.size(28, 80)):
        names = (*RIF, LATENCY) if k < EXACT else (LATENCY,)
        scenario = scenario_of(laboratory, "noise", k, duration=50.0)
        models = oracle_models(scenario, completions=COMPLETIONS)
        exact, noisy = (trial(scenario.changed(noise=noise), names, models=models) for noise in (0.0, NOISE))
        pairs += [(exact[name].mean, noisy[name].mean) for name in names[:-1]]
        losses.append(noisy[LATENCY].mean / exact[LATENCY].mean - 1)
    return together([close(pairs, 0.0, "mean latencies of RIF policies"), mean_at_least(losses, 0.0, "loss of disc-lat")])


CLAIM = Claim(
    id="rif-noise",
    statement="multiplicative noise of 50 % in the latency models leaves the RIF policies as they are and slows Disc-Lat down",
    source="DLB paper, section 5.4 and Figure 7",
    hypotheses=("six cells of the random scenarios, 80 %", "calibrated latency models, projected after the noise"),
    kind=Kind.EMPIRICAL,
    check=check,
)
