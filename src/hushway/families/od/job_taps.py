"""The taps of an OD plan, and the public place of those of whom nobody knows where they went."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa

from hushway.errors import GeographyError
from hushway.families.od.plan import ODPlan
from hushway.families.od.plan_taps import TapsPlan
from hushway.geography.clock import clock_stretches, microseconds
from hushway.geography.locations import (
    JOURNEY,
    MEMBERS,
    NOT_KNOWN,
    RIDE,
    TRANSFER,
    Location,
    Locations,
    PlaceLabels,
    journey_at,
    line_at,
    transfer_at,
)
from hushway.journeys.calendars import day_number, day_of
from hushway.journeys.chaining import ChainingRules
from hushway.journeys.rides import PublicRides
from hushway.journeys.taps import TapColumns, TapsSource
from hushway.journeys.timetable import read_timetable
from hushway.journeys.visits import StopVisits, VehicleLocations, read_visits
from hushway.privacy.ledger import Window
from hushway.tables.header import Clock

_MINUTE_US = 60_000_000


def taps_source(plan: ODPlan, taps: TapsPlan, window: Window, rides: PublicRides) -> TapsSource:
    """Returns the protected taps of a plan, with what the public timetable says."""
    start, end = window.as_written
    time = plan.time
    return TapsSource(
        path=plan.rows_path(plan.data.trips),
        columns=TapColumns(**taps.columns.model_dump()),
        clock=plan.data.clock,
        time_format=plan.data.time_format,
        encoding=plan.data.encoding,
        rides=rides,
        rules=ChainingRules(
            transfer_s=taps.transfer_minutes * 60,
            together_s=taps.together_seconds,
            longest_s=taps.longest_ride_minutes * 60,
            day_begins_us=taps.day_begins * _MINUTE_US,
        ),
        counted=taps.count,
        transfers=taps.tells_transfers,
        lines=taps.lines,
        span_us=(microseconds(start), microseconds(end)),
        clocks=clock_stretches(ZoneInfo(time.zone), time.first_day, time.last_day)
        if plan.data.clock == "utc"
        else (),
        entries=taps.entries,
        exits=taps.exits,
        visits=_visits(plan, taps, rides),
    )


def rides_of(plan: ODPlan, taps: TapsPlan) -> PublicRides:
    """Returns the rides of the days of the window; of the night before and after, too.

    Raises:
        GeographyError: No feed has service on any of these days.
    """
    timetable = read_timetable(*(plan.path(feed) for feed in taps.timetables))
    first, last = day_number(plan.time.first_day), day_number(plan.time.last_day)
    if not any(timetable.services_on(day) for day in range(first, last + 1)):
        covered = sorted(day for days in timetable.services if days for day in days)
        spans = f"from {day_of(covered[0])} to {day_of(covered[-1])}" if covered else "on no day"
        raise GeographyError(
            f"The timetable has no service from {plan.time.first_day} to {plan.time.last_day}; "
            f"it has some {spans}.",
            advice="Name a feed of the days of the taps in taps.timetable.",
        )
    return PublicRides(timetable=timetable, walk_m=taps.walk_m, days=(first - 1, last + 1))


def _visits(plan: ODPlan, taps: TapsPlan, rides: PublicRides) -> pa.Table | None:
    """Returns when vehicles were seen at stops; None where no file tells."""
    clock: Clock = "utc" if plan.data.clock == "utc" else "local"
    files = ((taps.stop_visits, StopVisits()), (taps.vehicle_locations, VehicleLocations()))
    seen = [read_visits(plan.path(name), columns, clock, rides) for name, columns in files if name]
    return pa.concat_tables(seen) if seen else None


@dataclass(frozen=True, kw_only=True)
class _Ends:
    """A kind of places beside those of the list.

    Attributes:
        called: What such a place is called, by the listed one.
        ids: The ids that rows give to places that have one; None for all.
    """

    kind: str = RIDE
    line: str = NOT_KNOWN
    title: str = ""
    called: Callable[[str], str] = str
    ids: frozenset[str] | None = None

    def of(self, ids: Iterable[str]) -> list[str]:
        """Returns what those of some ids that have such a place are called there."""
        return [self.called(key) for key in ids if self.ids is None or key in self.ids]

    @property
    def changing(self) -> "_Ends":
        """Where people change there."""
        title = f"Transfer: {self.title}"
        return replace(
            self, kind=TRANSFER, title=title, called=lambda key: transfer_at(self.called(key))
        )


def _ends(taps: TapsPlan, places: Locations, served: Mapping[str, frozenset[str]]) -> list[_Ends]:
    lines = []
    for line, ids in served.items():
        known = ids | {key for name, key in places.aliases if name in ids}
        called = partial(line_at, line)
        lines.append(_Ends(line=line, title=f"{line}: ", called=called, ids=known))
    changes = [each.changing for each in (_Ends(), *lines)] if taps.tells_transfers else []
    whole = _Ends(kind=JOURNEY, title="Journey: ", called=journey_at)
    return [*lines, *changes, *([whole] if taps.count == "both" else [])]


def places_of_taps(
    places: Locations, taps: TapsPlan, served: Mapping[str, frozenset[str]]
) -> Locations:
    """Adds the place of all that nobody knows, in the middle, and those of lines and kinds.

    Args:
        served: The stops of each line for which places are told apart.

    Raises:
        GeographyError: A place is called like one that is added.
    """
    kinds = _ends(taps, places, served)
    members = _members(places)
    made = [(ends, n) for ends in kinds for n, ids in enumerate(members) if ends.of(ids)]
    added = [
        replace(place, id=ends.called(place.id), name=f"{ends.title}{place.name}")
        for ends, place in ((ends, places.places[n]) for ends, n in made)
    ]
    listed = (*places.places, _unknown(places), *added)
    if taken := {each.id for each in listed[len(places) :]} & set(places.places_of_ids):
        raise GeographyError(
            f"A place is called {min(taken)!r}, which has a meaning of its own with taps.",
            advice="Call it something else.",
        )
    named = tuple(
        pair
        for ends in kinds
        for name, key in places.aliases
        for pair in zip(ends.of([name]), ends.of([key]), strict=False)
    )
    labels = [_with_added(each, made) for each in places.labels]
    if taps.labels:
        tuples = [(place.id, NOT_KNOWN, RIDE) for place in places.places]
        tuples += [(NOT_KNOWN,) * 3, *((places.ids[n], e.line, e.kind) for e, n in made)]
        columns = zip(taps.labels, zip(*tuples, strict=True), strict=True)
        labels += [PlaceLabels(column=column, values=values) for column, values in columns]
    aliases = (*places.aliases, *named)
    return replace(places, places=listed, labels=tuple(labels), aliases=aliases)


def _members(places: Locations) -> list[list[str]]:
    """Returns the ids that rows give to each place, but for aliases."""
    for labels in places.labels:
        if labels.column == MEMBERS:
            return [json.loads(ids) for ids in labels.values]
    return [[key] for key in places.ids]


def _unknown(places: Locations) -> Location:
    lon, lat = np.mean([(each.lon, each.lat) for each in places.places], axis=0).tolist()
    zone = NOT_KNOWN if any(places.zones) else ""
    return Location(id=NOT_KNOWN, name=NOT_KNOWN, lon=lon, lat=lat, zone=zone)


def _with_added(labels: PlaceLabels, made: Sequence[tuple[_Ends, int]]) -> PlaceLabels:
    """Adds the labels of the places that taps add; the members of groups are called likewise."""
    if labels.column == MEMBERS:
        unknown = json.dumps([NOT_KNOWN])
        added = [json.dumps(ends.of(json.loads(labels.values[n]))) for ends, n in made]
    else:
        unknown, added = "", [labels.values[n] for _, n in made]
    return replace(labels, values=(*labels.values, unknown, *added))
