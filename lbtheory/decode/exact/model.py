"""The assignments of a `Program` as a CP-SAT model, in class-count or binary form, and a solve that returns exact integers.

CP-SAT reports objectives as doubles. Here the value of an answer is always recomputed from its counts, and the bound is the
solver's 64-bit inner bound of an objective without offset, so neither is ever rounded. The solver's gap limits are set to
zero: with its default it may call two values equal that differ by less than a double can tell.
"""

import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from lbtheory.core import LBTheoryError, ParameterError, SizeOverflowError, SolverStatus
from lbtheory.decode.exact.program import Program
from lbtheory.decode.exact.weights import Weights

FORMULATIONS = ("class-count", "binary")


@dataclass(slots=True)
class Linear:
    """``Σ coefficient · variable + constant`` with integers."""

    variables: list[Any] = field(default_factory=list)
    coefficients: list[int] = field(default_factory=list)
    constant: int = 0

    def add(self, variables: list[Any], coefficients: list[int]) -> None:
        """Add terms."""
        self.variables += variables
        self.coefficients += coefficients


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What one solve found: ``status``, class counts ``y`` (F, n) or None, proved lower bound of the objective or None."""

    status: SolverStatus
    y: np.ndarray | None
    bound: int | None


class Clock:
    """Wall time since the start and what is left of a limit."""

    def __init__(self, limit: float | None, *, function: str) -> None:
        if limit is not None and not (limit > 0):
            raise ParameterError(
                f"`time_limit` of `{function}` must be a positive number of seconds or None; got {limit}. "
                "Leave it out for no limit."
            )
        self._start = time.perf_counter()
        self._limit = limit

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return time.perf_counter() - self._start

    @property
    def left(self) -> float | None:
        """Seconds left, None without a limit."""
        return None if self._limit is None else max(0.0, self._limit - self.seconds)

    @property
    def over(self) -> bool:
        """Whether the limit is used up."""
        return self._limit is not None and self.seconds >= self._limit


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """How CP-SAT searches: random seed, threads (1 is deterministic), clock, and the caller's name for messages.

    Presolve is off: these models have nothing to simplify, and without it the usual ones take a third of the time.
    """

    seed: int
    workers: int
    clock: Clock
    function: str
    presolve: bool = False


class CountModel:
    """CP-SAT model of all maximal assignments of a program.

    Parameters
    ----------
    program : Program
    binary : bool
        One variable a request and worker in place of one a size and worker.
    lower, upper : int arrays (F, n), optional
        Bounds of the class counts (class-count form only).
    """

    def __init__(
        self, program: Program, *, binary: bool = False, lower: np.ndarray | None = None, upper: np.ndarray | None = None
    ) -> None:
        from ortools.sat.python import cp_model

        self.cp_model, self.program = cp_model, program
        self.model = cp_model.CpModel()
        self.label = np.repeat(np.arange(len(program.sizes)), program.counts if binary else 1)
        self.sizes = [int(program.sizes[t]) for t in self.label]
        many = [1] * len(self.label) if binary else [int(m) for m in program.counts]
        must = _forced_columns(program) if binary else [int(m) for m in program.forced]
        self.y: list[list[Any]] = []
        self.x: list[Any] = []
        self.n: list[Any] = []
        for f, slots in enumerate(program.slots):
            low = [0] * len(many) if lower is None else [int(v) for v in lower[f]]
            high = [min(m, slots) for m in many] if upper is None else [int(v) for v in upper[f]]
            row = [self.model.new_int_var(a, b, "") for a, b in zip(low, high, strict=True)]
            self._add_worker(row, f)
        total = cp_model.LinearExpr.sum
        for t, m in enumerate(many):
            self.model.add_linear_constraint(total([row[t] for row in self.y]), must[t] if program.filled else m, m)

    def _add_worker(self, row: list[Any], f: int) -> None:
        """Slots and total size ``x_f`` of open worker ``f``."""
        program, linear = self.program, self.cp_model.LinearExpr
        slots = program.slots[f]
        self.y.append(row)
        if program.filled:
            self.n.append(slots)
            self.model.add(linear.sum(row) == slots)
        else:
            self.n.append(self.model.new_int_var(0, slots, ""))
            self.model.add(linear.sum(row) == self.n[f])
        low = program.smallest(slots) if program.filled else 0
        self.x.append(self.model.new_int_var(low, program.largest(slots), ""))
        self.model.add(linear.weighted_sum(row, self.sizes) == self.x[f])

    def load(self, f: int, h: int = 0) -> Linear:
        """Shifted load of open worker ``f`` at offset ``h``."""
        row = Linear([self.x[f]], [1], int(self.program.base[f, h]))
        if h and not self.program.filled:
            row.add([self.n[f]], [h])
        return row

    def at_least(self, terms: Linear, low: int) -> None:
        """Add ``terms ≥ low``."""
        self.model.add(self._expression(terms) >= low - terms.constant)

    def at_most(self, terms: Linear, high: int) -> None:
        """Add ``terms ≤ high``."""
        self.model.add(self._expression(terms) <= high - terms.constant)

    def at_most_unless(self, terms: Linear, high: int, literal: Any) -> None:
        """Add ``terms ≤ high`` unless ``literal`` is true."""
        self.model.add(self._expression(terms) <= high - terms.constant).only_enforce_if(~literal)

    def peak(self, h: int = 0) -> tuple[Any, int]:
        """A variable ``v`` and a constant with ``v + constant ≥`` every load at offset ``h``."""
        low, high = self.program.least_peak(h), self.program.most_peak(h)
        v = self.model.new_int_var(0, high - low, "")
        for f in range(len(self.x)):
            load = self.load(f, h)
            load.add([v], [-1])
            self.at_most(load, low)
        return v, low

    def imbalance(self, peak: tuple[Any, int], h: int = 0) -> Linear:
        """``I_h`` of the loads and their maximum, with its range bound as a cut."""
        program = self.program
        constant = program.instance.workers * peak[1] - int(program.base[:, h].sum()) - int(program.full[:, h].sum())
        if not program.filled:
            constant -= h * program.instance.admissions
        terms = Linear([peak[0], *self.x], [program.instance.workers, *([-1] * len(self.x))], constant)
        self.at_least(terms, program.range_bound(h))
        return terms

    def discounted(self, weights: Weights) -> Linear:
        """``Σ_h w_h I_h``."""
        total = Linear(constant=0)
        on_size = 0
        for h, w in enumerate(weights.values):
            terms = self.imbalance(self.peak(h), h)
            total.add([terms.variables[0]], [w * terms.coefficients[0]])
            total.constant += w * terms.constant
            on_size -= w
        total.add(list(self.x), [on_size] * len(self.x))
        return total

    def on_counts(self, tie: np.ndarray) -> Linear:
        """``Σ_{f,t} tie_{f,t} y_{f,t}`` (class-count form only)."""
        return Linear([v for row in self.y for v in row], [int(w) for w in tie.ravel()])

    def hint(self, y: np.ndarray) -> None:
        """Start from the class counts ``y``."""
        if len(self.label) != len(self.program.sizes):
            y = _spread(y, self.label)
        for f, row in enumerate(self.y):
            for t, v in enumerate(row):
                self.model.add_hint(v, int(y[f, t]))

    def minimise(self, terms: Linear, search: Search) -> Outcome:
        """Minimise ``terms`` and read the answer in exact integers.

        Raises
        ------
        SizeOverflowError
        """
        self.model.minimize(self._expression(terms))
        solver, found = run_cp_sat(self.model, search)
        y = None
        if found is not SolverStatus.UNKNOWN:
            y = np.zeros((len(self.y), len(self.program.sizes)), dtype=np.int64)
            for f, row in enumerate(self.y):
                np.add.at(y[f], self.label, [solver.value(v) for v in row])
        bound = int(solver.response_proto.inner_objective_lower_bound) + terms.constant
        # without an answer the solver may not have set its bound at all
        return Outcome(status=found, y=y, bound=bound if y is not None else None)

    def _expression(self, terms: Linear) -> Any:
        return self.cp_model.LinearExpr.weighted_sum(terms.variables, terms.coefficients)


def run_cp_sat(model: Any, search: Search) -> tuple[Any, SolverStatus]:
    """Solve a CP-SAT model that has an answer: the solver, and whether its answer is optimal, feasible, or not there.

    Raises
    ------
    SizeOverflowError
        When CP-SAT refuses the model, which here can only mean that its numbers are too large.
    """
    from ortools.sat.python import cp_model as cp

    solver = cp.CpSolver()
    solver.parameters.num_workers = search.workers
    solver.parameters.random_seed = search.seed
    solver.parameters.absolute_gap_limit = 0.0
    solver.parameters.relative_gap_limit = 0.0
    solver.parameters.cp_model_presolve = search.presolve
    if search.clock.left is not None:
        solver.parameters.max_time_in_seconds = search.clock.left
    status = solver.solve(model)
    if status == cp.MODEL_INVALID:
        raise SizeOverflowError(
            f"`instance` of `{search.function}` must fit 64-bit integers; "
            f"CP-SAT refused the model: {model.validate()}. Scale the sizes down or shorten the horizon."
        )
    if status == cp.INFEASIBLE:
        raise LBTheoryError(
            f"CP-SAT found no assignment in `{search.function}` although one is known. Please report the instance."
        )
    return solver, {cp.OPTIMAL: SolverStatus.OPTIMAL, cp.FEASIBLE: SolverStatus.FEASIBLE}.get(status, SolverStatus.UNKNOWN)


def _forced_columns(program: Program) -> list[int]:
    """For each request (class by class) whether it must be admitted; those that must come first in their class."""
    return [int(k < program.forced[t]) for t, m in enumerate(program.counts) for k in range(int(m))]


def _spread(y: np.ndarray, label: np.ndarray) -> np.ndarray:
    """Class counts as binaries a request, in class order."""
    out = np.zeros((len(y), len(label)), dtype=np.int64)
    for t in range(y.shape[1]):
        where = iter(np.flatnonzero(label == t))
        for f in range(len(y)):
            for _ in range(int(y[f, t])):
                out[f, next(where)] = 1
    return out
