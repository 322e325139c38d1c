"""The ledger: every claim and what its check says."""

import importlib
import pkgutil
import time
import traceback
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from lbtheory.core import UnknownNameError
from lbtheory.verify.claim import Claim
from lbtheory.verify.laboratory import Laboratory
from lbtheory.verify.verdict import Outcome, Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One line of the ledger."""

    claim: Claim
    verdict: Verdict
    seconds: float

    def as_json(self) -> dict[str, Any]:
        """Plain data with every field of claim and verdict."""
        one, found = self.claim, self.verdict
        return {
            "id": one.id,
            "kind": one.kind.value,
            "verdict": found.outcome.value,
            "lhs": found.lhs,
            "rhs": found.rhs,
            "margin": found.margin,
            "uncertainty": found.uncertainty,
            "tried": found.tried,
            "reason": found.reason,
            "statement": one.statement,
            "source": one.source,
            "hypotheses": list(one.hypotheses),
            "seconds": self.seconds,
        }


@cache
def all_claims() -> dict[str, Claim]:
    """Every claim by its id: ``CLAIM`` of each module of `lbtheory.verify.claims`, in the order of their ``ORDER``."""
    from lbtheory.verify import claims

    modules = [importlib.import_module(f"{claims.__name__}.{one.name}") for one in pkgutil.iter_modules(claims.__path__)]
    found = sorted((module.ORDER, module.CLAIM) for module in modules if hasattr(module, "CLAIM"))
    return {claim.id: claim for _, claim in found}


def select(ids: Iterable[str]) -> list[Claim]:
    """The claims named, all of them when none is.

    Raises
    ------
    UnknownNameError
    """
    known = all_claims()
    names = list(ids)
    for name in names:
        if name not in known:
            raise UnknownNameError("claim", name, known)
    return [known[name] for name in names] if names else list(known.values())


def run_ledger(
    claims: Sequence[Claim], laboratory: Laboratory, progress: Callable[[int, int, Claim], None] | None = None
) -> list[Entry]:
    """Check each claim. A check that raises is ``inconclusive`` with the error as its reason: it has not been checked.

    Parameters
    ----------
    claims : sequence of Claim
    laboratory : Laboratory
    progress : callable, optional
        Called with (done, all, claim) before each check.
    """
    entries = []
    for number, claim in enumerate(claims):
        if progress is not None:
            progress(number, len(claims), claim)
        began = time.perf_counter()
        try:
            verdict = claim.check(laboratory)
        except Exception as error:
            place = traceback.extract_tb(error.__traceback__)[-1]
            verdict = Verdict(
                outcome=Outcome.INCONCLUSIVE,
                lhs=None,
                rhs=None,
                margin=None,
                tried="the check broke",
                reason=f"{type(error).__name__}: {error} ({place.name}, line {place.lineno})",
            )
        entries.append(Entry(claim=claim, verdict=verdict, seconds=time.perf_counter() - began))
    return entries
