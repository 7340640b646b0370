"""What one person may have lost, as the ledger command prints it."""

from datetime import date
from typing import TYPE_CHECKING, Any

from hushway.cli.screen import number, say, table
from hushway.privacy.unit import Unit

if TYPE_CHECKING:
    from hushway.privacy.ledger import Lost, PeopleLost

_SINGLE = (
    "Losses of a {unit} are those of ONE {unit}: somebody with k of them may have lost k times as "
    "much, so no sum for a person is promised."
)
_OWNER = (
    "Losses of a {unit} are those of all that belongs to one {unit}: somebody with several may "
    "have lost that much for each."
)
_OUTSIDE = (
    "These sums hold what this ledger knows: not what people lost in other data sets that nobody "
    "declared to be theirs, nor in releases from other ledgers."
)


def print_lost(groups: "list[PeopleLost]", first_day: date | None, last_day: date | None) -> None:
    """Prints a row for each kind of unit in each group of people."""
    rows = [
        [
            group.people.name or "(not declared)",
            ", ".join(group.people.datasets),
            str(lost.unit),
            str(lost.releases),
            *_amounts(lost),
        ]
        for group in groups
        for lost in group.lost
    ]
    table(
        f"What one of them may have lost, {_span(first_day, last_day)}",
        ["people", "data sets", "unit", "#releases", "#ε", "#ρ", "#all as ρ"],
        rows,
    )
    notes = {_note(lost): None for group in groups for lost in group.lost}
    for note in [*filter(None, notes), _OUTSIDE]:
        say(note)


def lost_facts(group: "PeopleLost") -> dict[str, Any]:
    """Returns the same for programs."""
    return {
        "people": group.people.name,
        "datasets": group.people.datasets,
        "lost": [
            {
                "unit": lost.unit,
                "releases": lost.releases,
                "epsilon": lost.epsilon,
                "rho": lost.rho,
                "all_as_rho": lost.together,
                "bounds_a_person": lost.unit is Unit.PERSON,
                "note": _note(lost),
            }
            for lost in group.lost
        ],
    }


def _note(lost: "Lost") -> str | None:
    if lost.unit is Unit.PERSON:
        return None
    return (_OWNER if lost.owner else _SINGLE).format(unit=lost.unit)


def _amounts(lost: "Lost") -> list[str]:
    return [number(amount) if amount else "" for amount in (lost.epsilon, lost.rho, lost.together)]


def _span(first_day: date | None, last_day: date | None) -> str:
    if first_day is None and last_day is None:
        return "ever"
    if last_day is None:
        return f"from {first_day} on"
    return f"up to {last_day}" if first_day is None else f"{first_day} to {last_day}"
