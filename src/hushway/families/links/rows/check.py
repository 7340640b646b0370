"""Looks for positions that cannot be counted, before any budget is touched."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

import ibis.expr.types as ir
import numpy as np

from hushway.arrays import IntArray
from hushway.engine import row_checks
from hushway.engine.embedded import embedded_session
from hushway.engine.grids import time_grid
from hushway.engine.opening import open_session
from hushway.engine.profile import sizes_of, times_found
from hushway.engine.session import Session
from hushway.engine.settings import EngineSettings
from hushway.families.links.matching.matcher import Matcher, RoadMatcher
from hushway.families.links.matching.traces import Reason, Ways
from hushway.families.links.public.roads import RoadNetwork
from hushway.families.links.public.universe import LinkUniverse, MovementLimits
from hushway.families.links.rows.movements import items_of
from hushway.families.links.rows.rows import (
    AnyTraces,
    PeoplePositions,
    PeriodLookup,
    Surroundings,
    TraceColumns,
    TracesSource,
    countable,
    people_at_a_time,
    positions_read,
)
from hushway.families.links.rows.trips import Splitting, Trips, split_trips
from hushway.geography.clock import looks_swapped
from hushway.geography.periods import Periods
from hushway.tables.check import Policy, RowsChecked
from hushway.tables.header import Clock
from hushway.tables.profile import LimitFound, Sizes

_WORDS: Final[row_checks.Words] = {
    **row_checks.ROW_WORDS,
    "impossible_position": row_checks.IMPOSSIBLE_POSITION,
    "unknown_place": (
        "The position is not in the surroundings of the road network.",
        "Check the network; or leave it so: such positions are dropped.",
    ),
    "outside_window": row_checks.OUTSIDE_WINDOW,
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
        row_checks.TWO_PLACES,
        f"{row_checks.LEAVE_OUT} or give each device an id of its own.",
    ),
}

_MOST_LON, _MOST_LAT = 180.0, 90.0
_NEEDED = ("person", "lon", "lat")
_PEOPLE_TRIED = 300


# Metres. Devices are seldom so wrong on a road.
FAR: Final = 100.0
_TRIPS_TRIED = 2_000
_REASONS = {
    Reason.TOO_SHORT: "trips_too_short",
    Reason.OFF_ROAD: "trips_off_road",
    Reason.NO_ROUTE: "trips_without_route",
    Reason.BROKEN: "trips_broken",
}


@dataclass(frozen=True, kw_only=True)
class Trial:
    """How trips are tried, as a release would match them."""

    universe: LinkUniverse
    matcher: RoadMatcher
    lookup: PeriodLookup
    splitting: Splitting

    def of(
        self, people: Iterable[PeoplePositions], threads: int | None
    ) -> tuple[dict[str, int], Sizes]:
        """Returns how many trips had no way, by reason, and how many items people have.

        Privacy:
            Exact, for the steward's own screen.
        """
        found = dict.fromkeys(("tried", "far_from_roads", *_REASONS.values()), 0)
        sizes = [np.zeros(0, dtype=np.int64)]
        for some in people:
            trips = split_trips(some, self.universe.roads.plane, self.splitting)
            first = trips.only(np.arange(min(len(trips.person), _TRIPS_TRIED - found["tried"])))
            ways = self.matcher.match(first.traces, threads=threads)
            near, _, _ = self.matcher.nearest_links(first.traces.x, first.traces.y, FAR)
            found["tried"] += len(first.person)
            found["far_from_roads"] += int((np.diff(near) == 0).sum())
            for reason, kind in _REASONS.items():
                found[kind] += int((ways.reason == reason).sum())
            sizes.append(self._items(ways, trips, first, some.salt))
        size, owners = np.unique(np.concatenate(sizes), return_counts=True)
        return found, Sizes.of({"size": size, "owners": owners})

    def _items(self, ways: Ways, trips: Trips, tried: Trips, salt: IntArray) -> IntArray:
        """Returns the number of distinct items of each person all of whose trips were tried."""
        items = items_of(ways, tried.person, salt, self.universe, self.lookup)
        owner = np.repeat(np.arange(len(salt)), np.diff(items.start))
        distinct = np.unique(np.stack([owner, items.code]), axis=1)[0]
        number = np.bincount(distinct, minlength=len(salt))
        whole = np.bincount(trips.person, minlength=len(salt)) == np.bincount(
            tried.person, minlength=len(salt)
        )
        return np.asarray(number[whole], dtype=np.int64)


def check_traces(  # noqa: PLR0913  what counts, how, and how it is watched
    source: AnyTraces,
    universe: LinkUniverse,
    policy: Policy,
    *,
    settings: EngineSettings | None = None,
    notes: bool = True,
    splitting: Splitting | None = None,
    matcher: RoadMatcher | None = None,
    limits: MovementLimits | None = None,
) -> RowsChecked:
    """Returns every kind of problem with the traces, with rows or trips, and a profile.

    With `notes`, rows that are alike and ids that many people share are looked for, the trips of
    some people are matched, and the rows are described. Without `limits`, nothing is said of them.

    Privacy:
        Exact counts, for the steward's own screen; nothing of it may enter a release.
    """
    settings = EngineSettings() if settings is None else settings
    facts: dict[str, float] = {"far": FAR, "tried": 0}
    with open_session(settings) as session:
        rows = session.rows(positions_read(session, source))
        summary = _summary(session, rows, universe, source.clock)
        found = row_checks.counts_found(session, summary, "traces", "position")
        swapped = looks_swapped(*_middle(universe.roads), universe.periods.zone)
        profile = row_checks.rows_found(found, swapped=found["swapped"], places_swapped=swapped)
        if notes:
            alike = [name for name in rows.columns if name != "timed"]
            copies = row_checks.copies_of(rows, alike, ["us", *_NEEDED])
            found |= row_checks.first_row(session.run(copies))
            lookup = PeriodLookup.of(universe.periods, source.clock)
            usable = countable(rows, Surroundings.of(universe.roads), lookup)
            found |= row_checks.ids_in_two_places(session, usable, _middle(universe.roads)[1])
            positions = sizes_of(session, session.table(row_checks.POSITIONS_BY_ID), "rows")
            profile = replace(
                profile,
                times=times_found(session, rows, universe.periods, source.clock),
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
                profile = replace(profile, limits=(_limit(items, limits),))
            facts["tried"] = tried["tried"]
    columns = source.columns if isinstance(source, TracesSource) else TraceColumns(trip="trip")
    return row_checks.rows_checked(found, profile, columns, policy, _WORDS, facts)


def _summary(session: Session, rows: ir.Table, universe: LinkUniverse, clock: Clock) -> ir.Table:
    """Returns one row with the number of positions of every kind."""
    grid = time_grid(universe.periods, clock)
    rows = row_checks.with_buckets(rows, grid, session.load("public_buckets", grid.table))
    placed = rows.lon.notnull() & rows.lat.notnull()
    # Not a number is larger than any to the engine.
    earthly = rows.lon.between(-_MOST_LON, _MOST_LON) & rows.lat.between(-_MOST_LAT, _MOST_LAT)
    around = Surroundings.of(universe.roads)
    near = around.hold(rows.lon, rows.lat)
    nulls = row_checks.null_kinds(rows, {name: name for name in _NEEDED})
    kinds = {
        **nulls,
        **row_checks.time_kinds(rows, universe.periods if clock == "local" else None),
        "impossible_position": placed & ~earthly,
        "unknown_place": placed & earthly & ~near,
        "swapped": placed & ~near & around.hold(rows.lat, rows.lon),
        "kept": ~nulls["null_value"] & rows.period.notnull() & near,
    }
    return row_checks.summary_of(rows, kinds)


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
