"""A transit network from a public timetable (GTFS), for some hours of one service day."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Final

import numpy as np

from hushway.arrays import FloatArray
from hushway.errors import GeographyError
from hushway.geography.locations import Locations
from hushway.geography.transit import BusLine, TransitNetwork
from hushway.transit.network.feed import ServiceDay, read_service_day

_PASSED: Final = -1


@dataclass(frozen=True, kw_only=True)
class Run:
    """One trip of a vehicle, along the places of the list.

    Attributes:
        direction: Which way along the route it goes: a text that runs the same way share.
        places: Indices of the places that it calls at, each once, in the order of travel.
        arrives_s: When it arrives at each, in seconds since the service day began.
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
        locations: The public places, with the ids of the feed's stops or stations.
        day: The service day; times beyond 24:00 belong to the day on which the trip began.
    """
    service = read_service_day(path, day)
    place_of = _place_of_stop(service, locations)
    if not place_of:
        raise GeographyError(
            f"None of the places is in the timetable {Path(path).name}.",
            advice="Use ids of the feed's stops or stations as the ids of the places.",
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


_MINUTE_S: Final = 60
_FEWEST_STOPS: Final = 2


@dataclass(frozen=True, kw_only=True)
class _Service:
    """A line before it is rounded: how many vehicles run, and how long they take."""

    name: str
    places: tuple[int, ...]
    ride_s: tuple[float, ...]
    trips: int


def gtfs_network(
    path: Path | str,
    locations: Locations,
    *,
    day: date,
    window: tuple[int, int],
    most_hubs: int = 20,
) -> TransitNetwork:
    """Makes a network of the trips that leave in some hours of a day.

    Every route and direction becomes one line: along the places that most of its trips call at, in
    the time that half of them need, as often as they run. Hubs are the places with most departures
    in the window; of equal ones those whose ids come first. Lines call at hubs only, and lines with
    the same stops become one.

    Args:
        locations: The public places, with the ids of the feed's stops or stations.
        window: From which minute of the day to which; beyond 1,440 for the night after it.
    """
    _check(window, most_hubs)
    since_s, until_s = (minute * _MINUTE_S for minute in window)
    runs = read_runs(path, locations, day)
    leaving = [run for run in runs if since_s <= run.leaves_s[0] < until_s]
    services = _services(leaving)
    hubs = _busiest(_departures(runs, since_s, until_s), services, locations, most_hubs=most_hubs)
    kept = _merged(_restricted(service, hubs) for service in services)
    if not kept:
        raise GeographyError(
            f"No trip of {Path(path).name} goes from one hub to another between "
            f"{_clock(window[0])} and {_clock(window[1])} on {day}.",
            advice="Choose a longer window, another day, or more hubs.",
        )
    return TransitNetwork(
        locations=locations,
        hubs=tuple(sorted({place for service in kept for place in service.places})),
        lines=tuple(
            BusLine(
                name=service.name,
                stops=service.places,
                # Timetables in whole minutes have neighbours that are reached in no time.
                ride_s=tuple(max(1, round(ride_s)) for ride_s in service.ride_s),
                headway_s=max(1, round((until_s - since_s) / service.trips)),
            )
            for service in kept
        ),
    )


def _check(window: tuple[int, int], most_hubs: int) -> None:
    if not 0 <= window[0] < window[1]:
        raise GeographyError(
            f"The window from minute {window[0]} to minute {window[1]} of the day is empty.",
            advice="Give the minute at which it begins, then the minute at which it ends.",
        )
    if most_hubs < _FEWEST_STOPS:
        raise GeographyError("A line needs two hubs.", advice="Give a most_hubs of 2 or more.")


def _services(runs: Iterable[Run]) -> list[_Service]:
    """Returns the commonest pattern of every route and direction."""
    alike: dict[tuple[str, str], dict[tuple[int, ...], list[Run]]]
    alike = defaultdict(lambda: defaultdict(list))
    for run in runs:
        alike[run.route, run.direction][run.places].append(run)
    services = []
    for key in sorted(alike):
        # Of equally common patterns the longest serves most riders.
        places, chosen = max(
            alike[key].items(), key=lambda item: (len(item[1]), len(item[0]), item[0])
        )
        ride_s = np.median([_rides_s(run) for run in chosen], axis=0)
        services.append(
            _Service(
                name=chosen[0].name, places=places, ride_s=tuple(ride_s.tolist()), trips=len(chosen)
            )
        )
    return services


def _rides_s(run: Run) -> list[float]:
    """Returns the time from each place to the next, the stay there included except at the end."""
    until_s = [*run.leaves_s[1:-1], run.arrives_s[-1]]
    return [until - since for since, until in zip(run.leaves_s[:-1], until_s, strict=True)]


def _departures(runs: Iterable[Run], since_s: int, until_s: int) -> Counter[int]:
    """Returns how often vehicles leave each place for another one in the window."""
    return Counter(
        place
        for run in runs
        for place, leaves_s in zip(run.places[:-1], run.leaves_s[:-1], strict=True)
        if since_s <= leaves_s < until_s
    )


def _busiest(
    departures: Counter[int], services: Sequence[_Service], locations: Locations, *, most_hubs: int
) -> set[int]:
    served = {place for service in services for place in service.places}
    ranked = sorted(served, key=lambda place: (-departures[place], locations.ids[place]))
    return set(ranked[:most_hubs])


def _restricted(service: _Service, hubs: set[int]) -> _Service:
    """Returns a service that passes all places but hubs; it may be left with none."""
    clock_s = np.concatenate([[0.0], np.cumsum(service.ride_s)])
    calls = [call for call, place in enumerate(service.places) if place in hubs]
    return _Service(
        name=service.name,
        places=tuple(service.places[call] for call in calls),
        ride_s=tuple(np.diff(clock_s[calls]).tolist()),
        trips=service.trips,
    )


def _merged(services: Iterable[_Service]) -> list[_Service]:
    """Returns services with the same stops as one, which has the trips of all."""
    alike: dict[tuple[int, ...], list[_Service]] = defaultdict(list)
    for service in services:
        if len(service.places) >= _FEWEST_STOPS:
            alike[service.places].append(service)
    merged = [
        _Service(
            # Two directions of one route may have the same stops among the hubs.
            name=" / ".join(sorted({service.name for service in group})),
            places=places,
            ride_s=tuple(np.mean([service.ride_s for service in group], axis=0).tolist()),
            trips=sum(service.trips for service in group),
        )
        for places, group in alike.items()
    ]
    return sorted(merged, key=lambda service: (service.name, service.places))


def _clock(minute: int) -> str:
    hours, minutes = divmod(minute, 60)
    return f"{hours:02}:{minutes:02}"
