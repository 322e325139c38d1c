"""Trajectories driven by ghost coins: conservation, the law of lengths, and the same coins for every policy."""

import numpy as np
import pytest

from lbtheory.decode.policies import make_policy
from lbtheory.verify import Laboratory
from lbtheory.verify.ghost import NEVER, GhostRun, GhostSystem, draw_coins, ghost_run, overloaded

POLICIES = ("io", "spread-lex", "br0", "level-plus", "jsq", "random", "stale-counts", "history-adaptive")


@pytest.fixture(scope="module")
def laboratory() -> Laboratory:
    """One laboratory for the file."""
    return Laboratory()


@pytest.mark.parametrize("policy", POLICIES)
def test_conservation(laboratory: Laboratory, policy: str) -> None:
    """A slot holds what the coins leave: it empties exactly at a success, grows by one otherwise; sums agree everywhere."""
    for run in laboratory.runs(policy):
        before, after, coins = run.workloads[:-1], run.workloads[1:], run.coins[1:]
        stays = (before > 0) & ~coins
        assert (after[stays] == before[stays] + 1).all()
        fresh = run.ages[1:] == 0
        assert not (fresh & stays).any() and (after[fresh] <= run.system.s).all()
        assert (run.loads == run.workloads.sum(axis=2)).all()
        assert (run.free[1:] == (~stays).sum(axis=2)).all()
        assert (run.survivors[1:] == np.where(stays, before + 1, 0).sum(axis=2)).all()
        assert (run.total[1:] == np.where(fresh, after, 0).sum(axis=2)).all()
        assert (run.admitted_total[1:] == np.cumsum(fresh.sum(axis=(1, 2)))).all()
        waiting = run.arrivals[1:] - run.admitted_total[:-1]
        assert (run.waiting[1:].sum(axis=1) == waiting).all()


def test_coins_do_not_depend_on_the_policy(laboratory: Laboratory) -> None:
    """Coins, prompts and arrivals are shared, so comparisons are paired."""
    of = laboratory.systems[1]
    runs: list[GhostRun] = [laboratory.run(of, policy) for policy in ("io", "jsq")]
    assert (runs[0].coins == runs[1].coins).all() and (runs[0].prompts == runs[1].prompts).all()
    assert not (laboratory.run(of, "jsq", 1).coins == runs[1].coins).all()


def test_lengths_are_what_the_coins_say() -> None:
    """The request in a slot leaves at the slot's next success; without one it stays beyond the horizon."""
    of = Laboratory().systems[0]
    rng = np.random.default_rng(3)
    coins = draw_coins(of, 40, rng)
    prompts, releases = overloaded(of, 40, 1.5, rng)
    run = ghost_run(of, make_policy("jsq"), prompts, releases, coins, 0)
    starts = np.argwhere(run.ages == 0)
    for k, g, b in starts:
        rest = np.flatnonzero(coins[k + 1 :, g, b])
        end = k + 1 + rest[0] if len(rest) else len(coins)
        assert (run.ages[k:end, g, b] == np.arange(end - k)).all()
    assert issubclass(GhostSystem, object) and NEVER > 40
