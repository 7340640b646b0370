"""What can be wrong with a file of roads. Roads are public: messages may name ids."""

from collections import Counter
from collections.abc import Collection, Iterable
from pathlib import Path

from hushway.errors import GeographyError

_SHOWN = 5


def damaged_roads(file: Path) -> GeographyError:
    """Returns the error for a file that is not what its ending says."""
    return GeographyError(
        f"The roads file {file.name} is damaged, or not of the format that its ending says.",
        advice="Check that it is whole; open it with any map viewer.",
    )


def off_earth(file: Path) -> GeographyError:
    """Returns the error for nodes that are nowhere on Earth."""
    return GeographyError(
        f"Nodes of {file.name} have a longitude or latitude that is not on Earth.",
        advice="Correct them: lon within ±180, lat within ±90.",
    )


def no_roads(file: Path) -> GeographyError:
    """Returns the error for a file in which nothing can be driven on."""
    return GeographyError(
        f"There are no roads for cars in {file.name}.",
        advice="Give a file with streets; docs/roads.md lists the kinds that are read.",
    )


def check_roads_columns(file: Path, found: Collection[str], demanded: Iterable[str]) -> None:
    """Refuses a file that lacks a column.

    Raises:
        GeographyError: A column is missing; the advice lists those that are there.
    """
    missing = [column for column in demanded if column not in found]
    if missing:
        raise GeographyError(
            f"The roads file {file.name} has no column {', '.join(map(repr, missing))}.",
            advice=f"Its columns are: {', '.join(found) or 'none'}. Name the ones to use.",
        )


def check_nodes(file: Path, known: Collection[str], used: Iterable[str]) -> None:
    """Refuses links between nodes that are not there.

    Raises:
        GeographyError: A node is unknown; the message names it.
    """
    unknown = sorted({node for node in used if node not in known})
    if unknown:
        raise GeographyError(
            f"Links of {file.name} name unknown nodes: {some(unknown)}.",
            advice='Add the nodes, or correct the links; ids are compared as text: "7" is not '
            '"7.0".',
        )


def check_named(file: Path, noun: str, ids: Iterable[str]) -> None:
    """Refuses ids that are blank.

    Raises:
        GeographyError: An id is.
    """
    if not all(key.strip() for key in ids):
        raise GeographyError(
            f"Some of the {noun} in {file.name} have no id, or a blank one.",
            advice=f"Give each of the {noun} an id of its own.",
        )


def check_unique(file: Path, noun: str, ids: Iterable[str]) -> None:
    """Refuses ids that appear more than once.

    Raises:
        GeographyError: An id is repeated; the message names it.
    """
    repeated = sorted(key for key, times in Counter(ids).items() if times > 1)
    if repeated:
        raise GeographyError(
            f"Ids of {noun} in {file.name} appear more than once: {some(repeated)}.",
            advice=f"Give each of the {noun} an id of its own.",
        )


def some(names: Iterable[str]) -> str:
    """Returns the first few names, and how many more there are."""
    listed = list(names)
    shown = ", ".join(map(repr, listed[:_SHOWN]))
    return shown if len(listed) <= _SHOWN else f"{shown} and {len(listed) - _SHOWN} more"
