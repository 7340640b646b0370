"""The verb `init`: a first plan from the header of a file.

Privacy:
    No row is read. What becomes public, such as days and places, is never taken from the file.
"""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from hushway.errors import PlanError
from hushway.families.first_plan import (
    Beginning,
    first_plan,
    intake_of,
    likely_type,
    still_to_set,
)
from hushway.families.registry import family_names
from hushway.release.folder.new_file import refuse_taken, write_new
from hushway.release.plans.first_plan import Intake
from hushway.tables.layout import header_of

Ask = Callable[[str], str]
_WINDOW = {
    "time.zone": "The time zone, such as Europe/Lisbon",
    "time.first_day": "The first day of the window, such as 2026-03-02",
    "time.last_day": "Its last day",
}


@dataclass(frozen=True, kw_only=True)
class FirstPlan:
    """A plan that was written.

    Attributes:
        file: Where it is.
        release_type: Its release type.
        title: The release type in words.
        unset: Options that only people can say, and that the plan is refused without.
    """

    file: Path
    release_type: str
    title: str
    unset: list[str]


def init(  # noqa: PLR0913
    rows: Path | str,
    *,
    release_type: str | None = None,
    person: str | None = None,
    origin: str | None = None,
    destination: str | None = None,
    place: str | None = None,
    lon: str | None = None,
    lat: str | None = None,
    time: str | None = None,
    trip: str | None = None,
    trip_id: str | None = None,
    places: Path | str | None = None,
    areas: Path | str | None = None,
    roads: Path | str | None = None,
    zone: str | None = None,
    first_day: str | None = None,
    last_day: str | None = None,
    epsilon: str | None = None,
    options: Mapping[str, str | int] | None = None,
    output: Path | str = "plan.toml",
    ask: Ask | None = None,
) -> FirstPlan:
    """Writes a first plan: reads the header and types of a file, never a row.

    What nobody says stands in the plan as SET-THIS, and the plan is refused until somebody does.

    Args:
        rows: The protected rows: CSV or Parquet.
        release_type: The release type; told from names of columns unless said.
        person: The column with whose row it is.
        origin: The column with where a trip began.
        destination: The column with where it ended.
        place: The column with the place of a row.
        lon: The column with a longitude.
        lat: The column with a latitude.
        time: The column with the time of a row.
        trip: The column with the trip of a position.
        trip_id: The column with the id of a trip.
        places: The public list of places.
        areas: The public areas.
        roads: The public road network.
        zone: The time zone, an IANA name.
        first_day: The first day of the public window.
        last_day: Its last day.
        epsilon: The budget of the release.
        options: Any other options, such as `{"time.minutes": 30}`.
        output: Where the plan goes.
        ask: Called with a question for whatever is missing; an empty answer leaves it open.

    Raises:
        PlanError: The release type is not known, a column is missing, or there is no such option.
        ReleaseError: The output exists already.
    """
    rows, output = Path(rows), Path(output)
    refuse_taken(output)
    header = header_of(rows)
    chosen = release_type or likely_type(header) or (ask("The release type") if ask else "")
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
    given = {role: column for role, column in named.items() if column is not None}
    _refuse_foreign(given, intake, family.name)
    columns: dict[str, str | None] = {**intake.recognised(header.names), **given}
    files = {"places.file": places, "areas.file": areas, "roads.file": roads}
    texts = {
        "time.zone": zone,
        "time.first_day": first_day,
        "time.last_day": last_day,
        "privacy.epsilon": epsilon,
    }
    facts: dict[str, str | int] = {
        **{name: _from(output, file) for name, file in files.items() if file},
        **{name: text for name, text in texts.items() if text is not None},
        **(options or {}),
    }
    if ask is not None:
        columns |= {role: ask(f"The column with the {role}") for role in intake.missing(columns)}
        facts |= _asked_facts(ask, intake, facts, output)
    beginning = Beginning(family=family, columns=columns, facts=facts)
    text = first_plan(beginning, header=header, rows=rows, plan=output)
    write_new(output, text.encode())
    return FirstPlan(
        file=output, release_type=family.name, title=family.title, unset=still_to_set(text)
    )


def _refuse_foreign(given: Mapping[str, str], intake: Intake, name: str) -> None:
    foreign = [role for role in given if role not in intake.columns]
    if foreign:
        raise PlanError(
            f"Rows of the release type {name} have no {' and no '.join(foreign)}.",
            advice=f"They have: {', '.join(intake.columns)}.",
        )


def _asked_facts(
    ask: Ask, intake: Intake, facts: Mapping[str, str | int], plan: Path
) -> dict[str, str]:
    questions = {name: f"The file of {words}" for name, words in intake.files.items()}
    answers = {
        name: ask(question)
        for name, question in {**questions, **_WINDOW}.items()
        if name not in facts
    }
    return {
        name: _from(plan, answer) if name in intake.files else answer
        for name, answer in answers.items()
        if answer
    }


def _from(plan: Path, file: Path | str) -> str:
    """Returns a path as the plan must name it: relative to its own folder."""
    return os.path.relpath(file, plan.parent)
