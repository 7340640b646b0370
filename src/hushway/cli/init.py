"""The command `init`: a first plan from the header of a file."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hushway.cli.console import say
from hushway.errors import PlanError
from hushway.families.registry import family_names

if TYPE_CHECKING:
    from hushway.steward.init_questions import Question

Column = str | None


def init(  # noqa: PLR0913
    rows: Annotated[
        Path, typer.Argument(metavar="ROWS", help="The protected rows: CSV or Parquet.")
    ],
    *,
    release_type: Annotated[
        str | None,
        typer.Option(
            "--type",
            help=f"The release type: {family_names()}.",
            show_default="told from names of columns",
        ),
    ] = None,
    unit: Annotated[
        str | None, typer.Option(help="Who is protected: person, device, trip or record.")
    ] = None,
    person: Annotated[Column, typer.Option(help="The column that says whose row it is.")] = None,
    origin: Annotated[Column, typer.Option(help="The column with the origin of a trip.")] = None,
    destination: Annotated[Column, typer.Option(help="The column with its destination.")] = None,
    place: Annotated[Column, typer.Option(help="The column with the place of a row.")] = None,
    lon: Annotated[Column, typer.Option(help="The column with a longitude.")] = None,
    lat: Annotated[Column, typer.Option(help="The column with a latitude.")] = None,
    time: Annotated[Column, typer.Option(help="The column with the time of a row.")] = None,
    time_format: Annotated[
        str | None,
        typer.Option(help='How times are written, such as "%d/%m/%Y %H:%M", or an example of one.'),
    ] = None,
    date: Annotated[Column, typer.Option(help="The column with the day of that time.")] = None,
    trip: Annotated[Column, typer.Option(help="The column with the trip of a position.")] = None,
    trip_id: Annotated[Column, typer.Option(help="The column with the id of a trip.")] = None,
    encoding: Annotated[
        str | None,
        typer.Option(
            help="How a CSV file is encoded: utf-8, utf-16 or windows-1252 (also for Latin-1).",
            show_default="told from its first line",
        ),
    ] = None,
    places: Annotated[Path | None, typer.Option(help="The public list of places.")] = None,
    areas: Annotated[Path | None, typer.Option(help="The public areas.")] = None,
    roads: Annotated[Path | None, typer.Option(help="The public road network.")] = None,
    zone: Annotated[str | None, typer.Option(help="The time zone, an IANA name.")] = None,
    first_day: Annotated[str | None, typer.Option(help="First day of the window.")] = None,
    last_day: Annotated[str | None, typer.Option(help="Last day of the window.")] = None,
    epsilon: Annotated[str | None, typer.Option(help="The budget of the release.")] = None,
    options: Annotated[
        list[str] | None,
        typer.Option("--set", help="Any other option, such as time.minutes=30. May be repeated."),
    ] = None,
    output: Annotated[Path, typer.Option(help="Where the plan goes.")] = Path("plan.toml"),
    yes: Annotated[bool, typer.Option("--yes", help="Ask nothing.")] = False,
) -> None:
    """Write a first plan: looks at the header and types of a file, never at a row.

    What becomes public (days, places, areas, roads) is asked for or given here, and never taken
    from the file. What is not given is written as SET-THIS, and the plan is refused until it is
    filled in.
    """
    from hushway.steward.init import init as write_first_plan

    written = write_first_plan(
        rows,
        release_type=release_type,
        unit=unit,
        person=person,
        origin=origin,
        destination=destination,
        place=place,
        lon=lon,
        lat=lat,
        time=time,
        time_format=time_format,
        date=date,
        trip=trip,
        trip_id=trip_id,
        encoding=encoding,
        places=places,
        areas=areas,
        roads=roads,
        zone=zone,
        first_day=first_day,
        last_day=last_day,
        epsilon=epsilon,
        options=_options(options or []),
        output=output,
        ask=_answer if not yes and can_ask() else None,
    )
    say(f"Wrote {output}: {written.title}. No row was looked at.")
    say(written.protects)
    if written.encoding is not None:
        say(f"The file is read as {written.encoding}; --encoding says otherwise.")
    if written.unset:
        say(f"These public facts cannot be guessed, so set them: {', '.join(written.unset)}.")
    say(f"Then: hushway check {output}")


def can_ask() -> bool:
    """Whether somebody is there to be asked."""
    return sys.stdin.isatty()


def _answer(question: "Question") -> str:
    """Asks until an answer can be taken; an empty one leaves the question open."""
    from hushway.steward.init_questions import problem_with

    if question.choices:
        say(f"One of: {', '.join(question.choices)}")
    while True:
        found: str = typer.prompt(f"{question.text} (empty: later)", default="", show_default=False)
        problem = problem_with(question, found.strip())
        if problem is None:
            return found.strip()
        say(f"{problem} {question.advice}".strip())


def _options(given: list[str]) -> dict[str, str | int]:
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
