"""BR-0: BalanceRoute from current loads, no forecast (decode paper, section 5.1). A fast search for IO_0."""

from dataclasses import dataclass
from typing import ClassVar

from lbtheory.decode.policies._balance import BalancePolicy
from lbtheory.decode.policies.base import check_pause


@dataclass(slots=True, kw_only=True)
class Br0(BalancePolicy):
    """F-score ``F⁰_g(Q) = b − G (b − m_g)_+``: minus the change of imbalance when ``Q`` goes to ``g``.

    ``pause`` relaxes the barrier, as for the FCFS rules.
    """

    name: ClassVar[str] = "br0"
    pause: float | None = None

    def __post_init__(self) -> None:
        BalancePolicy.__post_init__(self)
        check_pause(self.name, self.pause)
