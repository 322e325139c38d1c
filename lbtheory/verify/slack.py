"""How much each inequality of the theorem gives away: the chain from the truth to the bound, one step replaced at a time."""

import math
from dataclasses import dataclass

import numpy as np

from lbtheory.theory.benchmark_law import benchmark_law
from lbtheory.theory.theorem1 import H, System, constants, second_moment
from lbtheory.verify.laboratory import Laboratory


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One link of a chain.

    Attributes
    ----------
    side : str
        ``upper`` (exact IO_0) or ``lower`` (size-blind FCFS).
    step : str
        What was replaced.
    value : float
        The bound on ``Ī`` when the steps up to here are replaced by their bounds and the rest is true, tokens.
    lost : float
        Decades given away by this step, ``|log₁₀(value/previous)|``; infinite after a value of 0.
    """

    side: str
    step: str
    value: float
    lost: float


def chains(of: System, laboratory: Laboratory, iterations: int, warmup: int) -> list[Step]:
    """Both chains at a system.

    The upper one from a trajectory of exact IO_0 (its true noise, second moment and tail are averages over the iterations
    after the warm-up); the lower one from the exact law. Values are those of the formulas: outside the theorem's regime the
    last lower ones are not bounds.
    """
    return _linked("upper", _upper(of, laboratory, iterations, warmup)) + _linked("lower", _lower(of))


def _upper(of: System, laboratory: Laboratory, iterations: int, warmup: int) -> list[tuple[str, float]]:
    run = laboratory.run(of, "io", iterations=iterations)
    noise = np.concatenate([run.noise(0), run.noise(of.s + 1)], axis=1)[warmup:]
    spread, drift = noise.max(axis=1) - noise.min(axis=1), of.slots * float(of.p)
    excess, square, tail = np.maximum(spread - drift, 0).mean(), (spread**2).mean(), (spread > drift).mean()
    known = constants(of)
    bounded_tail = min(1.0, 4 * of.workers * math.exp(-known.kappa * of.slots))
    moment = 8 * float(of.n * of.p * of.q * second_moment(of.p, of.s))

    def imbalance(extra: float) -> float:
        return (of.workers - 1) * (of.s + extra) / float(of.p)

    return [
        ("simulated Ī of IO_0", float(run.imbalance[warmup + 1 :].mean())),
        ("one-step inequality and recursion", imbalance(float(excess))),
        ("Cauchy–Schwarz", imbalance(math.sqrt(float(square * tail)))),
        ("tail of u*", imbalance(math.sqrt(float(square) * bounded_tail))),
        ("second moment of u*", imbalance(math.sqrt(moment * bounded_tail))),
    ]


def _lower(of: System) -> list[tuple[str, float]]:
    law = benchmark_law(of.p, of.law, of.slots)
    shift = law.deviation / 16 * math.sqrt(math.log(of.workers))
    beyond = float(law.survival(math.ceil(float(law.mean) + shift) - 1))
    stated = math.exp(-0.25) / 5 * of.workers**-0.25

    def imbalance(tail: float) -> float:
        return of.workers * shift * -math.expm1((of.workers - 1) * math.log1p(-tail))

    return [
        ("exact Ī of FCFS", law.imbalance(of.workers)[0]),
        ("one level, t = (σ/16)√(B log G)", imbalance(beyond)),
        ("large deviation, a₀ G^(−1/4)", imbalance(stated)),
        ("h for every G", of.workers * H * shift),
        ("1/1024 for h/16", float(constants(of).jsq_lower)),
    ]


def _linked(side: str, values: list[tuple[str, float]]) -> list[Step]:
    """Decades lost from link to link."""
    made, before = [], values[0][1]
    for name, value in values:
        lost = abs(math.log10(value / before)) if before > 0 else math.inf
        made.append(Step(side=side, step=name, value=value, lost=lost))
        before = value
    return made
