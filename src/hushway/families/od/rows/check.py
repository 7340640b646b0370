"""Looks for rows that cannot be counted, before any budget is touched."""

from dataclasses import replace
from functools import reduce
from operator import or_
from typing import Final

import ibis
import ibis.expr.types as ir

from hushway.engine.found import place_counts, places_found, sizes_of, times_found
from hushway.engine.opening import open_session
from hushway.engine.settings import EngineSettings
from hushway.engine.shared_ids import (
    MOST_A_DAY,
    OUTSIDE_WINDOW,
    OWN_TICKET,
    ROW_WORDS,
    ROWS_BY_ID,
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
from hushway.families.od.public.cells import ODCells
from hushway.families.od.rows.bounding import Lookups, load_lookups, trip_columns
from hushway.families.od.rows.trips import AnyTrips, FareTaps, id_kinds_of, trips_read
from hushway.geography.periods import Periods
from hushway.privacy.bound import Unit
from hushway.progress import ShareProgress
from hushway.tables.check import Policy, RowsChecked
from hushway.tables.found import RowsFound
from hushway.tables.verdict import verdicts

_SERVICE_TIME: Final = (
    "The service date is no day, or the time on it is not HH:MM or HH:MM:SS.",
    "Write 2026-03-02 or 20260302, and 25:30 for half past one in the night after it.",
)
_NOWHERE: Final = (
    "The origin or the destination lies in none of the public areas, or is no point on Earth.",
    "Leave it out, unless the areas should reach further; write WGS84 degrees.",
)
_TRIP_IDS: Final = (
    "Check how the trips were put together. Ids must differ among all trips; or among those of one "
    "person, if the plan names the column of persons."
)
_WORDS: Final[Words] = {
    **ROW_WORDS,
    "unknown_place": (
        "The origin or the destination is not in the public list of places.",
        UNKNOWN,
    ),
    "outside_window": OUTSIDE_WINDOW,
    "intrazonal": (
        "The trip ends where it began, and such trips have no cells.",
        "Leave it so, or count all such trips: include_intrazonal = true.",
    ),
    "duplicate_trip_id": (
        "A trip id appears again: rows{within} that share one are one trip, and one counts.",
        _TRIP_IDS,
    ),
    "duplicate_rows": (
        "A row repeats another: same {alike}. Both are counted.",
        "Check whether files overlap; a column of trip ids would tell.",
    ),
    "shared_ids": (
        TOO_MANY,
        f'{OWN_TICKET} trips (unit = "trip").',
    ),
}


# More trips of one id than so many times its contribution limit are worth a look.
_TIMES_LIMIT: Final = 100


def check_trips(  # noqa: PLR0913  what counts, how, and how it is watched
    source: AnyTrips,
    cells: ODCells,
    policy: Policy,
    *,
    settings: EngineSettings | None = None,
    notes: bool = True,
    progress: ShareProgress | None = None,
    unit: Unit = Unit.PERSON,
    max_trips: int = 1,
) -> RowsChecked:
    """Returns every kind of trouble with the trips, how many rows it concerns, and what is found.

    Privacy:
        Exact counts, for the steward's own screen; nothing of it may enter a release.

    Args:
        source: Where the trips are.
        cells: The public universe.
        policy: What becomes of each kind of row.
        settings: How much of this machine to use.
        notes: Also look for rows that are alike and for ids that many people share, and describe
            the rows. That takes about as long as counting.
        progress: Told from 0 to 1 how far it is.
        unit: Who is protected. Ids matter if it is a person.
        max_trips: Most trips of one person that will be counted.

    Raises:
        DataError: The trips cannot be read at all, or there are none.
    """
    with open_session(settings or EngineSettings()) as session:
        reading = trips_read(session, source)
        id_kinds = id_kinds_of(source, reading.layout)
        rows = session.rows(reading)
        lookups = load_lookups(session, id_kinds, cells, source.clock)
        skipped = cells.periods if source.clock == "local" else None
        marked = _marked(rows, lookups, cells, unit)
        summary = _summary(marked, cells, skipped, _needed(unit, rows), notes=notes)
        found = first_row(session.run(summary, progress))
        refuse_nothing(found, "trips", "row", "trip")
        found["malformed_row"] = session.malformed_rows()
        description = RowsFound(
            read=found["rows"] + found["malformed_row"],
            kept=found["kept"],
        )
        if notes:
            alike = [c for c in ("person", "origin", "destination", "us") if c in rows.columns]
            counted = marked.filter(marked.kept) if trip_columns(rows.columns) else rows
            found |= first_row(session.run(copies_of(counted, alike), progress))
            listed = len(cells.locations)
            description = replace(
                description,
                times=times_found(session, rows, cells.periods, source.clock, progress),
                places=tuple(
                    places_found(f"{end}s", end, listed, found) for end in ("origin", "destination")
                ),
            )
            if unit.has_many_records and "person" in rows.columns:
                grid = lookups.grid
                timely = rows_between(marked, grid.start_us, grid.end_us, "kept")
                found |= ids_with_too_many(session, timely, progress)
                sizes = sizes_of(session, session.table(ROWS_BY_ID), "kept")
                plausible = max(_TIMES_LIMIT * max_trips, MOST_A_DAY * len(cells.periods.days))
                description = replace(
                    description,
                    people=sizes.people(plausible),
                    limits=(sizes.limited("max_trips", "trips", max_trips),),
                )
    words = _WORDS | ({"unparsable_time": _SERVICE_TIME} if source.clock == "service" else {})
    if isinstance(source, FareTaps):
        # An entry without an exit has no stop to end at.
        found["null_stop"] = found["null_origin"] + found["null_destination"]
    if source.areas is not None:
        words |= {"unknown_place": _NOWHERE}
        # Of a point that is not whole the longitude is named.
        found |= {f"null_{end}_lon": found[f"null_{end}"] for end in ("origin", "destination")}
    problems = problems_of(found, source.columns, policy, words, facts_of(found))
    return RowsChecked(
        problems=tuple(problems),
        verdicts=tuple(verdicts(description, policy)),
        found=description,
    )


def _needed(unit: Unit, rows: ir.Table) -> tuple[str, ...]:
    """Returns what a row must have to be counted; a person, if a person or a trip is told by it."""
    trip = trip_columns(rows.columns)
    owner = ("person",) if unit.has_many_records and "person" in rows.columns else ()
    return ("origin", "destination", *(trip or owner))


def _summary(
    marked: ir.Table,
    cells: ODCells,
    skipped: Periods | None,
    needed: tuple[str, ...],
    *,
    notes: bool,
) -> ir.Table:
    """Returns one row with the number of rows of every kind."""
    ends = marked.origin.notnull() & marked.destination.notnull()
    gone = in_gaps(marked.us, skipped)
    nulls = {f"null_{role}": marked[role].isnull() for role in needed}
    nulls["null_time"] = ~marked.timed
    given = marked.timed
    if "dated" in marked.columns:
        nulls["null_service_date"] = ~marked.dated
        given &= marked.dated
    kinds: dict[str, ir.BooleanValue] = {
        **nulls,
        "null_value": reduce(or_, nulls.values()),
        "unparsable_time": given & marked.us.isnull(),
        "impossible_time": marked.us.notnull() & gone,
        "outside_window": marked.us.notnull() & marked.period.isnull() & ~gone,
        "unknown_place": ends & (marked.o.isnull() | marked.d.isnull()),
        "kept": marked.kept,
        "duplicate_trip_id": marked.repeated,
    }
    if not cells.include_intrazonal:
        kinds["intrazonal"] = marked.o == marked.d
    counts = {name: condition.sum().fill_null(0) for name, condition in kinds.items()}
    if notes:
        counts |= place_counts("origin", marked.origin, marked.o)
        counts |= place_counts("destination", marked.destination, marked.d)
    return marked.aggregate(rows=marked.count(), **counts)


def _marked(rows: ir.Table, lookups: Lookups, cells: ODCells, unit: Unit) -> ir.Table:
    """Adds period, o and d to every row, null where the public tables have none; and what counts.

    A row is `kept` here if `hushway.families.od.rows.bounding.bounded_counts` counts it, or would
    without a limit. Of the rows of one trip one is, and the others are `repeated`.
    """
    grid = lookups.grid
    bucket = bucket_of(rows.us, grid.start_us, grid.end_us, grid.bucket_us)
    marked = (
        rows.mutate(bucket=bucket)
        .left_join(lookups.buckets, "bucket")
        .drop("bucket_right")
        .left_join(lookups.origins.rename(origin="id", o="place"), "origin")
        .drop("origin_right")
        .left_join(lookups.destinations.rename(destination="id", d="place"), "destination")
        .drop("destination_right")
    )
    countable = marked.period.notnull() & marked.o.notnull() & marked.d.notnull()
    if not cells.include_intrazonal:
        countable &= (marked.o != marked.d).fill_null(ibis.literal(value=False))
    for name in _needed(unit, rows):
        countable &= marked[name].notnull()
    return _without_repeats(marked.mutate(countable=countable))


def _without_repeats(marked: ir.Table) -> ir.Table:
    """Says which countable rows are the one that counts of its trip, and which are not."""
    trip = trip_columns(marked.columns)
    if not trip:
        return marked.mutate(kept=marked.countable, repeated=ibis.literal(value=False))
    alike = ibis.window(group_by=[*trip, "countable"], order_by=[marked.us])
    ranked = marked.mutate(first=ibis.row_number().over(alike) == 0)
    return ranked.mutate(
        kept=ranked.countable & ranked.first, repeated=ranked.countable & ~ranked.first
    )
