"""Looks for positions that cannot be counted, before any budget is touched."""

from dataclasses import replace
from typing import Final

import ibis
import ibis.expr.types as ir

from hushway.engine.embedded import embedded_session
from hushway.engine.found import sizes_of, times_found
from hushway.engine.grids import time_grid
from hushway.engine.opening import open_session
from hushway.engine.session import Session
from hushway.engine.settings import EngineSettings
from hushway.engine.shared_ids import (
    IMPOSSIBLE_POSITION,
    LEAVE_OUT,
    OUTSIDE_WINDOW,
    POSITIONS_BY_ID,
    ROW_WORDS,
    TWO_PLACES,
    Words,
    bucket_of,
    copies_of,
    facts_of,
    first_row,
    ids_in_two_places,
    in_gaps,
    problems_of,
    refuse_nothing,
)
from hushway.families.links.matching.matcher import Matcher, RoadMatcher
from hushway.families.links.public.roads import RoadNetwork
from hushway.families.links.public.universe import LinkUniverse, MovementLimits
from hushway.families.links.rows.rows import (
    AnyTraces,
    PeriodLookup,
    Surroundings,
    TraceColumns,
    TracesSource,
    countable,
    people_at_a_time,
    positions_read,
)
from hushway.families.links.rows.trial import FAR, Trial
from hushway.families.links.rows.trips import Splitting
from hushway.geography.periods import Periods
from hushway.geography.zone_place import looks_swapped
from hushway.progress import ShareProgress
from hushway.tables.check import Policy, RowsChecked
from hushway.tables.found import LimitFound, RowsFound, Sizes
from hushway.tables.layout import Clock
from hushway.tables.verdict import verdicts

_WORDS: Final[Words] = {
    **ROW_WORDS,
    "impossible_position": IMPOSSIBLE_POSITION,
    "unknown_place": (
        "The position is not in the surroundings of the road network.",
        "Check the network; or leave it so: such positions are dropped.",
    ),
    "outside_window": OUTSIDE_WINDOW,
    "duplicate_rows": (
        "A row repeats another: same {alike}. Together they are one position.",
        "Leave it so: nobody is twice at one time.",
    ),
    "far_from_roads": (
        "Of some people's positions: further than {far:g} m from every road.",
        "Check that the network holds all roads; a few such positions are usual.",
    ),
    "trips_too_short": (
        "Of {tried:,} trips tried: too short to find a way.",
        "Check how often positions are taken.",
    ),
    "trips_off_road": (
        "Of {tried:,} trips tried: not near roads for long enough to find a way.",
        "Check that the network holds all roads.",
    ),
    "trips_without_route": (
        "Of {tried:,} trips tried: near roads that no route connects.",
        "Check the directions of the network's links, and that they share their nodes.",
    ),
    "trips_broken": (
        "Of {tried:,} trips tried: a way with gaps in it, whose parts count.",
        "Leave it so if they are few; many mean that roads are missing.",
    ),
    "shared_ids": (
        TWO_PLACES,
        f"{LEAVE_OUT} or give each device an id of its own.",
    ),
}

_MOST_LON, _MOST_LAT = 180.0, 90.0
_NEEDED = ("person", "lon", "lat")
_PEOPLE_TRIED = 300


