"""Tasks of the experiments that set theory beside simulation. Each returns a list of flat records."""

import math
from dataclasses import asdict, replace
from fractions import Fraction
from typing import Any

from lbtheory.core import ParameterError, generator
from lbtheory.decode.comparison import compare
from lbtheory.decode.policies import make_policy
from lbtheory.decode.statistics import batch_means
from lbtheory.decode.workload import Source, make_workload
from lbtheory.theory.benchmark_law import benchmark_law
from lbtheory.theory.bounds import bounds
from lbtheory.theory.diffusion import diffusion_law, renewed_law
from lbtheory.theory.frontier import frontier, normal_maximum
from lbtheory.theory.levelling import LevelSystem, smallest_slots
from lbtheory.theory.rich_supply import smallest_slots as rich_smallest_slots
from lbtheory.theory.theorem1 import System
from lbtheory.verify.laboratory import Laboratory
from lbtheory.verify.level_chain import rich_loads
from lbtheory.verify.slack import chains
from lbtheory.verify.systems import parse_system

Record = dict[str, Any]

EXACT_SLOTS = 10_000
"""Up to here the FCFS law of a frontier is exact; beyond, the normal law with its error."""


def slack(*, seed: int, p: str, prompts: str, workers: int, slots: int, iterations: int, warmup: int) -> list[Record]:
    """Both chains of the theorem at a system, a record a link (`lbtheory.verify.slack`)."""
    of = parse_system(p, prompts, workers, slots)
    return [asdict(step) for step in chains(of, Laboratory(seed=seed), iterations, warmup)]


def where_it_bites(*, seed: int, p: str, prompts: str, workers: int, ratios: list[float]) -> list[Record]:
    """Smallest ``B`` from which each certificate holds, one record a certificate; ``seed`` is not used.

    The theorem's are found against the normal bracket of the FCFS law, the others against the exact law up to
    ``B = 10,000`` and against the normal law beyond. ``slots`` is None where no ``B`` up to 2^20 is enough.
    """
    del seed
    of = parse_system(p, prompts, workers, 1)
    reach = asdict(frontier(of))
    records: list[Record] = [{"certificate": name, "target": 1.0, "slots": value} for name, value in reach.items()]

    def fcfs(slots: int) -> float:
        return benchmark_imbalance(replace(of, slots=slots))

    for ratio in ratios:
        records.append({"certificate": "level", "target": ratio, "slots": _level_slots(of, ratio, fcfs)})
    try:
        rich: int | None = rich_smallest_slots(of.p, of.law, workers).slots
    except ParameterError:
        rich = None
    return [*records, {"certificate": "rich", "target": 1.0, "slots": rich}]


def _level_slots(of: System, ratio: float, fcfs: Any) -> int | None:
    try:
        return smallest_slots(of.p, of.law.smallest, of.s, of.workers, ratio, fcfs).slots
    except ParameterError:
        return None


def benchmark_imbalance(of: System) -> float:
    """Exact ``Ī`` of FCFS up to ``B = 10,000``, beyond it the normal law (its error is then below 1 %)."""
    if of.slots <= EXACT_SLOTS:
        return benchmark_law(of.p, of.law, of.slots).imbalance(of.workers)[0]
    return of.workers * math.sqrt(float(of.slot_variance) * of.slots) * normal_maximum(of.workers)


def certified(
    *, seed: int, p: str, prompts: str, workers: int, slots: int, policies: list[str], requests: int, queue: int, warmup: int
) -> list[Record]:
    """Certificates at one system beside simulated policies: a record a certificate, then a record a policy."""
    of = parse_system(p, prompts, workers, slots)
    found = bounds(of)

    def row(what: str, name: str, imbalance: float, low: float | None = None, high: float | None = None) -> Record:
        return {"what": what, "name": name, "imbalance": imbalance, "low": low, "high": high, "exact": found.jsq_exact}

    records = [row("certificate", one.name, one.value) for one in found.certificates]
    deviations = LevelSystem(p=of.p, low=of.law.smallest, high=of.s, workers=workers, slots=slots)
    steps = max(2000, requests // max(1, workers * slots // 20))
    loads = rich_loads(deviations, steps, warmup, generator(seed, "rich"))
    found_rich = batch_means(workers * loads.max(axis=1) - loads.sum(axis=1), 0.95)
    records.append(row("policy", "level:rich supply", found_rich.mean, found_rich.low, found_rich.high))
    simulated = long_run(
        seed=seed,
        p=p,
        prompts=prompts,
        workers=workers,
        slots=slots,
        policies=policies,
        requests=requests,
        queue=queue,
        warmup=warmup,
    )
    records += [row("policy", one["policy"], one["imbalance"], one["low"], one["high"]) for one in simulated]
    return records


def scaling(
    *, seed: int, p: str, prompts: str, workers: int, slots: int, policies: list[str], requests: int, queue: int, warmup: int
) -> list[Record]:
    """`long_run`, each record with the exact law of FCFS and the heuristic laws of controlled policies at its system."""
    of = parse_system(p, prompts, workers, slots)
    laws = {
        "exact": benchmark_law(of.p, of.law, slots).imbalance(workers)[0],
        "diffusion": diffusion_law(of.p, of.law, slots).imbalance(workers),
        "renewed": renewed_law(of.p, of.s, slots, workers).imbalance(workers),
    }
    found = long_run(
        seed=seed,
        p=p,
        prompts=prompts,
        workers=workers,
        slots=slots,
        policies=policies,
        requests=requests,
        queue=queue,
        warmup=warmup,
    )
    return [record | laws for record in found]


def long_run(
    *, seed: int, p: str, prompts: str, workers: int, slots: int, policies: list[str], requests: int, queue: int, warmup: int
) -> list[Record]:
    """Long-run imbalance of policies on one saturated stream, one record a policy, with a 95 % batch-means interval.

    After ``warmup`` iterations the run admits about ``requests`` requests, ``n p`` an iteration, and lasts at least 40 mean
    lengths, so that a batch is longer than the memory of a slot.
    """
    rate = workers * slots * float(Fraction(p))
    steps = warmup + math.ceil(max(40 / float(Fraction(p)), requests / rate))
    count = math.ceil(1.1 * rate * steps) + 2 * workers * slots + queue + 1000
    source = Source(p=p, prompts=prompts, requests=count)
    work = make_workload(source, workers=workers, slots=slots, release="saturated", queue=queue, steps=steps, seed=seed)
    made = {name: make_policy(name, overtake=None, cap_all=True) for name in policies}
    result = compare(work.stream, made, workers=workers, slots=slots, steps=steps, warmup=warmup, seed=seed)
    records = []
    for name in policies:
        found = result.summaries[name].imbalance_sum
        records.append({"policy": name, "iterations": steps, "imbalance": found.mean, "low": found.low, "high": found.high})
    return records
