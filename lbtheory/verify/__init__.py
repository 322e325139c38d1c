"""Where theory meets a simulator: every claim is an object with a check, and the ledger runs them all.

A claim (`lbtheory.verify.claim.Claim`) states its source, hypotheses and kind (proved, corollary, ours, empirical); its check
gives a `Verdict`. Trajectories come from the decode engine driven by explicit ghost coins (`lbtheory.verify.ghost`), one a slot
and iteration, also for empty slots. Claims are the modules of `lbtheory.verify.claims`, one a file; there is no list elsewhere.
"""

from lbtheory.verify.claim import Claim as Claim
from lbtheory.verify.claim import Kind as Kind
from lbtheory.verify.laboratory import Laboratory as Laboratory
from lbtheory.verify.ledger import Entry as Entry
from lbtheory.verify.ledger import all_claims as all_claims
from lbtheory.verify.ledger import run_ledger as run_ledger
from lbtheory.verify.verdict import Outcome as Outcome
from lbtheory.verify.verdict import Verdict as Verdict
