"""Looks for events that cannot be counted, before any budget is touched."""

from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

import ibis
import ibis.expr.types as ir
import numpy as np
import pyarrow as pa
import shapely
from numpy.typing import NDArray

from hushway.engine import row_checks
from hushway.engine.grids import DayGrid, day_grid
from hushway.engine.opening import open_session
from hushway.engine.profile import (
    place_counts,
    places_found,
    sizes_of,
    swapped_positions,
    times_found,
    unknown_names,
)
from hushway.engine.session import Session
from hushway.engine.settings import EngineSettings
from hushway.families.density.public.visits import DensityUniverse, VisitLimits
from hushway.families.density.rows.counter import VisitsOfPeople
from hushway.families.density.rows.rows import (
    NOWHERE,
    AreaIndex,
    EventsSource,
    events_read,
    load_bins,
    load_sites,
    refuse_other_columns,
    visits_read,
)
from hushway.geography.areas import Areas
from hushway.geography.clock import looks_swapped
from hushway.geography.periods import Periods
from hushway.tables.check import Policy, RowsChecked
from hushway.tables.profile import LimitFound, PlacesFound, RowsFound, Sizes

_WORDS: Final[row_checks.Words] = {
    **row_checks.ROW_WORDS,
    "impossible_position": row_checks.IMPOSSIBLE_POSITION,
    "unknown_place": (
        "The place is not in the public list, or lies in none of the public areas.",
        row_checks.UNKNOWN,
    ),
    "outside_window": row_checks.OUTSIDE_WINDOW,
    "duplicate_rows": (
        "A row repeats another: same {alike}. Together they are one visit.",
        "Leave it so: nobody counts twice in a period.",
    ),
    "shared_ids": (
        row_checks.TOO_MANY,
        f"{row_checks.LEAVE_OUT} or give each phone an id of its own.",
    ),
}

_MOST_LON, _MOST_LAT = 180.0, 90.0
_PLACES = ("location", "lon", "lat")
_TROUBLES = ("null_time", "unparsable_time", "impossible_time", "outside_window")


def check_events(
    source: EventsSource,
    universe: DensityUniverse,
    policy: Policy,
    *,
    settings: EngineSettings | None = None,
    notes: bool = True,
    limits: VisitLimits | None = None,
) -> RowsChecked:
    """Returns every kind of problem with the events, how many rows it concerns, and a profile.

    With `notes`, rows that are alike, which are one visit all the same, and ids that many people
    share are looked for, and the rows are described. Without `limits`, nothing is said of them.

    Privacy:
        Exact counts, for the steward's own screen; nothing of it may enter a release.
    """
    refuse_other_columns(source, universe)
    grid = day_grid(universe.periods, source.clock)
    with open_session(settings or EngineSettings()) as session:
        rows = session.rows(events_read(session, source))
        skipped = universe.periods if source.clock == "local" else None
        judged = _judged(session, rows, grid, skipped)
        sites = None
        if universe.sites is not None:
            integers = bool(rows.location.type().is_integer())
            sites = load_sites(session, universe.sites, integers=integers)
        found = row_checks.counts_found(session, _summary(judged, sites), "events", "event")
        if universe.sites is None:
            found |= _misplaced(session, judged, universe.areas)
        swapped = found.get("swapped", 0)
        profile = row_checks.rows_found(
            found, swapped=swapped, places_swapped=_areas_look_swapped(universe)
        )
        if notes:
            alike = [name for name in rows.columns if name != "timed"]
            found |= row_checks.first_row(session.run(row_checks.copies_of(rows, alike)))
            found |= row_checks.ids_with_too_many(session, row_checks.rows_between(rows, grid))
            times = times_found(session, rows, universe.periods, source.clock)
            profile = replace(profile, times=times)
            if sites is not None:
                profile = replace(profile, places=_places(session, judged, sites, universe, found))
            placed = _placed(rows, universe, sites)
            visits = _visits(session, placed, grid, universe)
            profile = _with_people(session, profile, visits, universe, limits)
    if notes and limits is not None and sites is None:
        # Which area a position lies in is nothing that the engine knows.
        total = _visits_by_area(source, universe, settings)
        profile = replace(profile, limits=(*profile.limits, _in_total(total, limits)))
    places = [role for role in source.columns.roles if role in _PLACES]
    found |= {f"null_{role}": found["null_place"] for role in places}
    return row_checks.rows_checked(found, profile, source.columns, policy, _WORDS)


