"""Looks for rows that cannot be counted, before any budget is touched."""

from dataclasses import replace
from functools import partial
from typing import Final

import ibis
import ibis.expr.types as ir

from hushway.engine import row_checks
from hushway.engine.opening import open_session
from hushway.engine.profile import place_counts, places_found, sizes_of, times_found, unknown_names
from hushway.engine.session import Session
from hushway.engine.settings import EngineSettings
from hushway.families.od.public.cells import ODCells
from hushway.families.od.rows.bounding import Lookups, load_lookups, trip_columns
from hushway.families.od.rows.trips import AnyTrips, FareTaps, id_kinds_of, trips_read
from hushway.geography.locations import NOT_KNOWN, Locations
from hushway.geography.periods import Periods
from hushway.journeys.reasons import REASONS, reason_kinds
from hushway.journeys.taps import TapsSource
from hushway.privacy.bound import Unit
from hushway.tables.check import Policy, RowsChecked
from hushway.tables.profile import PlacesFound

_SERVICE_TIME: Final = (
    "The service date is not a date, or the time on it is not HH:MM or HH:MM:SS.",
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
_WORDS: Final[row_checks.Words] = {
    **row_checks.ROW_WORDS,
    "unknown_place": (
        "The origin or the destination is not in the public list of places.",
        row_checks.UNKNOWN,
    ),
    "outside_window": row_checks.OUTSIDE_WINDOW,
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
        row_checks.TOO_MANY,
        f'{row_checks.OWN_TICKET} trips (unit = "trip").',
    ),
}


# More trips of one id than so many times its contribution limit are worth a look.
_TIMES_LIMIT: Final = 100


def check_trips(
    source: AnyTrips,
    cells: ODCells,
    policy: Policy,
    *,
    settings: EngineSettings | None = None,
    notes: bool = True,
    unit: Unit = Unit.PERSON,
    max_trips: int | None = 1,
) -> RowsChecked:
    """Returns every kind of problem with the trips, how many rows it concerns, and a profile.

    Without `max_trips` nothing is said of a limit: the release completes what it leaves out.

    With `notes`, rows that are alike and ids that many people share are looked for, and the rows
    are described. That takes about as long as counting.

    Privacy:
        Exact counts, for the steward's own screen; nothing of it may enter a release.
    """
    if isinstance(source, TapsSource):
        source = replace(source, all_taps=True)
    with open_session(settings or EngineSettings()) as session:
        reading = trips_read(session, source)
        rows = session.rows(reading)
        id_kinds = id_kinds_of(source, reading.layout)
        lookups = load_lookups(session, id_kinds, cells, source.clock)
        skipped = cells.periods if source.clock == "local" else None
        marked = _marked(rows, lookups, cells, unit)
        summary = _summary(marked, cells, skipped, _needed(unit, rows), notes=notes)
        found = row_checks.counts_found(session, summary, "trips", "trip")
        profile = row_checks.rows_found(found)
        if notes:
            alike = [c for c in ("person", "origin", "destination", "us") if c in rows.columns]
            counted = marked.filter(marked.kept) if trip_columns(rows.columns) else rows
            found |= row_checks.first_row(session.run(row_checks.copies_of(counted, alike)))
            profile = replace(
                profile,
                times=times_found(session, rows, cells.periods, source.clock),
                places=_places(session, marked, found, cells.locations, named=id_kinds is not None),
            )
            if unit.has_many_records and "person" in rows.columns:
                timely = row_checks.rows_between(marked, lookups.grid, "kept")
                found |= row_checks.ids_with_too_many(session, timely)
                sizes = sizes_of(session, session.table(row_checks.ROWS_BY_ID), "kept")
                plausible = max(
                    _TIMES_LIMIT * (max_trips or 1), row_checks.MOST_A_DAY * len(cells.periods.days)
                )
                profile = replace(
                    profile,
                    people=sizes.people(plausible),
                    limits=()
                    if max_trips is None
                    else (sizes.limited("max_trips", "trips", max_trips),),
                )
    words = _WORDS | REASONS
    if source.clock == "service":
        words |= {"unparsable_time": _SERVICE_TIME}
    if isinstance(source, FareTaps):
        # An entry without an exit has no stop to end at.
        found["null_stop"] = found["null_origin"] + found["null_destination"]
    if source.areas is not None:
        words |= {"unknown_place": _NOWHERE}
        # Of a point that is not whole the longitude is named.
        found |= {f"null_{end}_lon": found[f"null_{end}"] for end in ("origin", "destination")}
    return row_checks.rows_checked(found, profile, source.columns, policy, words)


def _places(
    session: Session,
    marked: ir.Table,
    found: dict[str, int],
    locations: Locations,
    *,
    named: bool,
) -> tuple[PlacesFound, ...]:
    """Returns which places trips name; points name none."""

    def of(end: str, code: str) -> PlacesFound:
        names = partial(unknown_names, session, marked, end, code, locations) if named else tuple
        return places_found(f"{end}s", end, len(locations), found, names)

    return of("origin", "o"), of("destination", "d")


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
    # Reasons tell more of taps that begin nothing.
    untold = ("origin", "destination") if "rule" in marked.columns else ()
    ends = marked.origin.notnull() & marked.destination.notnull()
    kinds: dict[str, ir.BooleanValue] = {
        **row_checks.null_kinds(marked, {name: name for name in needed if name not in untold}),
        **row_checks.time_kinds(marked, skipped),
        "unknown_place": ends & (marked.o.isnull() | marked.d.isnull()),
        "kept": marked.kept,
        "duplicate_trip_id": marked.repeated,
        **reason_kinds(marked),
    }
    if not cells.include_intrazonal:
        kinds["intrazonal"] = marked.o == marked.d
        if "rule" in marked.columns:
            # Who began and ended nobody knows where did not end where they began.
            kinds["intrazonal"] &= marked.origin != NOT_KNOWN
    places = {}
    if notes:
        places = place_counts("origin", marked.origin, marked.o)
        places |= place_counts("destination", marked.destination, marked.d)
    return row_checks.summary_of(marked, kinds, **places)


def _marked(rows: ir.Table, lookups: Lookups, cells: ODCells, unit: Unit) -> ir.Table:
    """Adds period, o and d to every row, null where the public tables have none; and what counts.

    A row is `kept` here if `hushway.families.od.rows.bounding.ranked_counts` counts it, or would
    without a limit. Of the rows of one trip one is, and the others are `repeated`.
    """
    marked = row_checks.with_buckets(rows, lookups.grid, lookups.buckets)
    marked = row_checks.looked_up(marked, lookups.origins.rename(origin="id", o="place"), "origin")
    destinations = lookups.destinations.rename(destination="id", d="place")
    marked = row_checks.looked_up(marked, destinations, "destination")
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
