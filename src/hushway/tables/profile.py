"""What the protected rows are like as a whole, for the steward's own screen.

Privacy:
    All of it is exact, and nothing of it is covered by a guarantee. It may be shown to the steward
    and must not enter a release, a certificate, a ledger, a log or an error's message.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any, Final

import numpy as np

from hushway.arrays import IntArray

# A contribution limit that keeps so much of what it limits is worth suggesting.
WORTH_KEEPING: Final = 0.95
_QUANTILES: Final = (0.5, 0.9, 0.99)


@dataclass(frozen=True, kw_only=True)
class TimesFound:
    """When the rows were, on the agency's clock, beside the window of the plan.

    Attributes:
        first_day: The day of the earliest time that could be read.
        last_day: The day of the latest.
        window: First and last day of the plan's window.
        days_with_rows: How many days of the window have a row.
        window_days: How many days the window has.
        hours: Number of rows in each of the 24 hours of the day, over all days.
        service: The hours of the plan, in minutes since midnight.
    """

    first_day: date
    last_day: date
    window: tuple[date, date]
    days_with_rows: int
    window_days: int
    hours: tuple[int, ...]
    service: tuple[int, int]


@dataclass(frozen=True, kw_only=True, repr=False)
class UnknownName:
    """A name in the rows that the public list does not have.

    Attributes:
        name: The name.
        rows: How many rows have it.
        nearest: The id of the listed place that it is most like; None if it is like none.
    """

    name: str
    rows: int
    nearest: str | None


@dataclass(frozen=True, kw_only=True, repr=False)
class PlacesFound:
    """Which places the rows name, beside the public list.

    Attributes:
        what: What they are, such as "origins".
        listed: How many the public list has.
        found: How many of these some row names.
        unknown: How many other ids the rows name.
        names: The ones that most rows name.
    """

    what: str
    listed: int
    found: int
    unknown: int
    names: tuple[UnknownName, ...] = ()


@dataclass(frozen=True, kw_only=True, repr=False)
class LimitFound:
    """What a contribution limit does to these rows.

    Attributes:
        option: The plan's option, such as "max_trips".
        what: What it limits, such as "trips of a person".
        limit: The limit.
        owners_above: How many people (or records) have more.
        owners: How many there are.
        cut_off: The share of all that is limited which the limit leaves out, from 0 to 1.
        enough: The smallest limit that would keep 95 %.
    """

    option: str
    what: str
    limit: int
    owners_above: int
    owners: int
    cut_off: float
    enough: int


@dataclass(frozen=True, kw_only=True, repr=False)
class PeopleFound:
    """How many rows that can be counted people have.

    Attributes:
        people: How many people have one.
        quantiles: Rows of a person: "50 %", "90 %", "99 %" and "most".
        plausible: More rows of one id than these are implausible, by a public rule.
        implausible_ids: How many ids have more.
        implausible_rows: How many rows these have.
    """

    people: int
    quantiles: Mapping[str, int]
    plausible: int
    implausible_ids: int
    implausible_rows: int


@dataclass(frozen=True, kw_only=True, repr=False)
class RowsFound:
    """The rows as a whole.

    Attributes:
        read: How many rows there are, also those that cannot be understood.
        kept: How many of them can be counted, before any contribution limit.
        swapped: How many rows lie nowhere in the plan's places, and would lie in them if longitude
            and latitude changed places.
        places_swapped: Whether the public places are far from the plan's time zone, and close to it
            if longitude and latitude changed places: then they are wrong, and not the rows.
        times: When they were; None if nobody asked, or if they have no times.
        places: Which places they name; none if nobody asked, or if they name none.
        people: How many rows people have; None if nobody asked, or if rows have no person.
        limits: What the plan's contribution limits do to them.
    """

    read: int
    kept: int
    swapped: int = 0
    places_swapped: bool = False
    times: TimesFound | None = None
    places: tuple[PlacesFound, ...] = ()
    people: PeopleFound | None = None
    limits: tuple[LimitFound, ...] = ()

    @property
    def dropped(self) -> int:
        """How many rows cannot be counted."""
        return self.read - self.kept


@dataclass(frozen=True, kw_only=True, eq=False)
class Sizes:
    """How many owners have how many rows each: a histogram without any id.

    Attributes:
        size: The numbers of rows that occur, ascending.
        owners: How many owners have each.
    """

    size: IntArray
    owners: IntArray

    @classmethod
    def of(cls, columns: Mapping[str, Any]) -> "Sizes":
        """Returns the histogram of an answer (size, owners), in any order and without zeros."""
        size, owners = (np.asarray(columns[name], dtype=np.int64) for name in ("size", "owners"))
        order = np.argsort(size)
        order = order[size[order] > 0]
        return cls(size=size[order], owners=owners[order])

    @property
    def number(self) -> int:
        """How many owners there are."""
        return int(self.owners.sum())

    def quantiles(self) -> dict[str, int]:
        """Returns how many rows owners have, for some shares of them; nothing if there are none."""
        if not len(self.size):
            return {}
        reached = np.cumsum(self.owners)
        at = [np.searchsorted(reached, share * reached[-1]) for share in _QUANTILES]
        named = {f"{share:.0%}": int(self.size[i]) for share, i in zip(_QUANTILES, at, strict=True)}
        return {**named, "most": int(self.size[-1])}

    def people(self, plausible: int) -> PeopleFound:
        """Returns how many rows people have, if owners are people."""
        beyond = self.size > plausible
        return PeopleFound(
            people=self.number,
            quantiles=self.quantiles(),
            plausible=plausible,
            implausible_ids=int(self.owners[beyond].sum()),
            implausible_rows=int((self.size * self.owners)[beyond].sum()),
        )

    def limited(self, option: str, what: str, limit: int) -> LimitFound:
        """Returns what a contribution limit does."""
        total = int((self.size * self.owners).sum())
        return LimitFound(
            option=option,
            what=what,
            limit=limit,
            owners_above=int(self.owners[self.size > limit].sum()),
            owners=self.number,
            cut_off=1 - self._kept_by(limit) / total if total else 0.0,
            enough=self._enough(WORTH_KEEPING * total),
        )

    def _kept_by(self, limit: int) -> int:
        return int((np.minimum(self.size, limit) * self.owners).sum())

    def _enough(self, rows: float) -> int:
        """Returns the smallest limit that keeps so many rows: what it keeps grows with it."""
        low, high = 1, int(self.size[-1]) if len(self.size) else 1
        while low < high:
            middle = (low + high) // 2
            if self._kept_by(middle) >= rows:
                high = middle
            else:
                low = middle + 1
        return low
