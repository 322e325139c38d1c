"""Theorem A with its refinements, joined with Theorem M: the bound of ``limsup E I`` for LEVEL (ours, proved)."""

from dataclasses import dataclass
from fractions import Fraction

from lbtheory.theory.levelling._envelope import largest_mean
from lbtheory.theory.levelling.moments import check_target
from lbtheory.theory.levelling.side import LevelSide, side_bound
from lbtheory.theory.levelling.system import LevelSystem


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelBound:
    """``limsup E I ≤ value``, in double precision; `certify` makes it rigorous.

    Attributes
    ----------
    system : LevelSystem
    target : int
        ``T``, tokens.
    value : float
        ``G (spread + lower)``, tokens.
    spread : float
        Bound of ``E(max_g e_g⁺ − e⁺)``.
    upper, lower : float
        Bounds of ``E max_g e_g⁺`` and of ``E e⁻``; ``G (upper + lower)`` is the coarser bound.
    above, below : LevelSide
        The two sides, with every multiplier.
    """

    system: LevelSystem
    target: int
    value: float
    spread: float
    upper: float
    lower: float
    above: LevelSide
    below: LevelSide


def chernoff_bound(system: LevelSystem, *, target: int | None = None) -> LevelBound:
    """Theorems A and M (ours, proved): ``limsup E I ≤ G [E(max_g e_g⁺ − e⁺) + E e⁻]`` for LEVEL at the given ``B``.

    Hypotheses: every size ``low … high`` in rich supply (as many of each as slots complete), slots always full, outputs
    ``Geo(p)``, a constant **integer** target ``T``: then ``e' > 0`` implies that every prompt admitted in that iteration is
    the smallest, ``e' < 0`` the largest, which is all that the proof uses of the rule. ``I = Σ_g (max e − e_g)`` and ``−e ≤
    e⁻ − e⁺`` give the bound; keeping ``−e⁺``, and ``min(X, d − 1)`` for the cost of a block, are refinements of the theorem
    as first stated.

    Checked: proofs re-derived; ``log φ`` against direct sums; tails and means against simulation of the clamp chain and
    against the exact stationary law of one and two slots.

    Parameters
    ----------
    system : LevelSystem
    target : int, optional
        ``T``; by default `LevelSystem.target`. Any integer gives a proved bound of LEVEL with that target.

    Raises
    ------
    ParameterError
        A target that is not an integer.
    """
    target = check_target(system, target, "chernoff_bound")
    level, size = Fraction(system.shifted(target)), system.s
    above = side_bound(p=system.p, s=size, renewal=1, slots=system.slots, level=level, upper=True)
    below = side_bound(p=system.p, s=size, renewal=size, slots=system.slots, level=level, upper=False, above=above.mean)
    upper, spread = largest_mean(*above.minorant(), system.workers)
    return LevelBound(
        system=system,
        target=target,
        value=system.workers * (spread + below.mean),
        spread=spread,
        upper=upper,
        lower=below.mean,
        above=above,
        below=below,
    )
