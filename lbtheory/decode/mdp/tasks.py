"""Long-run averages of one small system as a record."""

import resource
from fractions import Fraction
from math import ceil, log
from time import perf_counter
from typing import Any

from lbtheory.decode.mdp.model import Model, build
from lbtheory.decode.mdp.rules import deviation, policy_mix, worst_gap
from lbtheory.decode.mdp.solve import Average, best_ties, evaluate, first_come, optimum, worst_ties
from lbtheory.decode.mdp.symbols import system
from lbtheory.decode.policies import make_policy

Record = dict[str, Any]

POLICIES = {"level": "level:overtake=none", "level_plus": "level-plus:overtake=none,window=0", "br0": "br0:greedy=0"}


def averages(
    *,
    seed: int,
    workers: int,
    slots: int,
    p: str,
    sizes: list[int],
    queue: int | None = None,
    look: int = 0,
    error: float = 1e-6,
) -> list[Record]:
    """The optimum of one system and every rule beside it; one record.

    The cap is the least one for which the truncation error is at most ``error``. Rules that see sizes and loads only are left
    out where lives are known: they are in the record of the same system without.
    """
    del seed  # nothing is drawn
    began = perf_counter()
    cap = _cap(workers, slots, p, sizes[-1], error)
    one = system(workers, slots, float(Fraction(p)), sizes, cap=cap, queue=queue, look=look)
    model = build(one)
    best = optimum(model)
    wrong = deviation(model, best)
    record: Record = {
        "workers": workers,
        "slots": slots,
        "p": p,
        "sizes": ",".join(map(str, sizes)),
        "queue": queue,
        "look": look,
        "cap": one.cap,
        "states": len(model.after),
        "outcomes": len(model.to),
        "gigabytes": model.nbytes / 1e9,
        "optimum": best.average,
        "span": best.span,
        "below": best.truncation[0],
        "above": best.truncation[1],
        "first_come": first_come(model, near=best).average,
        "differs": 0 if wrong is None else wrong.states,
        "where": "" if wrong is None else str(wrong),
    }
    for rule, name in (("io", "io"), ("spread-lex", "spread"), ("io-h", "io_h")):
        shown = rule != "io-h" or look > 0
        record[name] = best_ties(model, rule, near=best).average if shown else None
        record[f"{name}_worst"] = worst_ties(model, rule, near=best).average if shown else None
    record |= _policies(model, best) if look == 0 else dict.fromkeys([*POLICIES, *(f"{n}_gap" for n in POLICIES)])
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6  # kilobytes on Linux; of this process so far
    return [record | {"seconds": perf_counter() - began, "peak_gigabytes": peak}]


def _policies(model: Model, best: Average) -> Record:
    found: Record = {}
    for name, text in POLICIES.items():
        mix = policy_mix(model, make_policy(text))
        found[name] = evaluate(model, mix, near=best).average
        found[f"{name}_gap"] = worst_gap(model, mix)
    return found


def _cap(workers: int, slots: int, p: str, top: int, error: float) -> int:
    """Least ``N`` with ``(G−1) n q^{N−s+1}/p ≤ error``."""
    q = 1 - float(Fraction(p))
    need = error * float(Fraction(p)) / (workers * slots * max(1, workers - 1))
    return top - 1 + max(1, ceil(log(need) / log(q)))
