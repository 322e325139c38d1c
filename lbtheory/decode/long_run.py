"""What exact minimisation does in long runs: imbalance, who is left waiting, how long; one record a policy."""

from typing import Any

import numpy as np

from lbtheory.core.tasks import task_version
from lbtheory.decode.comparison import compare
from lbtheory.decode.policies import make_policy
from lbtheory.decode.records import Run
from lbtheory.decode.workload import Source, make_workload

Record = dict[str, Any]
TENTHS = 10


@task_version(2)
def long_run(
    *, seed: int, workers: int, slots: int, p: str, prompts: str, queue: int, policies: list[str], iterations: int, warmup: int
) -> list[Record]:
    """Run policies on one saturated stream from an empty system.

    Pairs are with the first policy: ``over_first`` is the policy's mean imbalance less the first's. Sizes of waiting requests
    are those left after admission, in the first and the last fifth of the run after the warm-up, and in each tenth of it
    (``waiting_0`` …); ``offered`` is the mean size of the requests released. ``decisions``, ``unproved`` and ``gap`` are those
    of `DecisionProofs`, None for policies that do not solve.
    """
    work = make_workload(
        Source(p=p, prompts=prompts),
        workers=workers,
        slots=slots,
        queue=queue,
        steps=iterations,
        seed=seed,
    )
    made = {name: make_policy(name, history=work.history) for name in policies}
    result = compare(
        work.stream,
        made,
        workers=workers,
        slots=slots,
        steps=iterations,
        warmup=warmup,
        seed=seed,
        keep=policies,
    )
    if result.left_out:  # an interrupt stops the study, not only the comparison
        raise KeyboardInterrupt
    records = []
    for name in policies:
        summary, pair, run, proofs = result.summaries[name], result.paired.get(name), result.runs[name], result.proofs.get(name)
        difference = None if pair is None else pair.imbalance_sum_difference
        waiting = waiting_sizes(run)[warmup:]
        fifth = max(1, len(waiting) // 5)
        records.append(
            {
                "workers": workers,
                "slots": slots,
                "p": p,
                "prompts": prompts,
                "queue": queue,
                "policy": name,
                "iterations": summary.iterations,
                "imbalance": summary.imbalance_sum.mean,
                "imbalance_low": summary.imbalance_sum.low,
                "imbalance_high": summary.imbalance_sum.high,
                "over_first": 0.0 if difference is None else -difference.mean,
                "over_first_low": None if difference is None or difference.high is None else -difference.high,
                "over_first_high": None if difference is None or difference.low is None else -difference.low,
                "waiting_first": float(waiting[:fifth].mean()),
                "waiting_last": float(waiting[-fifth:].mean()),
                "wait_mean": summary.wait_iterations.mean,
                "wait_max": summary.wait_iterations.maximum,
                "oldest": oldest_waiting(run),
                "decisions": None if proofs is None else proofs.decisions,
                "unproved": None if proofs is None else proofs.unproved,
                "gap": None if proofs is None else proofs.gap,
                "offered": float(run.requests.prompts[run.requests.release_iteration > 0].mean()),
                **{f"waiting_{j}": float(share.mean()) for j, share in enumerate(np.array_split(waiting, TENTHS))},
            }
        )
    return records


def waiting_sizes(run: Run) -> np.ndarray:
    """Mean size of the requests left waiting after each iteration, float array (K,); NaN where none is."""
    requests, last = run.requests, len(run.iterations)
    sizes = np.asarray(requests.prompts, float)

    def total(when: np.ndarray, weights: np.ndarray) -> np.ndarray:
        there = when > 0
        return np.cumsum(np.bincount(when[there], weights=weights[there], minlength=last + 1)[1 : last + 1])

    ones = np.ones(len(sizes))
    many = total(requests.release_iteration, ones) - total(requests.admission_iteration, ones)
    sums = total(requests.release_iteration, sizes) - total(requests.admission_iteration, sizes)
    return np.divide(sums, many, out=np.full(last, np.nan), where=many > 0)


def oldest_waiting(run: Run) -> int:
    """Iterations that the oldest request still waiting at the end has waited, 0 when none waits.

    The longest wait of admitted requests alone hides those that are never taken.
    """
    requests = run.requests
    left = (requests.release_iteration > 0) & (requests.admission_iteration == 0)
    return int((len(run.iterations) - requests.release_iteration[left]).max(initial=0))
