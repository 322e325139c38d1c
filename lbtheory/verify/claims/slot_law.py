"""The slot law of the benchmark class: every size-blind FCFS rule has the same stationary slots."""

import numpy as np

from lbtheory.theory.theorem1 import System
from lbtheory.verify.claim import Claim, Kind
from lbtheory.verify.ghost import GhostRun
from lbtheory.verify.laboratory import Laboratory
from lbtheory.verify.verdict import Verdict, mean_equals, together

ORDER = 220
POLICIES = ("jsq", "rr", "random", "p2c", "stale-counts", "history-adaptive")


def check(laboratory: Laboratory) -> Verdict:
    """First and second moments of prompts, ages and workloads over independent runs, after 60 iterations (``q^60 < 1e-7``)."""
    of = laboratory.systems[0]
    count = laboratory.size(300, 3000)
    parts = [part for policy in POLICIES for part in _moments(of, laboratory.short_runs(of, policy, count), policy)]
    return together(parts, f"{len(parts)} moments over {count} independent runs, {len(POLICIES)} policies")


def _moments(of: System, runs: list[GhostRun], policy: str) -> list[Verdict]:
    """Each against its value under ``U = S + A_*``, slots independent."""
    work = np.array([run.workloads[-1] for run in runs], float)
    age = np.array([run.ages[-1] for run in runs], float)
    u, s, a = work - float(of.slot_mean), work - age - float(of.law.mean), age - float(of.q / of.p)
    moments = {
        "E S": (s.mean(axis=(1, 2)), 0.0),
        "Var S": ((s**2).mean(axis=(1, 2)), float(of.law.variance)),
        "E A": (a.mean(axis=(1, 2)), 0.0),
        "Var U": ((u**2).mean(axis=(1, 2)), float(of.slot_variance)),
        "Cov(S, A)": ((s * a).mean(axis=(1, 2)), 0.0),
        "covariance in a worker": (u[:, 0, 0] * u[:, 0, 1], 0.0),
        "covariance of two workers": (u[:, 0, 0] * u[:, 1, 0], 0.0),
    }
    return [mean_equals(values, target, f"{name}, {policy}") for name, (values, target) in moments.items()]


CLAIM = Claim(
    id="slot-law",
    statement="Y(k) = (1−ξ)(Y+1) + ξS;  stationary U = S + A_*, independent across slots",
    source="decode paper, EC.1.4, Definition EC.1",
    hypotheses=("FCFS admission", "a destination rule that sees no sizes, workloads or lengths", "supply events"),
    kind=Kind.PROVED,
    check=check,
)
