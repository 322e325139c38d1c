"""Several policies on one stream: summaries, and paired ratios and differences against the first."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from lbtheory.core import ParameterError
from lbtheory.decode.engine import simulate
from lbtheory.decode.policies.base import DecisionProofs, Policy
from lbtheory.decode.records import Run
from lbtheory.decode.statistics import Estimate, check_level, paired_difference, paired_ratio
from lbtheory.decode.stream import RequestStream
from lbtheory.decode.summary import Summary, counted, summarise
from lbtheory.decode.timing import StepTime


@dataclass(frozen=True, slots=True, kw_only=True)
class Paired:
    """A policy against the reference: reference ÷ policy (None where the policy's mean is 0) and reference − policy."""

    imbalance_sum_ratio: Estimate | None
    imbalance_sum_difference: Estimate

    def as_json(self) -> dict[str, Any]:
        """Both with mean and interval; a ratio that does not apply is null."""
        ratio = self.imbalance_sum_ratio
        return {
            "imbalance_sum_ratio": {"mean": None, "ci": None} if ratio is None else ratio.as_json(),
            "imbalance_sum_difference": self.imbalance_sum_difference.as_json(),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Summaries by the policy's name, runs where they were kept, and pairs with the reference (the first name).

    ``proofs`` says of policies that solve a program at every step how many decisions stayed without proof.
    ``left_out`` names the policies that an interrupt (Ctrl-C) left out; what was finished before is here.
    """

    reference: str
    summaries: Mapping[str, Summary]
    paired: Mapping[str, Paired]
    proofs: Mapping[str, DecisionProofs]
    runs: Mapping[str, Run]
    left_out: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """``{"policies", "paired", "proofs", "notes"}``; ``proofs`` has the policies that solve a program at every step."""
        notes = {}
        for name, pair in self.paired.items():
            if pair.imbalance_sum_ratio is None:
                notes[f"paired.{name}.imbalance_sum_ratio"] = "the policy's mean imbalance is 0"
        if self.left_out:
            notes["policies"] = f"interrupted; left out: {', '.join(self.left_out)}"
        for name, summary in self.summaries.items():
            for metric in summary.undefined():
                notes[f"policies.{name}.{metric}"] = "no request has it in this run"
            if summary.imbalance_sum.low is None:
                notes[f"policies.{name}.imbalance_sum.ci"] = "too few iterations for an interval"
            if summary.goodput is None:
                notes[f"policies.{name}.goodput"] = "no objectives were given"
            if summary.max_min_ratio is None:
                notes[f"policies.{name}.max_min_ratio"] = "some worker was empty at every iteration"
        return {
            "policies": {name: summary.as_json() for name, summary in self.summaries.items()},
            "paired": {name: pair.as_json() for name, pair in self.paired.items()},
            "proofs": {name: asdict(proofs) for name, proofs in self.proofs.items()},
            "notes": notes,
        }


def compare(
    stream: RequestStream,
    policies: Mapping[str, Policy],
    *,
    workers: int,
    slots: int,
    timing: StepTime | None = None,
    steps: int | None = None,
    warmup: int = 0,
    level: float = 0.95,
    objectives: Mapping[str, float] | None = None,
    engine: str = "auto",
    seed: int = 0,
    keep: Sequence[str] = (),
    keep_loads: bool = False,
    progress: Callable[[str, int, int], None] | None = None,
) -> Comparison:
    """Run every policy on the same stream.

    Parameters
    ----------
    stream, workers, slots, timing, steps, engine, seed
        As for `lbtheory.decode.engine.simulate`.
    policies : mapping
        Policies by name; the first is the reference of the pairs.
    warmup : int
        Iterations left out of every mean.
    level : float
        Of the confidence intervals.
    objectives : mapping, optional
        For goodput, see `lbtheory.decode.summary.summarise`.
    keep : sequence of str
        Names whose runs are kept, with the loads of every worker when ``keep_loads``.
    progress : callable, optional
        Called with (name, iterations done, requests finished).
    """
    if not policies:
        raise ParameterError("`policies` of `compare` must name at least one policy; got none.")
    if warmup < 0 or (steps is not None and warmup >= steps):
        raise ParameterError(f"`warmup` of `compare` must be ≥ 0 and less than `steps` ({steps}); got {warmup}.")
    check_level(level)
    timing = timing or StepTime()
    summaries: dict[str, Summary] = {}
    paired: dict[str, Paired] = {}
    proofs: dict[str, DecisionProofs] = {}
    runs: dict[str, Run] = {}
    base = None
    for name, policy in policies.items():
        report = None if progress is None else (lambda done, finished, name=name: progress(name, done, finished))
        try:
            run = simulate(
                stream,
                policy,
                workers=workers,
                slots=slots,
                timing=timing,
                steps=steps,
                engine=engine,
                keep_loads=keep_loads and name in keep,
                seed=seed,
                progress=report,
            )
        except KeyboardInterrupt:
            if not summaries:
                raise
            break
        summaries[name] = summarise(run, timing, warmup=warmup, level=level, refused=stream.refused, objectives=objectives)
        series = run.iterations.imbalance_sum[counted(run, warmup)]
        if base is None:
            base = series
        else:
            paired[name] = Paired(
                imbalance_sum_ratio=paired_ratio(base, series, level),
                imbalance_sum_difference=paired_difference(base, series, level),
            )
        solved = policy.proofs()
        if solved is not None:
            proofs[name] = solved
        if name in keep:
            runs[name] = run
    left_out = tuple(name for name in policies if name not in summaries)
    return Comparison(
        reference=next(iter(policies)),
        summaries=summaries,
        paired=paired,
        proofs=proofs,
        runs=runs,
        left_out=left_out,
    )
