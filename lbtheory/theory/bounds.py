"""Everything that the theory says about one system: constants, exact benchmark, and every certificate at its sizes."""

import math
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any

from lbtheory.theory.benchmark_law import benchmark_law
from lbtheory.theory.blocks import best_pairs, block_imbalance, constant_block
from lbtheory.theory.frontier import computed_upper, sharper_upper, spread_upper, theorem1_upper
from lbtheory.theory.levelling import (
    LevelSystem,
    certify,
    certify_potential,
    chernoff_bound,
    closed_form,
    free_of_slots,
    potential_bound,
    supply_bound,
)
from lbtheory.theory.rich_supply import rich_bound, rich_bound_at
from lbtheory.theory.theorem1 import System, constants, sharper
from lbtheory.theory.tilting import lower_bound_constants

SHARES = (Fraction(1, 10), Fraction(1, 4), Fraction(2, 5))
"""Shares ``α`` of the smallest and largest prompts at which LEVEL's bound for supply as it comes is evaluated."""

SUPPLY = "liminf A(k)/k above the supply"
FULL = "every slot full"
EVERY_SIZE = "every size waits in any number (rich supply)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificate:
    """A proved statement ``limsup Ī ≤ value`` (or an exact value) for some policy at the given sizes.

    Attributes
    ----------
    name, policy : str
    value : float
        Tokens.
    ratio : float or None
        Exact FCFS law over the value; None at ``G = 1``.
    kind : str
        ``proved`` (paper), ``ours`` (proved here), ``ours, certified`` (evaluated in ball arithmetic), ``ours, exact``.
    supply : float or None
        Releases needed, requests an iteration (more than); None where ``every size in any number`` cannot come from this law.
    hypotheses : tuple of str
    """

    name: str
    policy: str
    value: float
    ratio: float | None
    kind: str
    supply: float | None
    hypotheses: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """Constants and bounds of the decode theorem at a system, beside the exact benchmark and the certificates.

    Attributes
    ----------
    sigma, rho, mu2, theta0, V, tau, kappa, epsilon, io_upper, jsq_lower, ratio_lower, supply_rate
        As in `lbtheory.theory.theorem1.Constants`; formula values, whatever the regime.
    lambda0, B0, B0_computed : float
        As in `lbtheory.theory.tilting.LowerBoundConstants`.
    jsq_exact, jsq_error : float
        Exact ``Ī`` of size-blind FCFS, tokens, and the bound on its error.
    idle_exact : float
        ``Ī/(G E M)``.
    normalised : float or None
        ``Ī/(G σ sqrt(B log G))``; None at ``G = 1``.
    spread_upper : float
        ``(G−1)(s + ε/p)``, SpreadLex's bound with the paper's ``ε`` (the sharper one is in ``sharper``).
    sharper : dict
        The sharper constants with the factors gained (`lbtheory.theory.theorem1.SharperConstants`).
    regime : dict of bool
        ``epsilon_le_s``, ``B_ge_B0`` (explicit), ``B_ge_B0_computed``, ``logG_ok``.
    certificates : tuple of Certificate
        Smallest value first; the first is in force.
    notes : dict
        Why a value is None, or a certificate is missing.
    """

    sigma: float
    rho: float
    mu2: float
    theta0: float
    V: float
    tau: float
    kappa: float
    epsilon: float
    io_upper: float
    jsq_lower: float
    ratio_lower: float | None
    lambda0: float
    B0: float
    B0_computed: float
    supply_rate: float
    jsq_exact: float
    jsq_error: float
    idle_exact: float
    normalised: float | None
    spread_upper: float
    sharper: dict[str, float | None]
    regime: dict[str, bool]
    certificates: tuple[Certificate, ...]
    notes: dict[str, str]

    def as_json(self) -> dict[str, Any]:
        """Plain data; certificates as dictionaries."""
        plain = {field.name: getattr(self, field.name) for field in fields(self)}
        rows = [{field.name: getattr(one, field.name) for field in fields(one)} for one in self.certificates]
        return plain | {"certificates": [row | {"hypotheses": list(row["hypotheses"])} for row in rows]}


def bounds(of: System, *, blocks: bool = True, potential: bool = False) -> Bounds:
    """Evaluate everything.

    Parameters
    ----------
    of : System
    blocks : bool
        Whether to search for the best pairs of slots (seconds for prompts of thousands of sizes).
    potential : bool
        Whether to find and certify LEVEL's potential bound (Theorem P): the sharpest where few requests complete in an
        iteration, seconds to minutes.
    """
    known, lower = constants(of), lower_bound_constants(of)
    law = benchmark_law(of.p, of.law, of.slots)
    exact, error = law.imbalance(of.workers)
    found = sharper(of)
    notes: dict[str, str] = {}
    if of.workers == 1:
        notes["ratio_lower"] = notes["normalised"] = notes["certificates"] = "one worker has no imbalance: 0/0"
    certificates = [] if of.workers == 1 else _certificates(of, exact, blocks, potential, notes)
    return Bounds(
        **{name: getattr(known, name) for name in _SHARED},
        lambda0=lower.lambda0,
        B0=lower.B0,
        B0_computed=lower.B0_computed,
        jsq_exact=exact,
        jsq_error=error,
        idle_exact=law.idle_fraction(of.workers),
        normalised=None if of.workers == 1 else law.normalised(of.workers),
        spread_upper=(of.workers - 1) * (of.s + known.epsilon / float(of.p)),
        sharper={field.name: getattr(found, field.name) for field in fields(found)},
        regime={
            "epsilon_le_s": known.epsilon <= of.s,
            "B_ge_B0": of.slots >= lower.B0,
            "B_ge_B0_computed": of.slots >= lower.B0_computed,
            "logG_ok": math.log(of.workers) <= 64 * lower.lambda0**2 * known.sigma**2 * of.slots,
        },
        certificates=tuple(sorted(certificates, key=lambda one: one.value)),
        notes=notes,
    )


