"""Looks for taps and stops that cannot be counted, before any budget is touched."""

from dataclasses import replace
from functools import reduce
from operator import or_
from typing import Final

import ibis
import ibis.expr.types as ir

from hushway.engine.found import place_counts, places_found, sizes_of, times_found
from hushway.engine.grids import DayGrid, day_grid, load_places
from hushway.engine.opening import open_session
from hushway.engine.session import Session
from hushway.engine.settings import EngineSettings
from hushway.engine.shared_ids import (
    MOST_A_DAY,
    OUTSIDE_WINDOW,
    OWN_TICKET,
    ROW_WORDS,
    TOO_MANY,
    UNKNOWN,
    Words,
    bucket_of,
    copies_of,
    facts_of,
    first_row,
    ids_with_too_many,
    in_gaps,
    problems_of,
    refuse_nothing,
    rows_between,
)
from hushway.families.sequences.rows.sequences import (
    SequenceRule,
    SequencesSource,
    TapsSource,
    rows_read,
    window_of,
)
from hushway.geography.locations import Locations
from hushway.geography.periods import Periods
from hushway.privacy.bound import Unit
from hushway.progress import ShareProgress
from hushway.tables.check import Policy, RowsChecked
from hushway.tables.found import RowsFound
from hushway.tables.verdict import verdicts

_STOP_WORDS: Final[Words] = {
    "unknown_place": (
        "The place is not in the public list of places.",
        UNKNOWN,
    ),
    "long_records": (
        "A stop comes after the first ones of its record that count, and is left out.",
        "Leave it so: a taller tree costs accuracy, and these rows must not choose the height.",
    ),
    "shared_ids": (
        TOO_MANY,
        f'{OWN_TICKET} records (unit = "record").',
    ),
}

_TAP_WORDS: Final[Words] = {
    **ROW_WORDS,
    **_STOP_WORDS,
    "outside_window": OUTSIDE_WINDOW,
    "duplicate_rows": (
        "A row repeats another: same {alike}. Both are counted, as two stops.",
        "Check whether files overlap.",
    ),
}

_SEQUENCE_WORDS: Final[Words] = {
    **{kind: ROW_WORDS[kind] for kind in ("null_value", "malformed_row")},
    **_STOP_WORDS,
}


# More stops of one id than so many times its contribution limit are worth a look.
_TIMES_LIMIT: Final = 100


def check_taps(  # noqa: PLR0913  what counts, how, and how it is watched
    source: TapsSource,
    locations: Locations,
    rule: SequenceRule,
    policy: Policy,
    *,
    settings: EngineSettings | None = None,
    notes: bool = True,
    progress: ShareProgress | None = None,
    unit: Unit = Unit.PERSON,
) -> RowsChecked:
    """Returns every kind of trouble with the taps, how many rows it concerns, and what is found.

    Privacy:
        Exact counts, for the steward's own screen; nothing of it may enter a release.

    Args:
        source: Where the taps are.
        locations: The public places.
        rule: What makes a record.
        policy: What becomes of each kind of row.
        settings: How much of this machine to use.
        notes: Also look for rows that are alike, for records that are too long and for ids that
            many people share, and describe the rows. They are counted all the same.
        progress: Told from 0 to 1 how far it is.
        unit: Who is protected. Ids matter if it is a person.

    Raises:
        DataError: The taps cannot be read at all, or there are none.
    """
    window = window_of(rule)
    grid = day_grid(window, source.clock)
    with open_session(settings or EngineSettings()) as session:
        reading = rows_read(session, source)
        rows = session.rows(reading)
        integers = bool(rows.location.type().is_integer())
        places = load_places(session, locations, integers=integers)
        buckets = session.load("public_buckets", grid.table)
        marked = _marked(rows, places, buckets, grid)
        skipped = window if source.clock == "local" else None
        found = first_row(session.run(_tap_summary(marked, skipped, notes=notes), progress))
        refuse_nothing(found, source.noun, "stop", "stop")
        found["malformed_row"] = session.malformed_rows()
        description = _description(found)
        if notes:
            copies = copies_of(rows, ["person", "location", "us"])
            found |= first_row(session.run(copies, progress))
            parts = ["person", "day"] if rule.record == "day" else ["person"]
            records = _records(session, marked.filter(marked.kept), parts, progress)
            found |= first_row(session.run(_beyond(records, rule.max_stops)))
            if unit.has_many_records:
                timely = rows_between(rows, grid.start_us, grid.end_us)
                found |= ids_with_too_many(session, timely, progress)
            description = _described(
                session,
                replace(
                    description,
                    times=times_found(session, rows, window, source.clock, progress),
                    places=(places_found("places", "place", len(locations), found),),
                ),
                records,
                rule,
                unit,
                days=len(window.days),
            )
    problems = problems_of(found, source.columns, policy, _TAP_WORDS, facts_of(found))
    return RowsChecked(
        problems=tuple(problems),
        verdicts=tuple(verdicts(description, policy)),
        found=description,
    )


