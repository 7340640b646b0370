"""From a file of rows to a first plan: by its header and types, and by what people say.

Privacy:
    No row is read. What becomes public, such as days and places, is never taken from the file.
"""

import os
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from hushway.errors import PlanError
from hushway.families.registry import FAMILIES, family_named
from hushway.release.family import Family
from hushway.release.plans.first_plan import (
    LAT,
    LON,
    SET_THIS,
    STOP,
    TOWER,
    Intake,
    fill_template,
    recognised,
)
from hushway.tables.first_lines import read_header
from hushway.tables.header import Header
from hushway.tables.unpacking import public_file

_MONTH: Final = len("2026-03")
_WINDOW: Final = ("time.zone", "time.first_day", "time.last_day")
# Usual names of columns of places, of which a list may lack some.
_PLACES: Final = {
    "id": ("id", *(f"{name}_id" for name in (*STOP, *TOWER)), "code", "station_code"),
    "name": ("name", *(f"{name}{more}" for more in ("_name", "") for name in (*STOP, *TOWER))),
    "lon": (*LON, "stop_lon"),
    "lat": (*LAT, "stop_lat"),
    "zone": ("zone", "zone_id", "district", "borough"),
}
_SPARE: Final = ("name", "zone")


@dataclass(frozen=True, kw_only=True)
class Beginning:
    """What a first plan is made of.

    Attributes:
        intake: What rows of their kind need.
        columns: The column of each role; None where there is none.
        facts: What people said, by option of the plan: public files, the window, a budget. None
            leaves an option out.
    """

    family: Family
    intake: Intake
    columns: Mapping[str, str | None]
    facts: Mapping[str, str | int | None]


def likely_type(header: Header) -> str | None:
    """Returns the release type that names of columns point to; None if they do not."""
    kinds = [
        (kind, family.name)
        for family in FAMILIES.values()
        if family.intake is not None
        for kind in (family.intake, *(each for each in family.intake.instead if each.signs))
    ]
    return next((name for kind, name in kinds if kind.suits(header.names)), None)


def intake_of(name: str) -> tuple[Family, Intake]:
    """Returns a release type and what a first plan of it needs.

    Raises:
        PlanError: There is no such release type, or nothing is known about it.
    """
    family = family_named(name)
    if family.intake is None:
        raise PlanError(
            f"Nothing is known about first plans of the release type {name}.",
            advice=f"Start from its template: hushway plan new {name} > plan.toml",
        )
    return family, family.intake


def first_plan(beginning: Beginning, *, header: Header, rows: Path, plan: Path) -> str:
    """Returns the text of a first plan, with every option explained.

    What nobody has said yet stands there as SET-THIS, so that the plan is refused until somebody
    has: an example's days must not become a release's.

    Args:
        plan: Where the plan will be written, which paths are taken from.

    Raises:
        PlanError: A column that is needed is missing, or is not in the file.
    """
    family, intake = beginning.family, beginning.intake
    columns = intake.without_alternatives(beginning.columns)
    _refuse_missing(intake, columns, header)
    gone = [table for role, table in intake.left_out_without.items() if columns[role] is None]
    options: dict[str, Any] = {
        f"data.{intake.rows}": os.path.relpath(rows, plan.parent),
        "data.name": rows.name.split(".")[0] or SET_THIS,
        **{f"{intake.section}.{role}": column for role, column in columns.items()},
        **dict.fromkeys(intake.files),
        **dict.fromkeys((*intake.public_files(columns), *_WINDOW), SET_THIS),
        **dict.fromkeys(intake.left_out),
        **intake.fixed,
        **beginning.facts,
    }
    options.setdefault("ledger.period", _period(options["time.first_day"]))
    for table in gone:
        options = {name: value for name, value in options.items() if not name.startswith(table)}
        options[table] = None
    try:
        return fill_template(family.template, options)
    except KeyError as unknown:
        raise PlanError(
            f"Plans of the release type {family.name} have no option {unknown.args[0]}.",
            advice=f"hushway plan new {family.name} prints all of them.",
        ) from None


def place_columns(
    file: Path, choose: Callable[[str, tuple[str, ...]], str | None]
) -> dict[str, str | None]:
    """Returns which columns of a public list of places hold what.

    Nothing is returned for a file without a header, such as GeoJSON. Places that have names and no
    ids are told by their names.

    Args:
        file: The list.
        choose: Returns the column of a role that no name tells, from the names of all columns; None
            leaves it open.
    """
    if file.suffix not in (".csv", ".txt", ".gz") or not file.is_file():
        return {}
    with public_file(file, "places"):
        names = tuple(read_header(file)[1])
    found: dict[str, str | None] = dict.fromkeys(_SPARE) | recognised(_PLACES, names)
    if found["name"] and "id" not in found:
        found["id"] = found["name"]
    found |= {
        role: column
        for role in _PLACES
        if role not in found and (column := choose(role, names)) is not None
    }
    return {f"places.columns.{role}": column for role, column in found.items()}


def _refuse_missing(intake: Intake, columns: Mapping[str, str | None], header: Header) -> None:
    missing = intake.missing(columns)
    if missing:
        raise PlanError(
            f"No column can be told by its name to be the {' or the '.join(missing)}.",
            advice="Name it: " + ", ".join(f"--{role} COLUMN" for role in missing),
        )
    foreign = [role for role, name in columns.items() if name and name not in header.names]
    if foreign:
        raise PlanError(
            f"The file has no column of the name that was given for {' and '.join(foreign)}.",
            advice="Name a column as the header of the file does.",
        )


def still_to_set(text: str) -> list[str]:
    """Returns the options of a first plan that only people can say."""
    return [
        f"{table}.{option}"
        for table, options in tomllib.loads(text).items()
        if isinstance(options, dict)
        for option, value in options.items()
        if value == SET_THIS
    ]


def _period(first_day: str) -> str:
    return SET_THIS if first_day == SET_THIS else first_day[:_MONTH]