def _groups(rows: ir.Table) -> ir.Table:
    """Returns numbers of rows that are alike in place and trouble.

    There are few such groups, so that only they, and not all rows, meet the public list of places.
    """
    place = rows.location if "location" in rows.columns else ibis.null("int64")
    placed = place.notnull() if "location" in rows.columns else _has_position(rows)
    keyed = rows.select(
        location=place, placed=placed, owned=rows.person.notnull(), trouble=rows.trouble
    )
    return keyed.group_by(keyed.columns).aggregate(times=lambda group: group.count())


def _has_position(rows: ir.Table) -> ir.BooleanValue:
    return rows.lon.notnull() & rows.lat.notnull()


def _judged(session: Session, rows: ir.Table, grid: DayGrid, skipped: Periods | None) -> ir.Table:
    """Adds what is wrong with the time of each row: a position in `_TROUBLES`."""
    outside = ~((rows.us >= grid.start_us) & (rows.us < grid.end_us))
    if (grid.day < 0).any():
        # Hours without service: only then every time has to be looked up.
        buckets = session.load("public_buckets", grid.table).select("bucket", "period")
        rows = row_checks.with_buckets(rows, grid, buckets)
        outside = rows.period.isnull()
    conditions = (~rows.timed, rows.us.isnull(), row_checks.in_gaps(rows.us, skipped), outside)
    numbered = [(condition, i + 1) for i, condition in enumerate(conditions)]
    return rows.mutate(trouble=ibis.cases(*numbered, else_=0).cast("int8"))


def _summary(judged: ir.Table, sites: ir.Table | None) -> ir.Table:
    """Returns one row with the number of events of every kind."""
    groups = _groups(judged)
    lost = ibis.literal(value=False)
    if sites is not None:
        groups = row_checks.looked_up(groups, sites.rename(location="id"), "location")
        lost = groups.placed & groups.site.isnull()
    timeless = groups.trouble == 1
    kinds = {
        "rows": ibis.literal(value=True),
        "null_person": ~groups.owned,
        "null_place": ~groups.placed,
        "null_value": ~groups.owned | ~groups.placed | timeless,
        "unknown_place": lost,
        "kept": groups.owned & groups.placed & ~lost & (groups.trouble == 0),
        **{kind: groups.trouble == i + 1 for i, kind in enumerate(_TROUBLES)},
    }
    counts = {
        kind: condition.ifelse(groups.times, 0).sum().fill_null(0)
        for kind, condition in kinds.items()
    }
    if sites is not None:
        counts |= place_counts("place", groups.location, groups.site)
    return groups.aggregate(**counts)


def _places(
    session: Session,
    judged: ir.Table,
    sites: ir.Table,
    universe: DensityUniverse,
    found: dict[str, int],
) -> tuple[PlacesFound, ...]:
    assert universe.sites is not None  # noqa: S101  what events name
    groups = row_checks.looked_up(_groups(judged), sites.rename(location="id"), "location")
    listed = universe.sites.locations
    names = partial(unknown_names, session, groups, "location", "site", listed)
    # Towers at one point are one site.
    return (places_found("places", "place", universe.site_count, found, names),)


def _misplaced(session: Session, rows: ir.Table, areas: Areas) -> dict[str, int]:
    """Returns how many positions are none on Earth, lie in no area, look swapped, or are kept."""
    given = rows.filter(_has_position(rows))
    usable = given.person.notnull() & (given.trouble == 0)
    looked_at = given.select("lon", "lat", usable=usable)
    return session.tally(looked_at, _Positions(AreaIndex(areas)))


