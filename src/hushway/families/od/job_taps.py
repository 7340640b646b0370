"""The taps of an OD plan, and the public place of those of whom nobody knows where they went."""

import json
from dataclasses import replace
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa

from hushway.errors import GeographyError
from hushway.families.od.plan import ODPlan
from hushway.families.od.plan_taps import TapsPlan
from hushway.geography.clock import clock_stretches, microseconds
from hushway.geography.locations import (
    MEMBERS,
    NOT_KNOWN,
    Location,
    Locations,
    PlaceLabels,
    transfer_at,
)
from hushway.journeys.calendars import day_number, day_of
from hushway.journeys.chaining import ChainingRules
from hushway.journeys.rides import PublicRides
from hushway.journeys.taps import TapColumns, TapsSource
from hushway.journeys.timetable import read_timetable
from hushway.journeys.visits import StopVisits, VehicleLocations, read_visits
from hushway.privacy.ledger import Window
from hushway.tables.layout import Clock

_MINUTE_US = 60_000_000


def taps_source(plan: ODPlan, taps: TapsPlan, window: Window) -> TapsSource:
    """Returns the protected taps of a plan, with what the public timetable says."""
    start, end = window.as_written
    time, rides = plan.time, _rides(plan, taps)
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
        transfers=taps.transfers,
        span_us=(microseconds(start), microseconds(end)),
        clocks=clock_stretches(ZoneInfo(time.zone), time.first_day, time.last_day)
        if plan.data.clock == "utc"
        else (),
        entries=taps.entries,
        exits=taps.exits,
        visits=_visits(plan, taps, rides),
    )


def _rides(plan: ODPlan, taps: TapsPlan) -> PublicRides:
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


def places_of_taps(places: Locations, taps: TapsPlan) -> Locations:
    """Adds the place of all that nobody knows, in the middle, and places where people change."""
    lon, lat = np.mean([(each.lon, each.lat) for each in places.places], axis=0).tolist()
    zone = NOT_KNOWN if any(places.zones) else ""
    added = [Location(id=NOT_KNOWN, name=NOT_KNOWN, lon=lon, lat=lat, zone=zone)]
    aliases = places.aliases
    if taps.transfers:
        added += [
            replace(each, id=transfer_at(each.id), name=f"Transfer: {each.name}")
            for each in places.places
        ]
        aliases += tuple((transfer_at(name), transfer_at(place)) for name, place in aliases)
    if taken := {each.id for each in added} & set(places.places_of_ids):
        raise GeographyError(
            f"A place is called {min(taken)!r}, which has a meaning of its own with taps.",
            advice="Call it something else.",
        )
    labels = tuple(_labels_of_taps(each, transfers=taps.transfers) for each in places.labels)
    return replace(places, places=(*places.places, *added), labels=labels, aliases=aliases)


def _labels_of_taps(labels: PlaceLabels, *, transfers: bool) -> PlaceLabels:
    """Adds the labels of the places that taps add; the members of groups change in groups."""
    unknown, changes = "", labels.values
    if labels.column == MEMBERS:
        unknown = json.dumps([NOT_KNOWN])
        changes = tuple(
            json.dumps([transfer_at(member) for member in json.loads(members)])
            for members in labels.values
        )
    return replace(labels, values=(*labels.values, unknown, *(changes if transfers else ())))
