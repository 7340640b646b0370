"""People: which data sets the steward declared to hold the same ones."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from hushway.privacy.ledger.rows import PeopleRow
from hushway.privacy.ledger.statement import damaged


@dataclass(frozen=True, kw_only=True)
class People:
    """Data sets that hold the same people.

    Attributes:
        name: What the steward calls the people; None if nobody declared anything about the data.
        datasets: The data sets, in alphabetical order.
    """

    name: str | None
    datasets: tuple[str, ...]


def groups(declarations: Sequence[PeopleRow], datasets: Iterable[str]) -> list[People]:
    """Returns every group of people, and every other data set as a group by itself.

    Declarations are never taken back. One that names people or data sets of earlier groups joins
    them all: whoever is in one of these may be in all of them.

    Raises:
        LedgerError: A declaration cannot be read.
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
    """Reads the data sets of a declaration back.

    Raises:
        LedgerError: The text is not what `datasets_to_text` writes.
    """
    try:
        datasets = json.loads(text)
        if isinstance(datasets, list) and datasets_to_text(datasets) == text:
            return datasets
    except (TypeError, ValueError):
        pass
    raise damaged("A declaration about people")
