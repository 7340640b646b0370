"""Looks for taps and stops that cannot be counted, before any budget is touched."""

from functools import reduce
from operator import or_
from typing import Final

import ibis
import ibis.expr.types as ir

from hushway.engine.reading import (
    DayGrid,
    day_grid,
    load_places,
    load_table,
    malformed_rows,
    read_rows,
    read_stops,
)
from hushway.engine.session import EngineSettings, duckdb_session, run
from hushway.engine.shared_ids import (
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
    window_of,
)
from hushway.geography.locations import Locations
from hushway.geography.periods import Periods
from hushway.privacy.bound import Unit
from hushway.progress import ShareProgress
from hushway.tables.check import Policy, Problem
from hushway.tables.layout import layout_of

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
) -> list[Problem]:
    """Returns every kind of trouble with the taps, and how many rows it concerns.

    Privacy:
        Exact counts, for the steward's own screen; nothing of it may enter a release.

    Args:
        source: Where the taps are.
        locations: The public places.
        rule: What makes a record.
        policy: What becomes of each kind of row.
        settings: How much of this machine to use.
        notes: Also look for rows that are alike, for records that are too long and for ids that
            many people share. They are counted all the same.
        progress: Told from 0 to 1 how far it is.
        unit: Who is protected. Ids matter if it is a person.

    Raises:
        DataError: The taps cannot be read at all, or there are none.
    """
    window = window_of(rule)
    layout = layout_of(source)
    grid = day_grid(window, source.clock)
    with duckdb_session(settings or EngineSettings()) as backend:
        rows = read_rows(backend, layout, source.clock)
        integers = layout.kinds["location"] == "integer"
        places = load_places(backend, locations, integers=integers)
        buckets = load_table(backend, "public_buckets", grid.table)
        marked = _marked(rows, places, buckets, grid)
        skipped = window if source.clock == "local" else None
        found = first_row(run(backend, _tap_summary(marked, skipped), progress))
        refuse_nothing(found, source.noun, "stop", "stop")
        found["malformed_row"] = malformed_rows(backend)
        if notes:
            copies = copies_of(rows, ["person", "location", "us"])
            found |= first_row(run(backend, copies, progress))
            parts = ["person", "day"] if rule.record == "day" else ["person"]
            usable = marked.drop_null(["person", "day", "place"])
            found |= first_row(run(backend, _beyond(usable, parts, rule.max_stops), progress))
            if unit.has_many_records:
                timely = rows_between(rows, grid.start_us, grid.end_us)
                found |= ids_with_too_many(backend, timely, progress)
    return problems_of(found, source.columns, policy, _TAP_WORDS, facts_of(found))


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
) -> list[Problem]:
    """Returns every kind of trouble with ready sequences, and how many stops it concerns.

    Privacy:
        Exact counts, for the steward's own screen; nothing of it may enter a release.

    Args:
        source: Where the sequences are.
        locations: The public places.
        rule: How much of a record counts.
        policy: What becomes of each kind of stop.
        settings: How much of this machine to use.
        notes: Also look for ids that many people share.
        progress: Told from 0 to 1 how far it is.
        unit: Who is protected. Ids matter if it is a person.

    Raises:
        DataError: The sequences cannot be read at all, or there is no stop in them.
    """
    layout = layout_of(source)
    with duckdb_session(settings or EngineSettings()) as backend:
        rows = read_stops(backend, layout, source.separator)
        integers = layout.kinds["stops"] == "list of integers"
        places = load_places(backend, locations, integers=integers)
        marked = rows.left_join(places.rename(location="id"), "location").drop("location_right")
        nulls = _nulls(marked, {"person": "person", "location": "stops"})
        found = first_row(run(backend, _counted(marked, nulls), progress))
        refuse_nothing(found, source.noun, "stop", "stop")
        found["malformed_row"] = malformed_rows(backend)
        usable = marked.drop_null(["place"])
        found |= first_row(run(backend, _beyond(usable, ["record"], rule.max_stops), progress))
        if notes and unit.has_many_records and "person" in rows.columns:
            # Every record has a first stop.
            records = rows.filter(rows.position == 1).select("person").drop_null(["person"])
            found |= ids_with_too_many(backend, records, progress)
    return problems_of(found, source.columns, policy, _SEQUENCE_WORDS, facts_of(found))


def _marked(rows: ir.Table, places: ir.Table, buckets: ir.Table, grid: DayGrid) -> ir.Table:
    """Adds place, day and period to every row; null where the public tables have none."""
    bucket = bucket_of(rows.us, grid.start_us, grid.end_us, grid.bucket_us)
    return (
        rows.mutate(bucket=bucket)
        .left_join(buckets, "bucket")
        .drop("bucket_right")
        .left_join(places.rename(location="id"), "location")
        .drop("location_right")
    )


def _tap_summary(marked: ir.Table, skipped: Periods | None) -> ir.Table:
    """Returns one row with the number of taps of every kind."""
    gone = in_gaps(marked.us, skipped)
    nulls = _nulls(marked, {"person": "person", "location": "location"})
    nulls["null_time"] = ~marked.timed
    kinds = {
        "unparsable_time": marked.timed & marked.us.isnull(),
        "impossible_time": marked.us.notnull() & gone,
        "outside_window": marked.us.notnull() & marked.period.isnull() & ~gone,
    }
    return _counted(marked, nulls, kinds)


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
) -> ir.Table:
    kinds = {
        **nulls,
        **(kinds or {}),
        "null_value": reduce(or_, nulls.values()),
        "unknown_place": marked.location.notnull() & marked.place.isnull(),
    }
    counts = {name: condition.sum().fill_null(0) for name, condition in kinds.items()}
    return marked.aggregate(rows=marked.count(), **counts)


def _beyond(usable: ir.Table, parts: list[str], max_stops: int) -> ir.Table:
    """Returns one row: how many stops come after those that count."""
    records = usable.group_by(parts).aggregate(stops=lambda record: record.count())
    over = ibis.greatest(records.stops - max_stops, 0)
    return records.aggregate(long_records=over.sum().fill_null(0))
