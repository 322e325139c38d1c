"""Compiled: one iteration of LEVEL as a chain of jumps, for the potential bound.

Positions ``x`` are deviations before the remaining completed slots are replaced: ``x₀ = e + B``, ``x_{i+1} = x_i − w``.
Arrays over positions start at ``start``; arrays over deviations start at ``lo``. Outside their ranges functions go on
linearly.
"""

import numpy as np
from numba import njit

EDGE = 0.02
"""Least share of the smallest and of the largest prompts that prices are chosen for."""


@njit(cache=True)
def settled(potential, lo, v, room):  # type: ignore[no-untyped-def]
    """``H(e')``, ``e'`` the point of ``[v, v + room]`` nearest to 0; beyond its range ``H`` goes on with its last slopes."""
    e = v
    if v <= 0:
        e = min(v + room, 0)
    i, last = e - lo, len(potential) - 1
    if i < 0:
        return potential[0] + i * (potential[1] - potential[0])
    if i > last:
        return potential[last] + (i - last) * (potential[last] - potential[last - 1])
    return potential[i]


@njit(cache=True)
def sweep(potential, lo, law, p, s, slots, target, start, charges, values, prices):  # type: ignore[no-untyped-def]
    """One backward sweep over the jumps with exact mean ages: fills ``values`` and ``prices``, arrays (stages + 1, positions).

    At every position the worst prompts are ``s`` from an age on that the mean workload determines, 1 before it.
    """
    q, stages, n = 1.0 - p, len(law) - 1, values.shape[1]
    age = q / p
    gain, extra = np.empty(n), np.empty(n)
    sum_gain, sum_extra, sum_late = np.empty(n), np.empty(n), np.empty(n)
    for i in range(stages - 1, -1, -1):
        for k in range(n):
            gain[k] = law[i + 1] * settled(potential, lo, start + k, (s - 1) * (i + 1)) + values[i + 1, k]
            extra[k] = (i + 1) / slots * prices[i + 1, k]
        slope = gain[1] - gain[0]
        sum_gain[0], sum_extra[0], sum_late[0] = gain[0] - slope * age, extra[0], extra[0] * age
        for k in range(1, n):  # means over an age X of gain(x − X), extra(x − X), X extra(x − X)
            sum_gain[k] = p * gain[k] + q * sum_gain[k - 1]
            sum_extra[k] = p * extra[k] + q * sum_extra[k - 1]
            sum_late[k] = q * (sum_late[k - 1] + sum_extra[k - 1])
        for k in range(n):
            mean = (target + start + k - slots) / slots
            guess = mean + i * target / slots / slots  # the workloads drawn so far are about T/B each
            share = min(max((guess - 1.0 - age) / (s - 1), EDGE), 1.0 - EDGE)
            switch = max(0, round(np.log(share) / np.log(q)))
            a, b = k - 1 - switch, k - s - switch
            if b < 0:
                values[i, k] = gain[0] + slope * (k - mean) + mean * extra[0] + charges[i, k]
                prices[i, k] = -slope
                continue
            late = q**switch
            price = (gain[b] + (s + switch) * extra[b] - gain[a] - (1 + switch) * extra[a]) / (s - 1)
            total = sum_gain[k - 1] + sum_extra[k - 1] + sum_late[k - 1]
            total -= late * (sum_gain[a] + (1 + switch) * sum_extra[a] + sum_late[a])
            total += late * (sum_gain[b] + (s + switch) * sum_extra[b] + sum_late[b])
            values[i, k] = total - price * (1.0 + age + late * (s - 1) - mean) + charges[i, k]
            prices[i, k] = price


@njit(cache=True)
def iterate(potential, lo, reward, law, p, s, slots, target, start, charges, values, prices, count):  # type: ignore
    """``count`` steps of value iteration, ``H ← f + E H(e')`` less its value at 0; returns the least and largest increment."""
    new = np.empty(len(potential))
    low, high = 0.0, 0.0
    for _ in range(count):
        sweep(potential, lo, law, p, s, slots, target, start, charges, values, prices)
        for k in range(len(potential)):
            x = lo + k + slots
            new[k] = reward[k] + law[0] * settled(potential, lo, x, 0) + values[0, x - start]
        low, high = np.min(new - potential), np.max(new - potential)
        potential[:] = new - new[-lo]
    return low, high


@njit(cache=True)
def forward(mass, lo, law, p, s, slots, target, start, n, count):  # type: ignore[no-untyped-def]
    """``count`` iterations of the law of ``e`` in which every jump has the worst correlation of prompt and age; in place."""
    q, stages = 1.0 - p, len(law) - 1
    age = q / p
    here, there, stream = np.zeros(n), np.zeros(n), np.zeros(n)
    last = len(mass) - 1
    for _ in range(count):
        here[:] = 0.0
        for k in range(len(mass)):
            here[k + lo + slots - start] = mass[k]
        mass[:] = 0.0
        for i in range(stages + 1):
            for k in range(n):
                v = start + k
                e = v if v > 0 else min(v + (s - 1) * i, 0)
                mass[min(max(e - lo, 0), last)] += law[i] * here[k]
            if i == stages:
                break
            stream[:] = 0.0
            for k in range(n):
                if here[k] == 0.0:
                    continue
                mean = (target + start + k - slots + i * target / slots) / slots
                share = min(max((mean - 1.0 - age) / (s - 1), EDGE), 1.0 - EDGE)
                switch = max(0, round(np.log(share) / np.log(q)))
                late = q**switch
                stream[max(k - 1, 0)] += here[k]
                stream[max(k - 1 - switch, 0)] -= late * here[k]
                stream[max(k - s - switch, 0)] += late * here[k]
            for k in range(n - 1, 0, -1):
                there[k] = p * stream[k]
                stream[k - 1] += q * stream[k]
            there[0] = stream[0]
            here[:] = there
        mass /= mass.sum()


@njit(cache=True)
def after_jump(potential, lo, weight, stage, s, start, value):  # type: ignore[no-untyped-def]
    """``G(v) = b_{i+1} h_{i+1}(v) + V_{i+1}(v)`` at every position."""
    result = np.empty(len(value))
    for k in range(len(value)):
        result[k] = weight * settled(potential, lo, start + k, (s - 1) * (stage + 1)) + value[k]
    return result


@njit(cache=True)
def worst_rows(gain, below, extra, knots, prices, s, ages):  # type: ignore[no-untyped-def]
    """``m(x; a) = max_{1 ≤ S ≤ s} [G(x − w) + w Λ(x − w) − λ w]``, ``w = S + a``, array (knots, ages): sliding maxima.

    ``knots`` are indices of positions. Before the first position ``G`` rises by ``below`` a token and ``Λ`` is constant.
    """
    rows = np.empty((len(knots), ages))
    queue, values = np.empty(ages + s, np.int64), np.empty(ages + s)
    for i in range(len(knots)):
        for w in range(1, ages + s):
            k = knots[i] - w
            if k >= 0:
                values[w] = gain[k] + w * (extra[k] - prices[i])
            else:
                values[w] = gain[0] - k * below + w * (extra[0] - prices[i])
        head, tail = 0, 0
        for w in range(1, ages + s):
            while tail > head and values[queue[tail - 1]] <= values[w]:
                tail -= 1
            queue[tail] = w
            tail += 1
            if w >= s:
                while queue[head] <= w - s:
                    head += 1
                rows[i, w - s] = values[queue[head]]
    return rows
