"""Gains over random routing by utilisation."""

from lbtheory.cells.calibration import oracle_models
from lbtheory.verify.cell_trials import COMPLETIONS, scenario_of, trial
from lbtheory.verify.claim import Claim, Kind
from lbtheory.verify.laboratory import Laboratory
from lbtheory.verify.verdict import Verdict, mean_at_least

ORDER = 801
POLICY = "flow-grad"
LOW, HIGH = 0.5, 0.8


def check(laboratory: Laboratory) -> Verdict:
    """Mean latency over that of random routing, at 50 % less at 80 %, on scenarios that differ in their load only."""
    drops = []
    for k in range(laboratory.size(32, 120)):
        ratio, models = {}, None
        for load in (LOW, HIGH):
            scenario = scenario_of(laboratory, "loads", k, utilisation=load, duration=50.0)
            models = models or oracle_models(scenario, completions=COMPLETIONS)
            found = trial(scenario, [POLICY], models=models)
            ratio[load] = found[POLICY].mean / found["rand"].mean
        drops.append(ratio[LOW] - ratio[HIGH])
    return mean_at_least(drops, 0.0, f"{POLICY} / rand, 50 % − 80 %")


CLAIM = Claim(
    id="gains-by-load",
    statement="Flow-Grad gains more on random routing at 80 % utilisation than at 50 %",
    source="DLB paper, section 5.4 and Figure 6",
    hypotheses=("six cells of the random scenarios", "calibrated latency models"),
    kind=Kind.EMPIRICAL,
    check=check,
)
