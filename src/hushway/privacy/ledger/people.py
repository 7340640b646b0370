"""Which data sets the steward declared to hold the same people, and what these may have lost."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from itertools import groupby

from hushway.privacy.bound import Unit
from hushway.privacy.ledger.entries import Account, Entry, EntryKind, damaged
from hushway.privacy.ledger.schema import PeopleRow
from hushway.privacy.loss import Measure, amount_in, loss_of


@dataclass(frozen=True, kw_only=True)
class People:
    """Data sets that hold the same people.

    Attributes:
        name: What the steward calls the people; None if nobody declared anything about the data.
    """

    name: str | None
    datasets: tuple[str, ...]


def groups(declarations: Sequence[PeopleRow], datasets: Iterable[str]) -> list[People]:
    """Returns every group of people, and every other data set as a group by itself.

    Declarations are never taken back. One that names people or data sets of earlier groups joins
    them all: whoever is in one of these may be in all of them.
    """
    joined: list[tuple[str, frozenset[str]]] = []
    for declaration in declarations:
        together = frozenset(datasets_from_text(declaration.datasets))
        apart = []
        for name, members in joined:
            if name == declaration.people or members & together:
                together |= members
            else:
                apart.append((name, members))
        joined = [*apart, (declaration.people, together)]
    declared = frozenset[str]().union(*(members for _, members in joined))
    return [
        *(People(name=name, datasets=tuple(sorted(members))) for name, members in joined),
        *(People(name=None, datasets=(name,)) for name in sorted(set(datasets) - declared)),
    ]


def datasets_to_text(datasets: Iterable[str]) -> str:
    """Returns the data sets of a declaration as they are stored."""
    return json.dumps(sorted(set(datasets)), ensure_ascii=False)


def datasets_from_text(text: str) -> list[str]:
    """Reads the data sets of a declaration back."""
    try:
        datasets = json.loads(text)
        if isinstance(datasets, list) and datasets_to_text(datasets) == text:
            return datasets
    except (TypeError, ValueError):
        pass
    raise damaged("A declaration about people")


@dataclass(frozen=True, kw_only=True)
class Lost:
    """The losses of one kind of unit, reserved for days that meet the span.

    Attributes:
        releases: How many releases were reserved, published or not.
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
    measures = {account.key: account.budget_limit.measure for account in accounts}
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
