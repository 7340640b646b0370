"""Looks for positions that cannot be counted, before any budget is touched."""

from dataclasses import replace
from typing import Final

import ibis
import ibis.expr.types as ir
import numpy as np

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
from hushway.families.links.matching.traces import Reason, Traces
from hushway.families.links.public.roads import RoadNetwork
from hushway.families.links.public.universe import LinkUniverse
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
from hushway.families.links.rows.trips import Splitting, split_trips
from hushway.geography.periods import Periods
from hushway.progress import ShareProgress
from hushway.tables.check import Policy, RowsChecked
from hushway.tables.found import RowsFound
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
_TRIPS_TRIED = 2_000
# Metres. Devices are seldom so wrong on a road.
_FAR = 100.0
_REASONS = {
    Reason.TOO_SHORT: "trips_too_short",
    Reason.OFF_ROAD: "trips_off_road",
    Reason.NO_ROUTE: "trips_without_route",
    Reason.BROKEN: "trips_broken",
}


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

    Raises:
        DataError: The traces cannot be read at all, or there are none.
    """
    settings = EngineSettings() if settings is None else settings
    facts: dict[str, float] = {"far": _FAR, "tried": 0}
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
        )
        if notes:
            alike = [name for name in rows.columns if name != "timed"]
            copies = copies_of(rows, alike, ["us", *_NEEDED])
            found |= first_row(session.run(copies, progress))
            lookup = PeriodLookup.of(universe.periods, source.clock)
            usable = countable(rows, Surroundings.of(universe.roads), lookup)
            found |= ids_in_two_places(session, usable, _middle(universe.roads), progress)
            positions = sizes_of(session, session.table(POSITIONS_BY_ID), "rows")
            description = replace(
                description,
                times=times_found(session, rows, universe.periods, source.clock, progress),
                people=positions.people(_service_seconds(universe.periods)),
            )
            some = session.fetch(_some_people(usable))
            with embedded_session(replace(settings, cluster=None)) as here:
                trips = [
                    split_trips(people, universe.roads.plane, splitting or Splitting()).traces
                    for people in people_at_a_time(here, here.load("some_people", some))
                ]
            trial = _tried(trips, matcher or Matcher(universe.roads), settings.threads)
            found |= trial
            facts["tried"] = trial["tried"]
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


def _tried(trips: list[Traces], matcher: RoadMatcher, threads: int | None) -> dict[str, int]:
    """Returns how many trips had no way, by reason, and how many positions no road near them."""
    found = dict.fromkeys(("tried", "far_from_roads", *_REASONS.values()), 0)
    for traces in trips:
        some = _first_trips(traces, _TRIPS_TRIED - found["tried"])
        ways = matcher.match(some, threads=threads)
        near, _, _ = matcher.nearest_links(some.x, some.y, _FAR)
        found["tried"] += len(some)
        found["far_from_roads"] += int((np.diff(near) == 0).sum())
        for reason, kind in _REASONS.items():
            found[kind] += int((ways.reason == reason).sum())
    return found


def _first_trips(traces: Traces, most: int) -> Traces:
    start = traces.start[: most + 1]
    columns = (column[: start[-1]] for column in (traces.x, traces.y, traces.seconds))
    x, y, seconds = columns
    return Traces(start=start, x=x, y=y, seconds=seconds)


def _service_seconds(periods: Periods) -> int:
    """Returns the seconds of service of a window: devices take positions once a second at most."""
    return len(periods.days) * (periods.closes - periods.opens) * 60


def _middle(roads: RoadNetwork) -> float:
    """Returns the latitude of the roads' middle."""
    return float(roads.lat.min() + roads.lat.max()) / 2
