"""Facts of single decisions that the theory rests on, and the smallest cases where a neighbouring statement fails."""

from itertools import product

import numpy as np
import pytest

from lbtheory.decode.engine import simulate
from lbtheory.decode.exact import solve_io, solve_min_max, solve_spread_lex
from lbtheory.decode.instance import DecodeInstance, decode_instance, imbalance, loads_after
from lbtheory.decode.policies import make_policy, view_of_instance
from lbtheory.decode.stream import request_stream
from lbtheory.decode.traces.releases import at_iterations, saturated
from tests.contracts.cases import COMPILED, KINDS, SIZED, TINY, policy, run, stream
from tests.contracts.test_trajectories import overtaken
from tests.reference.exact import assignments, spread_key


def loads_of(text: str, instance: DecodeInstance) -> list[int]:
    """Loads after the decision of a policy."""
    chosen, rng = make_policy(text), np.random.default_rng(0)
    assignment = chosen.assign(view_of_instance(instance, chosen.information, rng), rng)
    return loads_after(instance, assignment)[:, 0].tolist()


@pytest.mark.parametrize("text", [*COMPILED, *TINY])
def test_one_worker_is_always_balanced(text: str) -> None:
    """``I ≡ 0`` at ``G = 1``, whatever the policy admits."""
    for kind in KINDS:
        if text in TINY:
            made = simulate(stream(kind, 16, 1), policy(text), workers=1, slots=2)
        else:
            made = run(text, kind, 1, 3, "compiled")
        assert len(made.iterations) > 0 and (made.iterations.imbalance_sum == 0).all()
        assert (made.iterations.imbalance_range == 0).all() and (made.iterations.barrier_idle == 0).all()


@pytest.mark.parametrize("text", ["io", "io:horizon=2", "spread-lex", "br0", "br0:greedy=0", "brh:horizon=3"])
def test_one_worker_admits_first_come(text: str) -> None:
    """IO_H and SpreadLex have nothing to gain and take the oldest; so does BalanceRoute at ``β = G``: all scores are 0."""
    made = simulate(stream("saturated", 60, 2), make_policy(text), workers=1, slots=2)
    assert len(made.iterations) > 5 and overtaken(made).max() == 0


@pytest.mark.parametrize("text", SIZED)
def test_constant_prompts_leave_nothing_to_choose(text: str) -> None:
    """The theorem asks that prompt sizes vary: with one size every rule admits in release order (ties: earliest)."""
    rng = np.random.default_rng(6)
    outputs = rng.geometric(0.2, 80)
    for releases in (saturated(7), at_iterations(np.sort(rng.integers(1, 40, 80)))):
        made = simulate(request_stream(np.full(80, 5), outputs, releases), policy(text), workers=3, slots=2)
        assert overtaken(made).max() == 0


@pytest.mark.parametrize("text", [*COMPILED, *TINY])
def test_constant_prompts_and_outputs_are_balanced(text: str) -> None:
    """With one size and one length, saturated, all slots turn over together and every policy has ``I ≡ 0``."""
    n = 13 if text in TINY else 60
    requests = request_stream(np.full(n, 5), np.full(n, 3), saturated(1))
    made = simulate(requests, policy(text), workers=2, slots=2)
    assert len(made.iterations) >= 6 and (made.iterations.imbalance_sum == 0).all()


def test_br0_is_not_io0() -> None:
    """Smallest case: loads 0, 1, one slot each, sizes 1, 2. BR-0 fills worker 0 to today's maximum and must overshoot then."""
    instance = decode_instance([0, 1], [1, 1], [1, 2])
    solution = solve_io(instance)
    assert solution.loads == (2, 2) and solution.imbalance == 0
    for greedy in (0, 4):
        loads = loads_of(f"br0:greedy={greedy}", instance)
        assert loads == [1, 3] and imbalance(np.array(loads)) == 2


def test_br0_is_io0_with_one_free_slot() -> None:
    """With one free slot stage 1 looks at the whole queue: exact. Stage 2 sees the window only."""
    for loads in product(range(4), repeat=3):
        instance = decode_instance(loads, [0, 1, 0], [2, 1, 4, 3, 1, 6])
        best = solve_io(instance).imbalance
        assert imbalance(np.array(loads_of("br0:greedy=0", instance))) == best
    blind = decode_instance([0, 6, 6], [1, 0, 0], [2, 1, 4, 3, 1, 6])
    assert loads_of("br0:greedy=0", blind) == [6, 6, 6] and loads_of("br0:greedy=4,window=4", blind) == [4, 6, 6]


