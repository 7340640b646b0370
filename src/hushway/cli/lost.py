"""What one person may have lost, as a table: a row for each unit in each group of people."""

from datetime import date
from typing import TYPE_CHECKING

from hushway.cli.screen import number, say, table
from hushway.facts.ledger import note_on

if TYPE_CHECKING:
    from hushway.privacy.ledger import Lost, PeopleLost

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
    notes = {note_on(lost): None for group in groups for lost in group.lost}
    for note in [*filter(None, notes), _OUTSIDE]:
        say(note)


def _amounts(lost: "Lost") -> list[str]:
    return [number(amount) if amount else "" for amount in (lost.epsilon, lost.rho, lost.together)]


def _span(first_day: date | None, last_day: date | None) -> str:
    if first_day is None and last_day is None:
        return "ever"
    if last_day is None:
        return f"from {first_day} on"
    return f"up to {last_day}" if first_day is None else f"{first_day} to {last_day}"
