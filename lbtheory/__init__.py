"""lbtheory: load balancing for large-language-model serving, computable, checkable and reproducible.

Packages
--------
``core``
    Errors, random streams, solver status, frozen arrays.
``decode``
    Barrier-synchronised decode workers: instances, policies, engines, traces, records.
``study``, ``plots``
    Experiments that write tables, and the figures and report that read them.

Heavy libraries are imported where they are used, so ``import lbtheory`` costs nothing.
"""

__version__ = "0.1.0"
