"""One decision of the router as data: loads, free slots, waiting prompt sizes, optionally projected loads.

Source: decode paper, sections 2.2 and 3. With ``A_{g,h}`` the projected load of the requests in flight on worker ``g`` at
offset ``h`` and ``y_{ig}`` the assignment,

    ``L_{g,h} = A_{g,h} + Σ_i y_{ig} (S_i + h)``,   ``I_h = G max_g L_{g,h} − Σ_g L_{g,h}``,

and the objective of an assignment is ``Σ_h γ^h I_h``. A request admitted now is taken to stay through the window, unless the
instance gives lives ``r_i``: it then adds ``(S_i + h) 1{r_i > h}``. With priorities ``π_i`` (ours) the objective also holds
``Σ_i π_i`` over the requests that are left waiting.
Every policy is maximal: exactly ``U = min(waiting, Σ_g c_g)`` requests are admitted.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from lbtheory.core import InstanceError, ParameterError, SizeOverflowError, readonly

TOTAL_LIMIT = 2**53
"""Largest ``G · max load`` that is accepted: every sum stays exact in doubles and far inside 64 bits."""

_KEYS = ("loads", "free", "waiting", "projected", "gamma", "lives", "priorities")


@dataclass(frozen=True, slots=True, kw_only=True)
class DecodeInstance:
    """Loads, free slots and waiting sizes of one decision.

    Attributes
    ----------
    loads : int array (G,)
        Tokens on each worker before admission, ``a_g = A_{g,0}``.
    free : int array (G,)
        Free slots ``c_g``.
    waiting : int array (R,)
        Prompt sizes ``S_i`` of the waiting requests in release order, tokens, each ≥ 1.
    projected : int array (G, H+1)
        ``A_{g,h}``; column 0 equals ``loads``. With no forecast it has one column.
    gamma : Fraction
        Discount ``γ`` in (0, 1].
    lives : int array (R,) or None
        Forecast iterations ``r_i ≥ 1`` of the waiting requests once admitted; None: all stay through the window.
    priorities : int array (R,) or None
        Penalties ``π_i ≥ 0`` on leaving each waiting request, tokens; None: none.
    """

    loads: np.ndarray
    free: np.ndarray
    waiting: np.ndarray
    projected: np.ndarray
    gamma: Fraction
    lives: np.ndarray | None = None
    priorities: np.ndarray | None = None

    @property
    def workers(self) -> int:
        """``G``."""
        return len(self.loads)

    @property
    def horizon(self) -> int:
        """``H``: the last offset of the projected loads."""
        return int(self.projected.shape[1]) - 1

    @property
    def admissions(self) -> int:
        """``U = min(waiting, Σ_g c_g)``: how many requests every policy admits."""
        return min(len(self.waiting), int(self.free.sum()))

    @property
    def has_priorities(self) -> bool:
        """Whether priorities decide anything: some are positive, and not every waiting request is admitted."""
        return self.priorities is not None and bool(self.priorities.any()) and self.admissions < len(self.waiting)

    @property
    def lives_end(self) -> bool:
        """Whether some waiting request may finish inside the window."""
        return self.lives is not None and int(self.lives.min(initial=self.horizon + 1)) <= self.horizon

    @property
    def active(self) -> np.ndarray:
        """Active counts as count rules see them, ``max(free) − free_g`` (only differences matter to them)."""
        return readonly(self.free.max() - self.free)

    def with_horizon(self, horizon: int) -> "DecodeInstance":
        """The same instance with the window cut to ``horizon``.

        Raises
        ------
        ParameterError
            When ``horizon`` is negative or beyond the projected loads.
        """
        if not 0 <= horizon <= self.horizon:
            raise ParameterError(
                f"`horizon` of `with_horizon` must be between 0 and {self.horizon} (the length of the rows of `projected` "
                f"less one); got {horizon}. Give longer rows or ask for a shorter window."
            )
        return replace(self, projected=readonly(self.projected[:, : horizon + 1]))


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """Who goes where: for each worker, indices into ``waiting`` in increasing order."""

    workers: tuple[tuple[int, ...], ...]

    @property
    def admitted(self) -> int:
        """Number of requests admitted."""
        return sum(map(len, self.workers))


def decode_instance(
    loads: Sequence[int] | np.ndarray,
    free: Sequence[int] | np.ndarray,
    waiting: Sequence[int] | np.ndarray,
    *,
    projected: Sequence[Sequence[int]] | np.ndarray | None = None,
    gamma: Fraction | float | str = 1,
    lives: Sequence[int] | np.ndarray | None = None,
    priorities: Sequence[int] | np.ndarray | None = None,
) -> DecodeInstance:
    """Build and check a `DecodeInstance`.

    Parameters
    ----------
    loads, free : sequences of G non-negative integers
    waiting : sequence of positive integers, release order
    projected : G rows of H+1 non-negative integers, optional
        Row ``g`` starts with ``loads[g]``.
    gamma : Fraction, number or "a/b"
        Discount in (0, 1]; a decimal such as 0.9 is read as 9/10.
    lives : sequence of R whole numbers ≥ 1, optional
        How many iterations each waiting request runs, for those that may finish inside the window.
    priorities : sequence of R whole numbers ≥ 0, optional
        What leaving each waiting request costs, tokens (for example its tenant's weight times its wait).

    Raises
    ------
    InstanceError, SizeOverflowError, ParameterError
    """
    a = _integers("loads", loads, low=0)
    c = _integers("free", free, low=0)
    w = _integers("waiting", waiting, low=1)
    if len(a) == 0:
        raise InstanceError("`loads` must have at least one worker; got an empty list.")
    if len(c) != len(a):
        raise InstanceError(
            f"`free` must have as many entries as `loads` ({len(a)}); got {len(c)}. Give one number of free slots a worker."
        )
    rows = a[:, None] if projected is None else _projected(projected, a)
    r = None if lives is None else _integers("lives", lives, low=1)
    costs = None if priorities is None else _integers("priorities", priorities, low=0)
    for name, given in (("lives", r), ("priorities", costs)):
        if given is not None and len(given) != len(w):
            raise InstanceError(
                f"`{name}` must have as many entries as `waiting` ({len(w)}); got {len(given)}. Give one a request."
            )
    heaviest = sum(np.sort(w)[max(0, len(w) - int(c.max())) :].tolist())
    top = len(a) * (int(rows.max()) + heaviest + int(c.max()) * (rows.shape[1] - 1))
    top += 0 if costs is None else sum(map(int, costs))
    if top >= TOTAL_LIMIT:
        raise SizeOverflowError(
            f"`loads` and `waiting` are too large: workers × largest possible load is {top}, the limit is {TOTAL_LIMIT}. "
            "Scale the sizes down (for example count blocks instead of tokens)."
        )
    return DecodeInstance(
        loads=readonly(a),
        free=readonly(c),
        waiting=readonly(w),
        projected=readonly(rows),
        gamma=rational_gamma(gamma),
        lives=None if r is None else readonly(r),
        priorities=None if costs is None else readonly(costs),
    )


def rational_gamma(gamma: Fraction | float | str) -> Fraction:
    """Read a discount as an exact fraction in (0, 1]; ``0.9`` is 9/10, not the nearest double, and the double 1/3 is 1/3."""
    try:
        value = gamma if isinstance(gamma, Fraction) else Fraction(str(gamma))
        if isinstance(gamma, float) and float(simple := value.limit_denominator(1000)) == gamma:
            value = simple
    except (ValueError, ZeroDivisionError):
        raise ParameterError(f"`gamma` must be a number or a fraction such as 9/10; got {gamma!r}.") from None
    if not 0 < value <= 1:
        raise ParameterError(f"`gamma` must be in (0, 1]; got {gamma}. Use 1 for no discount.")
    return value


def read_instance(path: str | Path) -> DecodeInstance:
    """Read an instance from a JSON file ``{"loads", "free", "waiting", "projected"?, "gamma"?, "lives"?,
    "priorities"?}``.

    Raises
    ------
    InstanceError
        Names the file and the key.
    """
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
        data = json.loads(text, parse_constant=_refuse_constant, object_pairs_hook=_each_once)
    except OSError as error:
        raise InstanceError(f"{path}: cannot be read ({error.strerror or error}).") from None
    except json.JSONDecodeError as error:
        raise InstanceError(f"{path}, line {error.lineno}: not valid JSON ({error.msg}).") from None
    except RecursionError:
        raise InstanceError(f"{path}: its JSON is nested too deeply. Give one object with lists of numbers.") from None
    except (ValueError, UnicodeDecodeError) as error:
        raise InstanceError(f"{path}: {error}") from None
    if not isinstance(data, dict):
        raise InstanceError(f"{path}: must hold one JSON object with the keys loads, free, waiting; got {type(data).__name__}.")
    for key in data:
        if key not in _KEYS:
            near = get_close_matches(key, _KEYS, n=1)
            raise InstanceError(
                f"{path}: unknown key {key!r}." + (f" Did you mean {near[0]!r}?" if near else f" Known: {_KEYS}.")
            )
    for key in ("loads", "free", "waiting"):
        if key not in data:
            raise InstanceError(f"{path}: the key {key!r} is missing. Needed: loads, free, waiting.")
    try:
        return decode_instance(
            data["loads"],
            data["free"],
            data["waiting"],
            projected=data.get("projected"),
            gamma=data.get("gamma", 1),
            lives=data.get("lives"),
            priorities=data.get("priorities"),
        )
    except (InstanceError, SizeOverflowError, ParameterError) as error:
        raise type(error)(f"{path}: {error}") from None


def loads_after(instance: DecodeInstance, assignment: Assignment) -> np.ndarray:
    """Loads ``L_{g,h}`` after the assignment, int array (G, H+1), exact."""
    offsets = np.arange(instance.horizon + 1, dtype=np.int64)
    added = np.zeros_like(instance.projected)
    if instance.lives is None:
        for g, chosen in enumerate(assignment.workers):
            if chosen:
                added[g] = instance.waiting[list(chosen)].sum() + len(chosen) * offsets
        return np.asarray(instance.projected + added)
    for g, chosen in enumerate(assignment.workers):
        for i in chosen:
            last = instance.horizon + 1 if instance.lives is None else int(instance.lives[i])
            added[g] += np.where(offsets < last, instance.waiting[i] + offsets, 0)
    return np.asarray(instance.projected + added)


def imbalance(loads: np.ndarray) -> int:
    """Aggregate imbalance ``I = G max_g L_g − Σ_g L_g`` of a vector of loads (decode paper, section 2.3)."""
    return int(len(loads) * int(loads.max()) - int(loads.sum()))


def objective(instance: DecodeInstance, assignment: Assignment) -> Fraction:
    """``Σ_h γ^h I_h`` of an assignment, with the priorities of what is left waiting, exact."""
    return discounted_imbalance(instance, loads_after(instance, assignment)) + penalty(instance, assignment)


def discounted_imbalance(instance: DecodeInstance, after: np.ndarray) -> Fraction:
    """``Σ_h γ^h I_h`` of loads (G, H+1), exact."""
    above, below, total, scale = instance.gamma.numerator, instance.gamma.denominator, 0, 1
    for value in (len(after) * after.max(axis=0) - after.sum(axis=0)).tolist():  # Horner's rule in 1/γ
        total, scale = total * below + value * scale, scale * above
    return Fraction(total, below ** (after.shape[1] - 1))


def penalty(instance: DecodeInstance, assignment: Assignment) -> int:
    """``Σ π_i`` over the requests that the assignment leaves waiting; 0 without priorities."""
    if instance.priorities is None:
        return 0
    admitted = [i for chosen in assignment.workers for i in chosen]
    return int(instance.priorities.sum()) - int(instance.priorities[admitted].sum())


def check_assignment(instance: DecodeInstance, assignment: Assignment) -> None:
    """Raise `InstanceError` unless the assignment is feasible and maximal."""
    seen = [i for chosen in assignment.workers for i in chosen]
    if len(assignment.workers) != instance.workers:
        raise InstanceError(f"`assignment` must have {instance.workers} workers; got {len(assignment.workers)}.")
    if len(set(seen)) != len(seen) or any(not 0 <= i < len(instance.waiting) for i in seen):
        raise InstanceError("`assignment` must name each waiting request at most once, by its index in `waiting`.")
    for g, chosen in enumerate(assignment.workers):
        if len(chosen) > instance.free[g]:
            raise InstanceError(
                f"`assignment` gives worker {g} {len(chosen)} requests but it has {instance.free[g]} free slots."
            )
    if len(seen) != instance.admissions:
        raise InstanceError(f"`assignment` must admit exactly {instance.admissions} requests (maximality); got {len(seen)}.")


def _integers(name: str, values: Any, *, low: int) -> np.ndarray:
    """An int64 array from a list of whole numbers ≥ ``low``; errors name the entry."""
    if isinstance(values, np.ndarray):
        plain = values.dtype == np.int64 and values.ndim == 1
        if plain and values.min(initial=low) >= low and values.max(initial=0) < TOTAL_LIMIT:
            return values.copy()
        values = values.tolist()
    if not isinstance(values, Sequence) or isinstance(values, str | bytes):
        raise InstanceError(f"`{name}` must be a list of whole numbers; got {type(values).__name__}.")
    for i, v in enumerate(values):
        if isinstance(v, bool) or not isinstance(v, int | float | np.integer) or v != v or v in (float("inf"), -float("inf")):
            raise InstanceError(f"`{name}` must hold finite whole numbers; got {v!r} at index {i}.")
        if v != int(v):
            raise InstanceError(f"`{name}` must hold whole numbers of tokens; got {v!r} at index {i}. Round it first.")
        if v < low:
            raise InstanceError(f"`{name}` must be ≥ {low}; got {v!r} at index {i}.")
        if v >= TOTAL_LIMIT:
            raise SizeOverflowError(f"`{name}` must stay below {TOTAL_LIMIT}; got {v!r} at index {i}. Scale the sizes down.")
    return np.array([int(v) for v in values], dtype=np.int64)


def _projected(projected: Any, loads: np.ndarray) -> np.ndarray:
    if not isinstance(projected, Sequence | np.ndarray) or len(projected) != len(loads):
        raise InstanceError(f"`projected` must have one row a worker ({len(loads)}).")
    rows = [_integers(f"projected[{g}]", row, low=0) for g, row in enumerate(projected)]
    if len({len(row) for row in rows}) != 1 or len(rows[0]) == 0:
        raise InstanceError(f"`projected` must have rows of equal length ≥ 1; got lengths {[len(r) for r in rows]}.")
    for g, row in enumerate(rows):
        if row[0] != loads[g]:
            raise InstanceError(f"`projected` row {g} must start with loads[{g}] = {loads[g]}; got {row[0]}.")
    return np.array(rows, dtype=np.int64)


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object whose keys differ."""
    names = [name for name, _ in pairs]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"the key {name!r} comes twice. Give it once.")
    return dict(pairs)


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is not a number. Give finite values.")
