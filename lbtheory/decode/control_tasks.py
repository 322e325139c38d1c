"""Policies beside one another from weak to strong control, and how strong control is."""

from typing import Any

from lbtheory.decode.stream import RequestStream
from lbtheory.decode.tasks import Record, compared, read_source
from lbtheory.decode.timing import StepTime
from lbtheory.decode.workload import make_workload


def by_control(
    *,
    seed: int,
    part: str,
    workload: str,
    source: dict[str, Any],
    policies: list[str],
    workers: int,
    slots: int,
    overtake: int | None,
    queue: int,
    warmup: int,
    steps: int | None = None,
) -> list[Record]:
    """Policies on one saturated stream; one record a policy, pairs are with the first.

    ``part`` is a label for the table: tuning or held out. ``control`` is `control_strength`.
    """
    work = make_workload(
        read_source(source),
        workers=workers,
        slots=slots,
        release="saturated",
        queue=queue,
        start="residual",
        steps=steps,
        seed=seed,
    )
    records = compared(
        work,
        policies,
        workers=workers,
        slots=slots,
        overtake=overtake,
        timing=StepTime(),
        warmup=warmup,
        steps=steps,
        seed=seed,
    )
    control = control_strength(work.stream, slots)
    return [{"part": part, "workload": workload, "control": control, **record} for record in records]


def control_strength(stream: RequestStream, slots: int) -> float:
    """``3 c Var(S)/E W²``: how much an iteration's choice of sizes can do against the noise of its completions.

    ``c = B/E O`` requests complete on a worker in an iteration. Sizes uniform on a range ``ρ`` let a worker move its load by
    ``β = c ρ/2``, and ``ρ² = 12 Var S``; completions of requests with workloads ``W = S + age`` make noise of variance ``ν² ≈ c
    E W²``: the number is ``β²/ν²``. ``E age = E O²/(2 E O)``, ``E age² = E O³/(3 E O)``, age and size taken as independent.
    """
    sizes, outputs = stream.prompts.astype(float), stream.outputs.astype(float)
    length = outputs.mean()
    age, square = (outputs**2).mean() / (2 * length), (outputs**3).mean() / (3 * length)
    workload = (sizes**2).mean() + 2 * sizes.mean() * age + square
    return float(3 * slots / length * sizes.var() / workload)
