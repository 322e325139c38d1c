"""BR-0: BalanceRoute from current loads, no forecast (decode paper, section 5.1). A fast search for IO_0."""

from dataclasses import dataclass
from typing import ClassVar

from lbtheory.decode.policies._balance import BalancePolicy


@dataclass(slots=True, kw_only=True)
class Br0(BalancePolicy):
    """F-score ``F⁰_g(Q) = b − G (b − m_g)_+``: minus the change of imbalance when ``Q`` goes to ``g``."""

    name: ClassVar[str] = "br0"
