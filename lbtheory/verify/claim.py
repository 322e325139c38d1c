"""What a claim is."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from lbtheory.verify.verdict import Verdict

if TYPE_CHECKING:
    from lbtheory.verify.laboratory import Laboratory


class Kind(StrEnum):
    """Where a claim comes from."""

    PROVED = "proved"
    """In the paper, with proof."""
    COROLLARY = "corollary"
    """Follows at once from what the paper proves."""
    OURS = "ours"
    """Proved here."""
    EMPIRICAL = "empirical"
    """Observed, not proved."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A statement that can be checked.

    Attributes
    ----------
    id : str
        Lower case, hyphenated.
    statement : str
        The formula.
    source : str
        Paper and place, or "ours".
    hypotheses : tuple of str
        What it stands on.
    kind : Kind
    check : callable
        Takes the `Laboratory`, returns a `Verdict`; a failed hypothesis is ``inconclusive`` with its reason.
    """

    id: str
    statement: str
    source: str
    hypotheses: tuple[str, ...]
    kind: Kind
    check: "Callable[[Laboratory], Verdict]"