def check_traces(  # noqa: PLR0913  what counts, how, and how it is watched
    source: AnyTraces,
    universe: LinkUniverse,
    policy: Policy,
    *,
    settings: EngineSettings | None = None,
    notes: bool = True,
    progress: ShareProgress | None = None,
    splitting: Splitting | None = None,
    matcher: RoadMatcher | None = None,
    limits: MovementLimits | None = None,
) -> RowsChecked:
    """Returns every kind of trouble with the traces, with rows or trips, and what is found.

    Privacy:
        Exact counts, for the steward's own screen; nothing of it may enter a release.

    Args:
        source: Where the traces are.
        universe: The public roads, periods and zones.
        policy: What becomes of each kind of row.
        settings: How much of this machine to use.
        notes: Also look for rows that are alike and for ids that many people share, try to match
            the trips of some people, and describe the rows.
        progress: Told from 0 to 1 how far it is.
        splitting: How positions become trips.
        matcher: Finds ways on the roads; the usual one if not given.
        limits: How much of one person will count; if not given, nothing is said of that.

    Raises:
        DataError: The traces cannot be read at all, or there are none.
    """
    settings = EngineSettings() if settings is None else settings
    facts: dict[str, float] = {"far": FAR, "tried": 0}
    with open_session(settings) as session:
        rows = session.rows(positions_read(session, source))
        judged = _judged(session, rows, universe, source.clock)
        found = first_row(session.run(judged, progress))
        refuse_nothing(found, "traces", "position", "position")
        found["malformed_row"] = session.malformed_rows()
        description = RowsFound(
            read=found["rows"] + found["malformed_row"],
            kept=found["kept"],
            swapped=found["swapped"],
            places_swapped=looks_swapped(*_middle(universe.roads), universe.periods.zone),
        )
        if notes:
            alike = [name for name in rows.columns if name != "timed"]
            copies = copies_of(rows, alike, ["us", *_NEEDED])
            found |= first_row(session.run(copies, progress))
            lookup = PeriodLookup.of(universe.periods, source.clock)
            usable = countable(rows, Surroundings.of(universe.roads), lookup)
            found |= ids_in_two_places(session, usable, _middle(universe.roads)[1], progress)
            positions = sizes_of(session, session.table(POSITIONS_BY_ID), "rows")
            description = replace(
                description,
                times=times_found(session, rows, universe.periods, source.clock, progress),
                people=positions.people(_service_seconds(universe.periods)),
            )
            some = session.fetch(_some_people(usable))
            trial = Trial(
                universe=universe,
                matcher=matcher or Matcher(universe.roads),
                lookup=lookup,
                splitting=splitting or Splitting(),
            )
            with embedded_session(replace(settings, cluster=None)) as here:
                people = people_at_a_time(here, here.load("some_people", some))
                tried, items = trial.of(people, settings.threads)
            found |= tried
            if limits is not None:
                description = replace(description, limits=(_limit(items, limits),))
            facts["tried"] = tried["tried"]
    columns = source.columns if isinstance(source, TracesSource) else TraceColumns(trip="trip")
    problems = problems_of(found, columns, policy, _WORDS, facts | facts_of(found))
    return RowsChecked(
        problems=tuple(problems),
        verdicts=tuple(verdicts(description, policy)),
        found=description,
    )


def _judged(session: Session, rows: ir.Table, universe: LinkUniverse, clock: Clock) -> ir.Table:
    """Returns one row with the number of positions of every kind."""
    grid = time_grid(universe.periods, clock)
    buckets = session.load("public_buckets", grid.table)
    bucket = bucket_of(rows.us, grid.start_us, grid.end_us, grid.bucket_us)
    rows = rows.mutate(bucket=bucket).left_join(buckets, "bucket").drop("bucket_right")
    skipped: Periods | None = universe.periods if clock == "local" else None
    placed = rows.lon.notnull() & rows.lat.notnull()
    # Not a number is larger than any to the engine.
    earthly = rows.lon.between(-_MOST_LON, _MOST_LON) & rows.lat.between(-_MOST_LAT, _MOST_LAT)
    around = Surroundings.of(universe.roads)
    near = around.hold(rows.lon, rows.lat)
    near_if_swapped = around.hold(rows.lat, rows.lon)
    gone = in_gaps(rows.us, skipped)
    empty = {f"null_{role}": rows[role].isnull() for role in _NEEDED} | {"null_time": ~rows.timed}
    unvalued = ibis.literal(value=False)
    for lacking in empty.values():
        unvalued |= lacking
    kinds = {
        **empty,
        "null_value": unvalued,
        "unparsable_time": rows.timed & rows.us.isnull(),
        "impossible_time": gone,
        "outside_window": rows.us.notnull() & ~gone & rows.period.isnull(),
        "impossible_position": placed & ~earthly,
        "unknown_place": placed & earthly & ~near,
        "swapped": placed & ~near & near_if_swapped,
        "kept": ~unvalued & rows.period.notnull() & near,
    }
    counts = {kind: rows.count(where=condition) for kind, condition in kinds.items()}
    return rows.aggregate(rows=rows.count(), **counts)


def _some_people(rows: ir.Table) -> ir.Table:
    """Returns the rows of some people, whoever they are: not the first ones of a list."""
    persons = rows.select("person").distinct()
    # The same ones in every engine.
    shuffled = persons.person.cast("string").hexdigest("md5")
    some = persons.order_by(shuffled).limit(_PEOPLE_TRIED)
    return rows.semi_join(some, "person")


def _limit(items: Sizes, limits: MovementLimits) -> LimitFound:
    what = f"items of {items.number:,} people tried and found on roads"
    return items.limited("max_items", what, limits.max_items)


def _service_seconds(periods: Periods) -> int:
    """Returns the seconds of service of a window: devices take positions once a second at most."""
    return len(periods.days) * (periods.closes - periods.opens) * 60


def _middle(roads: RoadNetwork) -> tuple[float, float]:
    """Returns longitude and latitude of the roads' middle."""
    lon, lat = (float(axis.min() + axis.max()) / 2 for axis in (roads.lon, roads.lat))
    return lon, lat