_SHARED = (
    *("sigma", "rho", "mu2", "theta0", "V", "tau", "kappa", "epsilon"),
    *("io_upper", "jsq_lower", "ratio_lower", "supply_rate"),
)


def _certificates(of: System, exact: float, blocks: bool, potential: bool, notes: dict[str, str]) -> list[Certificate]:
    """Every certificate that applies; what does not is said in ``notes``."""
    made: list[Certificate] = []

    def add(name: str, policy: str, value: float, kind: str, supply: Fraction | float | None, *hypotheses: str) -> None:
        rate = None if supply is None else float(supply)
        made.append(
            Certificate(
                name=name, policy=policy, value=value, ratio=exact / value, kind=kind, supply=rate, hypotheses=hypotheses
            )
        )

    rate = of.n * of.p / (1 - of.law.commonest)
    add("theorem-1", "IO_0", theorem1_upper(of), "proved", rate, SUPPLY)
    add("theorem-1, sharper constants", "IO_0", sharper_upper(of), "ours", rate, SUPPLY)
    add("theorem-1, excess computed", "IO_0", computed_upper(of), "ours", rate, SUPPLY)
    add("spread-lex", "SpreadLex", spread_upper(of), "ours", rate, SUPPLY)
    if len(of.law.sizes) == of.s - of.law.smallest + 1:
        _rich(of, add, blocks)
        if potential:
            _potential(of, add, notes)
    else:
        notes["rich supply"] = "the law gives no weight to some sizes between its smallest and largest: they cannot be supplied"
    for share in SHARES:
        try:
            one = supply_bound(of.p, of.law, share, of.workers, of.slots)
        except ValueError as error:
            notes[f"level, supply as it comes, α = {share}"] = str(error)
            continue
        text = f"the smallest and the largest {share} of the prompts are in supply"
        add(f"level, supply as it comes, α = {share}", "LEVEL", one.value, "ours", one.releases, SUPPLY, text)
    return made


def _rich(of: System, add: Any, blocks: bool) -> None:
    """Certificates for rich supply of every size from the smallest to the largest."""
    p, workers, slots, low, high = of.p, of.workers, of.slots, of.law.smallest, of.s
    sizes = high - low + 1
    rate = of.n * p * of.law.total / min(of.law.weights)
    level = LevelSystem(p=p, low=low, high=high, workers=workers, slots=slots)
    target = ("constant integer target", EVERY_SIZE, FULL)
    add("rich supply, free of B", "IO_0, SpreadLex", rich_bound(p, sizes, workers), "ours", rate, SUPPLY, EVERY_SIZE)
    add("rich supply", "IO_0, SpreadLex", rich_bound_at(p, sizes, workers, slots), "ours", rate, SUPPLY, EVERY_SIZE)
    add("level", "LEVEL", certify(chernoff_bound(level)).value, "ours, certified", rate, SUPPLY, *target)
    add("level, closed form", "LEVEL", closed_form(level).value, "ours", rate, SUPPLY, *target)
    add("level, free of B", "LEVEL", free_of_slots(level), "ours", rate, SUPPLY, *target)
    constant = block_imbalance(constant_block(p, low), slots, workers)[0]
    one_size = of.n * p / of.law.commonest
    add("constant size", "one size only", constant, "ours, exact", one_size, SUPPLY, "only the commonest size is admitted")
    if blocks and low == 1:
        pairs = best_pairs(p, high, workers, slots)
        supply = of.n * p * Fraction(pairs.block.overload(of.law))
        text = f"pairs of slots with target {pairs.block.target}"
        add("pairs", "pairs", pairs.imbalance, "ours, exact", supply, SUPPLY, EVERY_SIZE, text)


def _potential(of: System, add: Any, notes: dict[str, str]) -> None:
    """LEVEL's potential bound, certified."""
    level = LevelSystem(p=of.p, low=of.law.smallest, high=of.s, workers=of.workers, slots=of.slots)
    rate = of.n * of.p * of.law.total / min(of.law.weights)
    try:
        found = certify_potential(potential_bound(level))
    except ValueError as error:
        notes["level, potential"] = str(error)
        return
    add("level, potential", "LEVEL", found.value, "ours, certified", rate, SUPPLY, "constant integer target", EVERY_SIZE, FULL)
