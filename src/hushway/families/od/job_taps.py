"""The taps of an OD plan, and the public place of those of whom nobody knows where they went."""

from dataclasses import replace
from zoneinfo import ZoneInfo

import numpy as np

from hushway.errors import GeographyError
from hushway.families.od.plan import ODPlan
from hushway.families.od.plan_taps import TapsPlan
from hushway.geography.clock import clock_stretches, microseconds
from hushway.geography.locations import NOT_KNOWN, Location, Locations
from hushway.journeys.chaining import ChainingRules
from hushway.journeys.rides import PublicRides
from hushway.journeys.taps import TapColumns, TapsSource
from hushway.journeys.timetable import read_timetable
from hushway.privacy.ledger import Window

_MINUTE_US = 60_000_000


def taps_source(plan: ODPlan, taps: TapsPlan, window: Window) -> TapsSource:
    """Returns the protected taps of a plan, with what the public timetable says."""
    start, end = window.as_written
    timetable = read_timetable(plan.path(taps.timetable))
    time = plan.time
    instants = plan.data.clock == "utc"
    return TapsSource(
        path=plan.rows_path(plan.data.trips),
        columns=TapColumns(**taps.columns.model_dump()),
        clock=plan.data.clock,
        time_format=plan.data.time_format,
        rides=PublicRides(timetable=timetable, walk_m=taps.walk_m),
        rules=ChainingRules(
            transfer_s=taps.transfer_minutes * 60,
            together_s=taps.together_seconds,
            day_begins_us=taps.day_begins * _MINUTE_US,
        ),
        counted=taps.count,
        span_us=(microseconds(start), microseconds(end)),
        clocks=clock_stretches(ZoneInfo(time.zone), time.first_day, time.last_day)
        if instants
        else (),
        entries=taps.entries,
        exits=taps.exits,
    )


def with_unknown(places: Locations) -> Locations:
    """Adds the place that stands for all that nobody knows, in the middle of the others."""
    if NOT_KNOWN in places.places_of_ids:
        raise GeographyError(
            f"A place is called {NOT_KNOWN!r}, which stands for taps without a destination.",
            advice="Call it something else.",
        )
    lon, lat = np.mean([(each.lon, each.lat) for each in places.places], axis=0).tolist()
    zone = NOT_KNOWN if any(places.zones) else ""
    unknown = Location(id=NOT_KNOWN, name=NOT_KNOWN, lon=lon, lat=lat, zone=zone)
    labels = tuple(replace(each, values=(*each.values, "")) for each in places.labels)
    return replace(places, places=(*places.places, unknown), labels=labels)
