"""What is wrong with the protected rows, for the steward's own screen."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from hushway.errors import DataError

Severity = Literal["refuse", "drop", "note"]


@dataclass(frozen=True, kw_only=True)
class Problem:
    """One kind of trouble with the rows.

    Privacy:
        Counts rows exactly. It is for the steward's own screen and never enters a release, a log or
        an error's message.

    Attributes:
        kind: A short name; those of `Policy`, or a note such as `duplicate_rows`.
        message: What was found, as a sentence without any value of a row.
        count: How many rows it concerns, if they can be counted.
        advice: What the steward can do about it.
        severity: What the plan says: "refuse", "drop", or "note" if the rows are counted.
    """

    kind: str
    message: str
    count: int | None
    advice: str
    severity: Severity

    @property
    def rule(self) -> Severity:
        """What the plan says."""
        return self.severity

    @property
    def refused(self) -> bool:
        """Whether the plan refuses to go on."""
        return self.severity == "refuse"


def refuse_problems(problems: Iterable[Problem]) -> None:
    """Refuses to go on if the plan says so.

    Raises:
        DataError: The plan refuses one of the problems; the message has no count in it.
    """
    refused = [problem.kind.replace("_", " ") for problem in problems if problem.refused]
    if refused:
        raise DataError(
            f"The rows cannot be used as the plan says: {', '.join(refused)}.",
            advice="See them with: hushway check PLAN; then correct the rows or let the plan drop "
            "them.",
        )
