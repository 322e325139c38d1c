"""Experiments that write tables, and the figures and the report that read them.

An experiment is a folder ``experiments/<name>``, a figure or published table a folder ``paper_figures/<name>``; adding
one is adding a folder, and there is no list elsewhere (`lbtheory.study.discovery` has the contract of both).
`reproduce` runs what is asked for and writes everything under one folder, with ``report.html``.
"""

from lbtheory.study.discovery import Catalogue as Catalogue
from lbtheory.study.discovery import Cell as Cell
from lbtheory.study.discovery import discover as discover
from lbtheory.study.pipeline import Outcome as Outcome
from lbtheory.study.pipeline import rebuild as rebuild
from lbtheory.study.pipeline import reproduce as reproduce