def test_minimising_the_largest_load_is_not_io0() -> None:
    """Smallest case: loads 0, 3, one slot on worker 0, sizes 1, 4: min-max leaves ``I = 2``, IO_0 raises the maximum for 1."""
    instance = decode_instance([0, 3], [1, 0], [1, 4])
    assert solve_io(instance).loads == (4, 3) and solve_io(instance).imbalance == 1
    assert solve_min_max(instance).loads == (1, 3) and solve_min_max(instance).imbalance == 2


def test_level_gives_up_imbalance_today() -> None:
    """Smallest case: loads 0, 0, 2, one slot on worker 1, sizes 1, 2: LEVEL+ aims below the maximum, IO_0 at it."""
    instance = decode_instance([0, 0, 2], [0, 1, 0], [1, 2])
    assert solve_io(instance).loads == (0, 2, 2)
    assert loads_of("level-plus", instance) == [0, 1, 2]


def test_io0_fills_up_to_a_survivor() -> None:
    """G = 3, B = 1, S ∈ {1, 2}: beside a survivor of 2 or more IO_0 takes (2, 2).

    For small p taking (1, 1) is better in the long run.
    """
    for load in range(2, 8):
        assert solve_io(decode_instance([load, 0, 0], [0, 1, 1], [1, 1, 2, 2])).loads == (load, 2, 2)


def separated(instance: DecodeInstance, assignment: tuple[tuple[int, ...], ...], s: int) -> list[bool]:
    """For each worker at the maximum: whether every ``g`` with ``L_r − L_g > s`` has its ``θ`` in ``0 … s``."""
    loads = [int(a) + sum(int(instance.waiting[i]) for i in c) for a, c in zip(instance.loads, assignment, strict=True)]
    added = [sum(int(instance.waiting[i]) for i in c) for c in assignment]
    free = instance.free.tolist()
    return [
        all(
            any(added[r] - added[g] <= theta * free[r] - (theta + 1) * free[g] for theta in range(s + 1))
            for g in range(len(loads))
            if loads[r] - loads[g] > s
        )
        for r in range(len(loads))
        if loads[r] == max(loads)
    ]


def test_io0_can_break_the_separation_that_spread_lex_keeps() -> None:
    """Loads 5, 0, 3; free 0, 1, 1; sizes 1, 1, 2, 2: IO_0's optimum is 5, 2, 5 with ``I = 3``, and one of its maxima fails."""
    instance = decode_instance([5, 0, 3], [0, 1, 1], [1, 1, 2, 2])
    solution = solve_io(instance)
    assert solution.loads == (5, 2, 5) and solution.imbalance == 3 and solution.assignment is not None
    assert separated(instance, solution.assignment.workers, 2) == [True, False]
    spread = solve_spread_lex(instance)
    assert spread.loads == (5, 2, 4) and spread.assignment is not None
    assert separated(instance, spread.assignment.workers, 2) == [True]


def test_spread_lex_optima_are_separated() -> None:
    """``(D, N_max, I)``-optimal assignments keep the separation where every ``|R∖R(t)| ≥ C``; exhaustive over small cases."""
    cases = 0
    for loads in product((0, 3, 6), repeat=3):
        for free in ((0, 1, 1), (1, 1, 0), (1, 0, 2), (0, 2, 0)):
            instance = decode_instance(loads, free, [1, 2, 1, 2, 3, 3])
            options = list(assignments(list(free), instance.waiting.tolist()))
            after = [
                [a + sum(int(instance.waiting[i]) for i in c) for a, c in zip(loads, option, strict=True)] for option in options
            ]
            best = min(map(spread_key, after))
            for option, reached in zip(options, after, strict=True):
                if spread_key(reached) == best:
                    cases += 1
                    assert all(separated(instance, option, 3))
    assert cases > 100


def test_optimum_with_every_size_in_supply() -> None:
    """With ``C`` of each size ``1 … s``: ``I = 0`` if all ``[a + c, a + s c]`` meet, else ``L_g = min(M, a_g + s c_g)``,
    ``M = max_g (a_g + c_g)``. One size short and it can fail.
    """
    rng = np.random.default_rng(9)
    spread = 0
    for _ in range(40):
        workers, s = int(rng.integers(2, 5)), int(rng.integers(2, 5))
        a, c = rng.integers(0, 10, workers), rng.integers(0, 3, workers)
        total = int(c.sum())
        if total == 0:
            continue
        waiting = [size for size in range(1, s + 1) for _ in range(total)]
        low, high = a + c, a + s * c
        want = 0 if low.max() <= high.min() else imbalance(np.minimum(low.max(), high))
        spread += want > 0
        assert solve_io(decode_instance(a.tolist(), c.tolist(), waiting)).imbalance == want
    assert spread > 5
    assert solve_io(decode_instance([0, 2], [1, 0], [1, 2])).imbalance == 0
    assert solve_io(decode_instance([0, 2], [1, 0], [1, 3])).imbalance == 1
