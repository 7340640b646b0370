"""Rolling limits: what releases of any so many consecutive steps may cost together."""

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from fractions import Fraction
from typing import Final, Literal, cast, get_args

from hushway.errors import BudgetError, LedgerError
from hushway.privacy.ledger.window import Window

Step = Literal["day", "week", "month", "quarter"]
Charged = tuple[Window, Fraction]
"""Days, and what was charged for them."""

_WRITTEN = re.compile(r"([1-9][0-9]{0,3}) (day|week|month|quarter)", re.ASCII)
_NAMES: Final[dict[Step, tuple[re.Pattern[str], str]]] = {
    "day": (re.compile(r"(\d{4})-(\d\d)-(\d\d)", re.ASCII), "2026-04-30"),
    "week": (re.compile(r"(\d{4})-W(\d\d)", re.ASCII), "2026-W18"),
    "month": (re.compile(r"(\d{4})-(\d\d)", re.ASCII), "2026-04"),
    "quarter": (re.compile(r"(\d{4})-Q([1-4])", re.ASCII), "2026-Q2"),
}
_WEEK, _MONTHS, _QUARTER = 7, 12, 3
MOST_STEPS: Final = 9999


@dataclass(frozen=True, kw_only=True)
class Span:
    """So many consecutive steps of the calendar.

    Attributes:
        step: What one step is; weeks begin on Mondays.
        steps: How many steps one span has.
    """

    step: Step
    steps: int

    def __post_init__(self) -> None:
        if self.step not in get_args(Step) or not 1 <= self.steps <= MOST_STEPS:
            raise BudgetError(
                f"A span has 1 to {MOST_STEPS:,} days, weeks, months or quarters.",
                advice="Such as 12 months.",
            )

    def __str__(self) -> str:
        return f"any {self.steps} consecutive {self.step}s" if self.steps > 1 else f"a {self.step}"

    @classmethod
    def from_text(cls, text: str) -> "Span":
        """Reads a span back."""
        found = _WRITTEN.fullmatch(text)
        if found is None:
            raise LedgerError(
                "The span of a rolling limit cannot be read.",
                advice="Compare the ledger with a backup before spending again: it was edited.",
            )
        steps, step = found.groups()
        return cls(step=cast("Step", step), steps=int(steps))

    def to_text(self) -> str:
        """Returns the span as it is stored and sealed."""
        return f"{self.steps} {self.step}"

    def number(self, day: date) -> int:
        """Returns the number of the step that a day lies in; the next one has the next number."""
        month = day.year * _MONTHS + day.month - 1
        days = day.toordinal() - 1
        return {
            "day": days,
            "week": days // _WEEK,
            "month": month,
            "quarter": month // _QUARTER,
        }[self.step]

    def days(self, name: str) -> tuple[date, date]:
        """Returns the first and the last day of a step by its name, such as 2026-04.

        Raises:
            BudgetError: There is no step of that name.
        """
        pattern, example = _NAMES[self.step]
        found = pattern.fullmatch(name)
        try:
            first = self._first_day([int(part) for part in found.groups()] if found else [])
        except ValueError:
            raise BudgetError(
                f"There is no {self.step} {name!r}.",
                advice=f"Name the step as {example}: a series goes by the {self.step}.",
            ) from None
        number, last = self.number(first), first
        while self.number(last + timedelta(days=1)) == number:
            last += timedelta(days=1)
        return first, last

    def name(self, day: date) -> str:
        """Returns the name of the step that a day lies in, such as 2026-04."""
        if self.step == "day":
            return day.isoformat()
        if self.step == "week":
            year, week, _ = day.isocalendar()
            return f"{year:04}-W{week:02}"
        if self.step == "month":
            return f"{day.year:04}-{day.month:02}"
        return f"{day.year:04}-Q{(day.month - 1) // _QUARTER + 1}"

    def names(self, first_day: date, last_day: date) -> Iterator[str]:
        """Yields the names of all steps that hold one of some days, in order."""
        day = first_day
        while day <= last_day:
            yield self.name(day)
            day = self.days(self.name(day))[1] + timedelta(days=1)

    def _first_day(self, parts: list[int]) -> date:
        year, *rest = parts or [0]
        match self.step, rest:
            case "day", [month, day]:
                return date(year, month, day)
            case "week", [week]:
                return date.fromisocalendar(year, week, 1)
            case "month", [month]:
                return date(year, month, 1)
            case "quarter", [quarter]:
                return date(year, _QUARTER * (quarter - 1) + 1, 1)
        raise ValueError(parts)

    def fullest(self, charged: Iterable[Charged], window: Window | None = None) -> Fraction:
        """Returns what the fullest of all spans holds.

        Privacy:
            A release whose days lie in several steps counts in each span that holds one of them, in
            full.

        Args:
            charged: What was charged, and for which days.
            window: Days; only spans count that hold one of them.
        """
        first, last = (None, None) if window is None else self._spans_with(window)
        fullest = held = Fraction(0)
        # From a change on, the spans that begin there hold so much, until the next change.
        for start, after, change in self._changes(charged):
            held += change
            if (last is None or start <= last) and (first is None or after > first):
                fullest = max(fullest, held)
        return fullest

    def _spans_with(self, window: Window) -> tuple[int, int]:
        """Returns the first and the last step at which spans begin that hold a day of a window."""
        first, last = self.number(window.first_day), self.number(window.last_day)
        return first - self.steps + 1, last

    def _changes(self, charged: Iterable[Charged]) -> Iterator[tuple[int, float, Fraction]]:
        changes: dict[int, Fraction] = {}
        for window, amount in charged:
            first, last = self._spans_with(window)
            changes[first] = changes.get(first, Fraction(0)) + amount
            changes[last + 1] = changes.get(last + 1, Fraction(0)) - amount
        starts = sorted(changes)
        for start, after in zip(starts, [*starts[1:], math.inf], strict=False):
            yield start, after, changes[start]
