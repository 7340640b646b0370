"""The verb `init`: a first plan from the header of a file.

Privacy:
    No row is read. What becomes public, such as days and places, is never taken from the file. Who
    is protected is never chosen in silence.
"""

import os
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from hushway.errors import PlanError
from hushway.families.first_plan import (
    Beginning,
    first_plan,
    intake_of,
    likely_type,
    place_columns,
    still_to_set,
)
from hushway.families.load import plan_from
from hushway.families.registry import FAMILIES, family_names
from hushway.privacy.bound import Unit
from hushway.release.folder.new_file import refuse_taken, write_new
from hushway.release.plans.first_plan import Intake, looks_like_day, looks_like_device
from hushway.steward.init_questions import (
    STATED,
    WINDOW,
    Ask,
    Question,
    encoding_named,
    encoding_options,
    file_question,
    time_options,
)
from hushway.tables.header import Header
from hushway.tables.layout import header_of

_NONE = "none"


@dataclass(frozen=True, kw_only=True)
class FirstPlan:
    """A plan that was written.

    Attributes:
        file: Where it is.
        release_type: Its release type.
        title: The release type in words.
        protects: Who is protected, and what follows from that.
        encoding: How bytes of the rows' file stand for letters; None for UTF-8.
        unset: Options that only people can say, and that the plan is refused without.
    """

    file: Path
    release_type: str
    title: str
    protects: str
    encoding: str | None
    unset: list[str]