def _areas_look_swapped(universe: DensityUniverse) -> bool:
    west, south, east, north = shapely.total_bounds(universe.areas.shapes)
    middle = float(west + east) / 2, float(south + north) / 2
    return looks_swapped(*middle, universe.periods.zone)


@dataclass(frozen=True)
class _Positions:
    """Counts what is wrong with positions."""

    index: AreaIndex

    def __call__(self, batch: pa.RecordBatch) -> dict[str, int]:
        lon, lat = np.array(batch.column("lon")), np.array(batch.column("lat"))
        earthly = (np.abs(lon) <= _MOST_LON) & (np.abs(lat) <= _MOST_LAT)
        within = earthly & self._inside(lon, lat)
        usable = batch.column("usable").to_numpy(zero_copy_only=False)
        return {
            "impossible_position": int((~earthly).sum()),
            "unknown_place": int((earthly & ~within).sum()),
            "swapped": swapped_positions(lon[~within], lat[~within], self._inside),
            "kept": int((within & usable).sum()),
        }

    def _inside(self, lon: NDArray[Any], lat: NDArray[Any]) -> NDArray[np.bool_]:
        somewhere: NDArray[np.bool_] = self.index.locate(lon, lat) != NOWHERE
        return somewhere


def _placed(rows: ir.Table, universe: DensityUniverse, sites: ir.Table | None) -> ir.Table:
    """Returns rows of somebody somewhere: (person, us), and the site if rows name places.

    Positions are compared with the rectangle around all areas alone, which the engine does at once.
    """
    owned = rows.filter(rows.person.notnull())
    if sites is not None:
        return owned.inner_join(sites.rename(location="id"), "location").select(
            "person", "us", "site"
        )
    west, south, east, north = (float(edge) for edge in shapely.total_bounds(universe.areas.shapes))
    within = owned.lon.between(west, east) & owned.lat.between(south, north)
    return owned.filter(within).select("person", "us")


def _visits(session: Session, rows: ir.Table, grid: DayGrid, universe: DensityUniverse) -> ir.Table:
    """Counts the rows of each person in each bin, by site if there are any: each is a visit."""
    rows = rows.filter(row_checks.in_window(rows.us, grid))
    rows = rows.mutate(bucket=row_checks.bucket_of(rows.us, grid))
    binned = rows.inner_join(load_bins(session, grid, universe), "bucket")
    alike = [name for name in ("person", "first", "site") if name in binned.columns]
    visits = binned.group_by(alike).aggregate(rows=lambda visit: visit.count())
    return session.store("rows_by_visit", visits)


def _visits_by_area(
    source: EventsSource, universe: DensityUniverse, settings: EngineSettings | None
) -> Sizes:
    with open_session(settings or EngineSettings()) as session:
        part = VisitsOfPeople(universe=universe)
        found = session.count(visits_read(session, source, universe), part)
    return Sizes(size=found.cells, owners=found.values)


def _in_total(visits: Sizes, limits: VisitLimits) -> LimitFound:
    return visits.limited("max_visits_in_total", "visits", limits.max_visits_in_total)


def _with_people(
    session: Session,
    profile: RowsFound,
    visits: ir.Table,
    universe: DensityUniverse,
    limits: VisitLimits | None,
) -> RowsFound:
    people = visits.group_by("person").aggregate(
        bins=lambda person: person["first"].nunique(),
        visits=lambda person: person.count(),
        rows=lambda person: person.rows.sum(),
    )
    periods = universe.periods
    # A phone may report often, but hardly every minute of a whole window.
    minutes = len(periods.days) * (periods.closes - periods.opens)
    rows = sizes_of(session, people, "rows").people(minutes)
    described = replace(profile, people=rows)
    if limits is None:
        return described
    in_bins = sizes_of(session, people, "bins")
    found = [in_bins.limited("max_visits", "visits, one a period", limits.max_visits)]
    if universe.sites is not None:
        found.append(_in_total(sizes_of(session, people, "visits"), limits))
    return replace(described, limits=tuple(found))
