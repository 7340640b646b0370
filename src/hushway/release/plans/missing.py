"""Reports all files and columns that a plan names and that are missing, at once.

This runs before any library for numbers, maps or databases is loaded, so a typo is reported fast.
"""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hushway.errors import DataError, PlanError
from hushway.escaping import some_of
from hushway.release.plans.first_plan import SET_THIS

if TYPE_CHECKING:
    from hushway.release.plans.sections import AnyPlan


@dataclass(frozen=True, kw_only=True)
class NamedTable:
    """A table that a plan names, and the columns that it must have.

    Attributes:
        option: The option that names it, such as "places.file".
        name: What the option says.
        columns: The columns by the option that names each.
        rows: What its rows are called if they are protected; None for a public table.
    """

    option: str
    name: str
    columns: Mapping[str, str]
    rows: str | None = None


def refuse_missing(plan: "AnyPlan", *, rows: bool) -> None:
    """Refuses a plan that names files or columns which are not there.

    A pipe or a device counts as missing: reading it could take for ever. Of several files of
    protected rows the first is looked at here; whoever reads them looks at all.

    Privacy:
        Of protected files only the names of columns are read, and of these only such as the plan
        names are told: the first line of a file without names is somebody's row.

    Args:
        rows: Whether the protected rows must be there too. A price needs none.
    """
    missing = [*_missing_files(plan)]
    for table in plan.named_tables():
        if table.rows is None:
            missing += _missing_columns(table, plan.path(table.name), public=True)
        elif rows and _are_files(plan, table):
            missing += _missing_protected(table, plan.path(table.name))
    if missing:
        raise PlanError(
            "The plan names files or columns that are not there:\n"
            + "\n".join(f"  {line}" for line in missing),
            advice="Correct the names. Files are looked for from the plan's own folder; leave out "
            "what is not needed.",
        )


def _missing_files(plan: "AnyPlan") -> Iterator[str]:
    for option, path in plan.named_files():
        # A timetable or a road network may be a folder.
        if not os.path.isfile(path) and not os.path.isdir(path):  # noqa: PTH112, PTH113  never raise
            is_open = path.name == SET_THIS
            yield f"{option}: " + ("still to be set" if is_open else f"there is no file {path}")


def _missing_columns(table: NamedTable, path: Path, *, public: bool) -> Iterator[str]:
    """Yields columns that a file lacks; those that it has are told only of a public file."""
    from hushway.tables.column_names import column_names

    found = column_names(path)
    if found is None:
        return
    for option, column in table.columns.items():
        if column not in found:
            others = f"; it has {some_of(found)}" if public else ""
            yield f"{option}: {path.name} has no column {column!r}{others}"


def _are_files(plan: "AnyPlan", table: NamedTable) -> bool:
    """Says whether protected rows are files; whether a table is there, only its engine knows."""
    from hushway.tables.row_files import needed_table, refuse_table

    noun = table.rows or "rows"
    if plan.engine.kind == "warehouse":
        needed_table(table.name, noun)
        return False
    refuse_table(table.name, noun)
    return True


def _missing_protected(table: NamedTable, path: Path) -> Iterator[str]:
    from hushway.tables.row_files import find_files

    try:
        first = find_files(path, table.rows or "rows").paths[0]
    except DataError as problem:
        yield f"{table.option}: {problem}".rstrip(".")
        return
    yield from _missing_columns(table, first, public=False)
