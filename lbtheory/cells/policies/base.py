"""What a policy declares; the compiled engine runs it."""

from dataclasses import dataclass

MECHANISMS = ("random", "mnlb", "discrete", "flow", "least-connections", "power-of-two", "hot-cold", "clairvoyant")
COSTS = ("rif", "latency", "gradient")


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """A routing policy of the roots.

    Attributes
    ----------
    name : str
        As on the command line.
    mechanism : str
        One of `MECHANISMS`.
    cost : str
        One of `COSTS`; what snapshots carry and what discrete and flow routing go by.
    needs_model : bool
        Whether latency models must be given or estimated.
    averse : bool
        Whether error aversion applies.
    about : str
        One line.
    """

    name: str
    mechanism: str
    cost: str = "rif"
    about: str
    averse: bool = True

    @property
    def needs_model(self) -> bool:
        """Every cost but RIF is a function of a latency model."""
        return self.cost != "rif"
