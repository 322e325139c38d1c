"""What a solver found out. The text of a member says what to do."""

from enum import Enum


class SolverStatus(Enum):
    """Status of an exact solve; ``remedy`` says what a user can do about it."""

    OPTIMAL = "optimal"
    FEASIBLE = "feasible"
    INFEASIBLE = "infeasible"
    UNKNOWN = "unknown"

    @property
    def remedy(self) -> str:
        """What to do with an answer of this status."""
        return {
            SolverStatus.OPTIMAL: "The answer is proved; nothing to do.",
            SolverStatus.FEASIBLE: "Not proved optimal: read the gap, or raise the time limit.",
            SolverStatus.INFEASIBLE: "No assignment satisfies the constraints: check sizes, slots and caps.",
            SolverStatus.UNKNOWN: "No answer was found in time: raise the time limit or shrink the instance.",
        }[self]
