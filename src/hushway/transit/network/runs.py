"""The runs of one service day of a public timetable (GTFS), at listed places only."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Final

import numpy as np

from hushway.arrays import FloatArray
from hushway.errors import GeographyError
from hushway.geography.locations import Locations
from hushway.transit.network.feed import ServiceDay, read_service_day

_PASSED: Final = -1


@dataclass(frozen=True, kw_only=True)
class Run:
    """One trip of a vehicle, along the places of the list.

    Attributes:
        route: The id of its route.
        name: What the route is called.
        direction: Which way along the route it goes: a text that runs the same way share.
        places: Indices of the places that it calls at, each once, in the order of travel.
        arrives_s: When it arrives at each, in seconds since the service day began.
        leaves_s: When it leaves each, likewise.
    """

    route: str
    name: str
    direction: str
    places: tuple[int, ...]
    arrives_s: tuple[float, ...]
    leaves_s: tuple[float, ...]


@dataclass(frozen=True, kw_only=True)
class _Call:
    place: int
    arrives_s: float
    leaves_s: float


def read_runs(path: Path | str, locations: Locations, day: date) -> list[Run]:
    """Reads the runs that call at two listed places or more.

    A location is a stop of the feed, or a station, at which its platforms' calls are counted. Other
    stops are passed through. Of several calls at one place the first counts; calls that follow each
    other, such as at two platforms, are one. Times that the feed leaves out between two stops with
    times are spread evenly over the stops.

    Args:
        path: A GTFS feed: a .zip file, or a folder.
        locations: The public places, with the ids of the feed's stops or stations.
        day: The service day; times beyond 24:00 belong to the day on which the trip began.

    Raises:
        GeographyError: The feed cannot be used, has no service that day, or has none of the places.
    """
    service = read_service_day(path, day)
    place_of = _place_of_stop(service, locations)
    if not place_of:
        raise GeographyError(
            f"None of the locations is in the timetable {Path(path).name}.",
            advice="Use ids of the feed's stops or stations as the ids of the locations.",
        )
    return [
        _run(service, trip, calls) for trip, calls in _trips(service, place_of) if len(calls) > 1
    ]


def _place_of_stop(service: ServiceDay, locations: Locations) -> dict[str, int]:
    place_of = {}
    for stop, station in service.station_of.items():
        place = locations.index.get(stop, locations.index.get(station))
        if place is not None:
            place_of[stop] = place
    return place_of


def _trips(service: ServiceDay, place_of: dict[str, int]) -> Iterator[tuple[str, list[_Call]]]:
    places = np.array([place_of.get(stop, _PASSED) for stop in service.stops], dtype=np.int64)
    trips = np.array(service.trips, dtype=object)
    starts = np.flatnonzero(trips[1:] != trips[:-1]) + 1
    for calls in np.split(np.arange(len(trips)), starts):
        if len(calls):
            arrives_s, leaves_s = _filled(service.arrives_s[calls], service.leaves_s[calls])
            timed = zip(places[calls].tolist(), arrives_s.tolist(), leaves_s.tolist(), strict=True)
            yield service.trips[calls[0]], _first_calls(timed)


def _filled(arrives_s: FloatArray, leaves_s: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Returns the times with those between two known ones filled in."""
    arrives_s = np.where(np.isnan(arrives_s), leaves_s, arrives_s)
    leaves_s = np.where(np.isnan(leaves_s), arrives_s, leaves_s)
    known = np.flatnonzero(~np.isnan(arrives_s))
    if len(known) in (0, len(arrives_s)):
        return arrives_s, leaves_s
    between = np.flatnonzero(np.isnan(arrives_s))
    between = between[(between > known[0]) & (between < known[-1])]
    following = np.searchsorted(known, between)
    before, after = known[following - 1], known[following]
    share = (between - before) / (after - before)
    arrives_s[between] = leaves_s[before] + share * (arrives_s[after] - leaves_s[before])
    leaves_s[between] = arrives_s[between]
    return arrives_s, leaves_s


def _first_calls(calls: Iterator[tuple[int, float, float]]) -> list[_Call]:
    """Returns the first call at each listed place, if its time is known."""
    first: dict[int, _Call] = {}
    standing_at = _PASSED
    for place, arrives_s, leaves_s in calls:
        if place == _PASSED or np.isnan(arrives_s):
            continue
        if place not in first:
            first[place] = _Call(place=place, arrives_s=arrives_s, leaves_s=leaves_s)
            standing_at = place
        elif place == standing_at:
            since_s = first[place].arrives_s
            first[place] = _Call(place=place, arrives_s=since_s, leaves_s=leaves_s)
        else:
            standing_at = _PASSED
    return list(first.values())


def _run(service: ServiceDay, trip: str, calls: list[_Call]) -> Run:
    route = service.route_of[trip]
    # Where the feed does not say, the way back is what goes against the order of the list.
    order = "back" if calls[0].place > calls[-1].place else "there"
    return Run(
        route=route,
        name=service.route_names.get(route, route),
        direction=service.direction_of[trip] or order,
        places=tuple(call.place for call in calls),
        arrives_s=tuple(call.arrives_s for call in calls),
        leaves_s=tuple(call.leaves_s for call in calls),
    )
