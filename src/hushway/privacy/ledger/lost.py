"""What one person may have lost over a span of days, summed over accounts and data sets."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from itertools import groupby

from hushway.privacy.ledger.accounts import Account
from hushway.privacy.ledger.entries import Entry, EntryKind
from hushway.privacy.ledger.people import People
from hushway.privacy.loss import Measure, amount_in, loss_of
from hushway.privacy.unit import Unit


@dataclass(frozen=True, kw_only=True)
class Lost:
    """The losses of one kind of unit, reserved for days that meet the span.

    Attributes:
        unit: Who is protected.
        releases: How many releases were reserved, published or not.
        epsilon: Sum over the accounts with a cap in epsilon.
        rho: Sum over the accounts with a cap in rho.
        together: Everything as one rho, if both currencies were spent: a reservation of an epsilon
            counts as epsilon squared over two.
        owner: Whether the unit owns all rows of somebody, so that the sums bound what that one
            lost. If not, a person may have many such units, and may have lost this for each.
    """

    unit: Unit
    releases: int
    epsilon: Fraction
    rho: Fraction
    together: Fraction | None
    owner: bool


@dataclass(frozen=True, kw_only=True)
class PeopleLost:
    """What the people of a group may have lost."""

    people: People
    lost: tuple[Lost, ...]


def lost_by(
    people: People,
    accounts: Sequence[Account],
    entries: Iterable[Entry],
    *,
    first_day: date | None,
    last_day: date | None,
) -> PeopleLost:
    """Sums what was reserved for days that meet a span, by kind of unit.

    Privacy:
        Every reservation counts in full, published or not, if one of its days lies in the span.
        Sums are exact, and hold for releases that were chosen after earlier ones were seen.
    """
    measures = {account.key: account.cap.measure for account in accounts}
    counted = sorted(
        (
            entry
            for entry in entries
            if entry.kind == EntryKind.RESERVE
            and entry.key.dataset in people.datasets
            and entry.window is not None
            and entry.window.has_days_in(first_day, last_day)
        ),
        key=lambda entry: (not entry.key.unit.has_many_records, entry.key.unit.value),
    )
    return PeopleLost(
        people=people,
        lost=tuple(
            _sum(unit, [(measures[entry.key], entry.amount) for entry in reserved])
            for unit, reserved in groupby(counted, key=lambda entry: entry.key.unit)
        ),
    )


def _sum(unit: Unit, reserved: Sequence[tuple[Measure, Fraction]]) -> Lost:
    sums = {
        measure: sum((amount for paid, amount in reserved if paid is measure), Fraction(0))
        for measure in Measure
    }
    mixed = all(sums.values())
    return Lost(
        unit=unit,
        releases=len(reserved),
        epsilon=sums[Measure.PURE],
        rho=sums[Measure.ZCDP],
        together=sum(
            (amount_in(loss_of(measure, amount), Measure.ZCDP) for measure, amount in reserved),
            Fraction(0),
        )
        if mixed
        else None,
        owner=unit.has_many_records,
    )