def init(  # noqa: PLR0913
    rows: Path | str,
    *,
    release_type: str | None = None,
    unit: str | None = None,
    person: str | None = None,
    origin: str | None = None,
    destination: str | None = None,
    place: str | None = None,
    lon: str | None = None,
    lat: str | None = None,
    time: str | None = None,
    time_format: str | None = None,
    date: str | None = None,
    trip: str | None = None,
    trip_id: str | None = None,
    encoding: str | None = None,
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
        unit: Who is protected: person, device, or a single trip or record.
        person: The column with whose row it is.
        origin: The column with where a trip began.
        destination: The column with where it ended.
        place: The column with the place of a row.
        lon: The column with a longitude.
        lat: The column with a latitude.
        time: The column with the time of a row.
        time_format: How times are written, or an example of one.
        date: The column with the day, if the time is in a column of its own.
        trip: The column with the trip of a position.
        trip_id: The column with the id of a trip.
        encoding: How bytes of a CSV file stand for letters; told from its first line unless said.
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
        PlanError: The release type or the unit is not known, a column is missing, an answer is not
            what was asked for, there is no such option, or the plan would describe no release.
        ReleaseError: The output exists already.
    """
    rows, output = Path(rows), Path(output)
    refuse_taken(output)
    header = header_of(rows, encoding=encoding_named(encoding))
    family, intake = intake_of(release_type or _likely(header, ask))
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
    intake = intake.of(header.names, given)
    _refuse_foreign(given, intake, family.name)
    others = dict(options or {})
    table = f"{intake.section}."
    for name in [name for name in others if name.removeprefix(table) in intake.columns]:
        given[name.removeprefix(table)] = str(others.pop(name))
    columns: dict[str, str | None] = {**intake.recognised(header.names), **given}
    if ask is not None:
        columns |= _asked_columns(ask, intake, columns, header)
    protected = _protected(unit, columns.get("person"), intake, ask)
    clock = header.clocks.get(columns.get("time") or "")
    if date is None and clock is None and ask is not None:
        date = _asked_date(ask, header, columns)
    times = time_options(time_format, clock, ask, is_apart=date is not None)
    written_in = encoding_options(header.encoding, None if encoding else ask)
    facts: dict[str, str | int | None] = {
        "privacy.unit": protected,
        **({} if protected.has_many_records else {f"privacy.{family.contribution_limit}": 1}),
        **times,
        **({f"{table}date": date} if date else {}),
        **written_in,
        **_public_facts(
            intake.public_files(columns),
            {"places": places, "areas": areas, "roads": roads},
            {"zone": zone, "first_day": first_day, "last_day": last_day},
            output,
            choose=_chooses_of_places(others, ask),
            ask=ask,
        ),
        **({} if epsilon is None else {"privacy.epsilon": epsilon}),
        **_stated(others, ask),
        **others,
    }
    beginning = Beginning(family=family, intake=intake, columns=columns, facts=facts)
    text = first_plan(beginning, header=header, rows=rows, plan=output)
    unset = still_to_set(text)
    if not unset:
        _refuse_unfit(text, output.parent)
    write_new(output, text.encode())
    return FirstPlan(
        file=output,
        release_type=family.name,
        title=family.title,
        protects=_what_follows(protected, columns.get("person"), intake),
        encoding=written_in.get("data.encoding"),
        unset=unset,
    )


def _refuse_unfit(text: str, folder: Path) -> None:
    """Makes sure that a plan describes a release, as far as that is seen without its files."""
    facts = tomllib.loads(text)
    # Of a series without a step, days and names follow from the step that is published.
    if "this" in facts.get("series", {"this": None}):
        plan_from(facts, folder=folder)


def _stated(others: Mapping[str, str | int], ask: Ask | None) -> dict[str, str]:
    """Returns who stands behind the release, as far as that is not said already."""
    if ask is None:
        return {}
    answers = {name: ask(question) for name, question in STATED.items() if name not in others}
    return {name: answer for name, answer in answers.items() if answer}


def _likely(header: Header, ask: Ask | None) -> str:
    found = likely_type(header)
    if found is None and ask is not None:
        words = ", ".join(f"{family.name} ({family.title})" for family in FAMILIES.values())
        found = ask(Question(text=f"The release type: {words}", choices=tuple(FAMILIES)))
    if not found:
        raise PlanError(
            "Names of columns do not tell which release type the rows are for.",
            advice=f"Name it: --type {family_names()}.",
        )
    return found


def _refuse_foreign(given: Mapping[str, str], intake: Intake, name: str) -> None:
    foreign = [role for role in given if role not in intake.columns]
    if foreign:
        raise PlanError(
            f"Rows of the release type {name} have no {' and no '.join(foreign)}.",
            advice=f"They have: {', '.join(intake.columns)}.",
        )


def _asked_columns(
    ask: Ask, intake: Intake, columns: Mapping[str, str | None], header: Header
) -> dict[str, str | None]:
    answers: dict[str, str | None] = {
        role: ask(Question(text=f"The column with the {role}", choices=header.names))
        for role in intake.missing(columns)
    }
    if "person" in intake.columns and not {**columns, **answers}.get("person"):
        whose = f"The column that says whose row it is; {_NONE} if there is no such column"
        found = ask(Question(text=whose, choices=(*header.names, _NONE)))
        answers["person"] = None if found == _NONE else found or None
    return answers


def _asked_date(ask: Ask, header: Header, columns: Mapping[str, str | None]) -> str | None:
    """Returns the column of days beside one of times, if names say that there may be one."""
    days = [name for name in header.names if looks_like_day(name)]
    likely = tuple(name for name in days if name not in columns.values())
    if not likely:
        return None
    text = f"The column with the day of {columns['time']!r}; {_NONE} if the day stands there too"
    found = ask(Question(text=text, choices=(*likely, _NONE)))
    return None if found == _NONE else found or None


def _protected(unit: str | None, column: str | None, intake: Intake, ask: Ask | None) -> Unit:
    """Returns who is protected.

    Privacy:
        Never a single trip or record unless somebody says so; and ids that look like those of
        cards, phones or vehicles are not taken for people.
    """
    if unit is not None:
        return _unit_named(unit)
    if intake.only_unit is not None:
        return intake.only_unit
    single = intake.without_person
    if column is not None:
        likely = Unit.DEVICE if looks_like_device(column) else Unit.PERSON
        if ask is None:
            return likely
        text = (
            f"Each id in {column!r} is one person, or one device: a card, a phone or a vehicle, of "
            "which somebody may have several"
        )
        return _unit_named(ask(Question(text=text, choices=("person", "device"))) or likely)
    if single is not None and ask is not None:
        text = (
            f"Nobody is named, so only single {single}s are protected, and somebody with many of "
            f"them is protected less. Type {single} to go on"
        )
        unit = ask(Question(text=text, choices=(single,)))
    if not unit:
        raise PlanError(
            "No column says whose rows they are.",
            advice="Name it: --person COLUMN."
            + (f" To protect single {single}s only, say so: --unit {single}." if single else ""),
        )
    return _unit_named(unit)


def _unit_named(name: str) -> Unit:
    try:
        return Unit(name)
    except ValueError:
        raise PlanError(
            "There is no such unit of protection.",
            advice=f"Choose one of {', '.join(Unit)}.",
        ) from None


def _what_follows(unit: Unit, column: str | None, intake: Intake) -> str:
    if unit is Unit.DEVICE:
        less = (
            f"One device is protected (an id in {column!r}): somebody with several is protected "
            "less."
        )
        return less if intake.only_unit else f"{less} If each id is one person: --unit person"
    if unit is Unit.PERSON:
        return (
            f"One person is protected, with all rows of an id in {column!r}. If these are cards, "
            "phones or vehicles: --unit device"
        )
    return f"One {unit} is protected, and NOT a person with all that they did."


def _chooses_of_places(
    others: Mapping[str, str | int], ask: Ask | None
) -> Callable[[str, tuple[str, ...]], str | None]:
    """Returns how columns of a public list of places are chosen that no name tells."""

    def choose(role: str, names: tuple[str, ...]) -> str | None:
        option = f"places.columns.{role}"
        if option in others:
            return str(others[option])
        if ask is not None:
            text = f"The column of the public list of places with the {role} of a place"
            return ask(Question(text=text, choices=names)) or None
        raise PlanError(
            f"No column of the list of places can be told by its name to be the {role}: it has "
            f"{', '.join(names)}.",
            advice=f"Name it: --set {option}=COLUMN",
        )

    return choose


def _public_facts(
    wanted: Mapping[str, str],
    files: Mapping[str, Path | str | None],
    window: Mapping[str, str | None],
    plan: Path,
    *,
    choose: Callable[[str, tuple[str, ...]], str | None],
    ask: Ask | None,
) -> dict[str, str | int | None]:
    """Returns public files, with the columns of a list of places, and the window of days."""
    needed = {name for option in wanted for name in files if name in option}
    # What a release type has no use for is refused by the name of its option.
    found: dict[str, str | int | None] = {
        f"{name}.file": str(file) for name, file in files.items() if file and name not in needed
    }
    for option, words in wanted.items():
        # Areas may be the places of a table.
        named = next((files[name] for name in list(files)[::-1] if name in option), None)
        if named is None and ask is not None:
            named = ask(file_question(words)) or None
        if named is not None:
            found[option] = os.path.relpath(named, plan.parent)
            if option == "places.file":
                found |= place_columns(Path(named), choose)
    for name, question in WINDOW.items():
        answer = window[name]
        problem = question.problem(answer) if answer else None
        if problem is not None:
            raise PlanError(f"{question.text} cannot be taken: {problem}", advice=question.advice)
        if answer is None and ask is not None:
            answer = ask(question)
        if answer:
            found[f"time.{name}"] = answer
    return found
