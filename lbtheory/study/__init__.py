"""Experiments that write tables, and the figures and the report that read them.

An experiment is a folder ``experiments/<name>``, a figure or published table a folder ``paper_figures/<name>``; adding
one is adding a folder, and there is no list elsewhere (`lbtheory.study.discovery` has the contract of both).
`reproduce` runs what is asked for and writes everything under one folder, with ``report.html``. Cells run on an engine and
their results are kept in a store, so a run that was stopped goes on where it was and a rerun computes only what changed.
"""

from lbtheory.study.discovery import Catalogue as Catalogue
from lbtheory.study.discovery import Cell as Cell
from lbtheory.study.discovery import discover as discover
from lbtheory.study.engines import make_engine as make_engine
from lbtheory.study.pipeline import Outcome as Outcome
from lbtheory.study.pipeline import rebuild as rebuild
from lbtheory.study.pipeline import reproduce as reproduce
from lbtheory.study.runner import Interrupted as Interrupted
from lbtheory.study.status import begun as begun
from lbtheory.study.status import cells_stored as cells_stored
from lbtheory.study.status import clean as clean
from lbtheory.study.status import listing as listing
from lbtheory.study.store import Store as Store
from lbtheory.study.store import StoreError as StoreError