def check_sequences(  # noqa: PLR0913  likewise
    source: SequencesSource,
    locations: Locations,
    rule: SequenceRule,
    policy: Policy,
    *,
    settings: EngineSettings | None = None,
    notes: bool = True,
    progress: ShareProgress | None = None,
    unit: Unit = Unit.PERSON,
) -> RowsChecked:
    """Returns every kind of trouble with ready sequences, with stops for rows, and what is found.

    Privacy:
        Exact counts, for the steward's own screen; nothing of it may enter a release.

    Args:
        source: Where the sequences are.
        locations: The public places.
        rule: How much of a record counts.
        policy: What becomes of each kind of stop.
        settings: How much of this machine to use.
        notes: Also look for ids that many people share, and describe the stops.
        progress: Told from 0 to 1 how far it is.
        unit: Who is protected. Ids matter if it is a person.

    Raises:
        DataError: The sequences cannot be read at all, or there is no stop in them.
    """
    with open_session(settings or EngineSettings()) as session:
        reading = rows_read(session, source)
        rows = session.rows(reading)
        integers = bool(rows.location.type().is_integer())
        places = load_places(session, locations, integers=integers)
        marked = rows.left_join(places.rename(location="id"), "location").drop("location_right")
        owned = unit.has_many_records and "person" in rows.columns
        kept = marked.place.notnull()
        marked = marked.mutate(kept=kept & marked.person.notnull() if owned else kept)
        nulls = _nulls(marked, {"person": "person", "location": "stops"})
        found = first_row(session.run(_counted(marked, nulls, notes=notes), progress))
        refuse_nothing(found, source.noun, "stop", "stop")
        found["malformed_row"] = session.malformed_rows()
        description = _description(found)
        parts = ["person", "record"] if owned else ["record"]
        records = _records(session, marked.filter(marked.kept), parts, progress)
        found |= first_row(session.run(_beyond(records, rule.max_stops)))
        if notes:
            if owned:
                # Every record has a first stop.
                firsts = rows.filter(rows.position == 1).select("person").drop_null(["person"])
                found |= ids_with_too_many(session, firsts, progress)
            named = (places_found("places", "place", len(locations), found),)
            description = replace(description, places=named)
            description = _described(session, description, records, rule, unit, days=1)
    problems = problems_of(found, source.columns, policy, _SEQUENCE_WORDS, facts_of(found))
    return RowsChecked(
        problems=tuple(problems),
        verdicts=tuple(verdicts(description, policy)),
        found=description,
    )


def _description(found: dict[str, int]) -> RowsFound:
    # A row of a CSV file that cannot be read has at least one stop.
    return RowsFound(read=found["rows"] + found["malformed_row"], kept=found["kept"])


def _described(
    session: Session,
    description: RowsFound,
    records: ir.Table,
    rule: SequenceRule,
    unit: Unit,
    *,
    days: int,
) -> RowsFound:
    """Adds people, and what the contribution limits leave out, to a description."""
    height = sizes_of(session, records, "stops").limited("max_stops", "stops", rule.max_stops)
    if not unit.has_many_records or "person" not in records.columns:
        return replace(description, limits=(height,))
    people = records.group_by("person").aggregate(
        records=lambda person: person.count(), stops=lambda person: person.stops.sum()
    )
    per_person = sizes_of(session, people, "records")
    plausible = max(_TIMES_LIMIT * rule.max_records * rule.max_stops, MOST_A_DAY * days)
    return replace(
        description,
        people=sizes_of(session, people, "stops").people(plausible),
        limits=(per_person.limited("max_records", "records", rule.max_records), height),
    )


def _marked(rows: ir.Table, places: ir.Table, buckets: ir.Table, grid: DayGrid) -> ir.Table:
    """Adds place, day and period, null where the public tables have none; and what is kept."""
    bucket = bucket_of(rows.us, grid.start_us, grid.end_us, grid.bucket_us)
    marked = (
        rows.mutate(bucket=bucket)
        .left_join(buckets, "bucket")
        .drop("bucket_right")
        .left_join(places.rename(location="id"), "location")
        .drop("location_right")
    )
    kept = marked.period.notnull() & marked.place.notnull() & marked.person.notnull()
    return marked.mutate(kept=kept)


def _tap_summary(marked: ir.Table, skipped: Periods | None, *, notes: bool) -> ir.Table:
    """Returns one row with the number of taps of every kind."""
    gone = in_gaps(marked.us, skipped)
    nulls = _nulls(marked, {"person": "person", "location": "location"})
    nulls["null_time"] = ~marked.timed
    kinds = {
        "unparsable_time": marked.timed & marked.us.isnull(),
        "impossible_time": marked.us.notnull() & gone,
        "outside_window": marked.us.notnull() & marked.period.isnull() & ~gone,
    }
    return _counted(marked, nulls, kinds, notes=notes)


def _nulls(marked: ir.Table, roles: dict[str, str]) -> dict[str, ir.BooleanValue]:
    """Returns which rows lack a value, by the purpose of the column that it comes from."""
    return {
        f"null_{role}": marked[name].isnull()
        for name, role in roles.items()
        if name in marked.columns
    }


def _counted(
    marked: ir.Table,
    nulls: dict[str, ir.BooleanValue],
    kinds: dict[str, ir.BooleanValue] | None = None,
    *,
    notes: bool,
) -> ir.Table:
    kinds = {
        **nulls,
        **(kinds or {}),
        "null_value": reduce(or_, nulls.values()),
        "unknown_place": marked.location.notnull() & marked.place.isnull(),
        "kept": marked.kept,
    }
    counts = {name: condition.sum().fill_null(0) for name, condition in kinds.items()}
    if notes:
        counts |= place_counts("place", marked.location, marked.place)
    return marked.aggregate(rows=marked.count(), **counts)


def _records(
    session: Session, usable: ir.Table, parts: list[str], progress: ShareProgress | None
) -> ir.Table:
    """Counts the stops of each record that count at all, once for all that is asked of them."""
    records = usable.group_by(parts).aggregate(stops=lambda record: record.count())
    return session.store("stops_by_record", records, progress)


def _beyond(records: ir.Table, max_stops: int) -> ir.Table:
    """Returns one row: how many stops come after those that count."""
    over = ibis.greatest(records.stops - max_stops, 0)
    return records.aggregate(long_records=over.sum().fill_null(0))
