"""The verb that writes a first plan from the header of a file."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hushway.cli.screen import say
from hushway.errors import PlanError
from hushway.families.registry import family_names

if TYPE_CHECKING:
    from hushway.release.plans.first_plan import Intake
    from hushway.tables.layout import Header

Column = str | None
_WINDOW = {
    "time.zone": "The time zone, such as Europe/Lisbon",
    "time.first_day": "The first day of the window, such as 2026-03-02",
    "time.last_day": "Its last day",
}


def init(  # noqa: PLR0913
    rows: Annotated[
        Path, typer.Argument(metavar="ROWS", help="The protected rows: CSV or Parquet.")
    ],
    *,
    type_: Annotated[
        str | None,
        typer.Option(
            "--type",
            help=f"The release type: {family_names()}.",
            show_default="told from names of columns",
        ),
    ] = None,
    person: Annotated[Column, typer.Option(help="The column with whose row it is.")] = None,
    origin: Annotated[Column, typer.Option(help="The column with where a trip began.")] = None,
    destination: Annotated[Column, typer.Option(help="The column with where it ended.")] = None,
    place: Annotated[Column, typer.Option(help="The column with the place of a row.")] = None,
    lon: Annotated[Column, typer.Option(help="The column with a longitude.")] = None,
    lat: Annotated[Column, typer.Option(help="The column with a latitude.")] = None,
    time: Annotated[Column, typer.Option(help="The column with the time of a row.")] = None,
    trip: Annotated[Column, typer.Option(help="The column with the trip of a position.")] = None,
    trip_id: Annotated[Column, typer.Option(help="The column with the id of a trip.")] = None,
    places: Annotated[Path | None, typer.Option(help="The public list of places.")] = None,
    areas: Annotated[Path | None, typer.Option(help="The public areas.")] = None,
    roads: Annotated[Path | None, typer.Option(help="The public road network.")] = None,
    zone: Annotated[str | None, typer.Option(help="The time zone, an IANA name.")] = None,
    first_day: Annotated[str | None, typer.Option(help="Of the public window.")] = None,
    last_day: Annotated[str | None, typer.Option(help="Of the public window.")] = None,
    epsilon: Annotated[str | None, typer.Option(help="The budget of the release.")] = None,
    other: Annotated[
        list[str] | None,
        typer.Option("--set", help="Any other option, such as time.minutes=30. May be repeated."),
    ] = None,
    output: Annotated[Path, typer.Option(help="Where the plan goes.")] = Path("plan.toml"),
    yes: Annotated[bool, typer.Option("--yes", help="Ask nothing.")] = False,
) -> None:
    """Write a first plan: looks at the header and types of a file, never at a row.

    What becomes public (days, places, areas, roads) is asked for or given here, and never taken
    from the file. What nobody says stands in the plan as SET-THIS, and the plan is refused until
    somebody does.
    """
    from hushway.families.first_plan import (
        Beginning,
        first_plan,
        intake_of,
        likely_type,
        still_to_set,
    )
    from hushway.release.folder.new_file import refuse_taken, write_new
    from hushway.tables.layout import header_of

    refuse_taken(output)
    asks = not yes and can_ask()
    header = header_of(rows)
    chosen = type_ or likely_type(header) or (_answer("The release type") if asks else "")
    if not chosen:
        raise PlanError(
            "Names of columns do not tell which release type the rows are for.",
            advice=f"Name it: --type {family_names()}.",
        )
    family, intake = intake_of(chosen)
    named = {
        "person": person,
        "origin": origin,
        "destination": destination,
        "place": place,
        "lon": lon,
        "lat": lat,
        "time": time,
        "trip": trip,
        "trip_id": trip_id,
    }
    columns = _columns(named, intake, header, family.name)
    files = {"places": places, "areas": areas, "roads": roads}
    facts = {
        **{f"{name}.file": _from(output, path) for name, path in files.items() if path},
        **{
            name: value
            for name, value in {
                "time.zone": zone,
                "time.first_day": first_day,
                "time.last_day": last_day,
                "privacy.epsilon": epsilon,
            }.items()
            if value is not None
        },
        **_others(other or []),
    }
    if asks:
        columns |= _asked_columns(intake, columns)
        facts |= _asked_facts(intake, facts, output)
    beginning = Beginning(family=family, columns=columns, facts=facts)
    text = first_plan(beginning, header=header, rows=rows, plan=output)
    write_new(output, text.encode())
    say(f"Wrote {output}: {family.title}. No row was looked at.")
    unset = still_to_set(text)
    if unset:
        say(f"Only you can say these public facts, so set them: {', '.join(unset)}.")
    say(f"Then: hushway check {output}")


def can_ask() -> bool:
    """Whether somebody is there to be asked."""
    return sys.stdin.isatty()


def _columns(
    named: dict[str, Column], intake: "Intake", header: "Header", name: str
) -> dict[str, Column]:
    given = {role: column for role, column in named.items() if column is not None}
    foreign = [role for role in given if role not in intake.columns]
    if foreign:
        raise PlanError(
            f"Rows of the release type {name} have no {' and no '.join(foreign)}.",
            advice=f"They have: {', '.join(intake.columns)}.",
        )
    return {**intake.recognised(header.names), **given}


def _asked_columns(intake: "Intake", columns: dict[str, Column]) -> dict[str, Column]:
    return {role: _answer(f"The column with the {role}") for role in intake.missing(columns)}


def _asked_facts(intake: "Intake", facts: dict[str, str | int], plan: Path) -> dict[str, str]:
    questions = {name: f"The file of {words}" for name, words in intake.files.items()}
    answers = {
        name: _answer(question)
        for name, question in {**questions, **_WINDOW}.items()
        if name not in facts
    }
    return {
        name: _from(plan, Path(answer)) if name in intake.files else answer
        for name, answer in answers.items()
        if answer
    }


def _answer(question: str) -> str:
    found: str = typer.prompt(f"{question} (empty: set it later)", default="", show_default=False)
    return found.strip()


def _from(plan: Path, file: Path) -> str:
    """Returns a path as the plan must name it: from its own folder."""
    return os.path.relpath(file, plan.parent)


def _others(given: list[str]) -> dict[str, str | int]:
    found: dict[str, str | int] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not (equals and "." in name):
            raise PlanError(
                f"{text!r} does not set an option.",
                advice="Write table and option: --set time.minutes=30",
            )
        found[name.strip()] = int(value) if value.strip().isdigit() else value.strip()
    return found
