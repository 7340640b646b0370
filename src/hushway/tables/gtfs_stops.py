"""Which places the stops of a GTFS feed are: stations, or stops."""

from collections.abc import Mapping, Sequence
from typing import Final, Literal

GtfsPlaces = Literal["stations", "stops"]
Stop = Mapping[str, str]

# Further types are entrances, nodes of ways and boarding areas, which nobody travels to.
_STOPS, _STATION = ("", "0"), "1"
# What the standard calls the columns of places.
COLUMNS: Final = {
    "id": "stop_id",
    "name": "stop_name",
    "lon": "stop_lon",
    "lat": "stop_lat",
    "zone": "zone_id",
}


def places_of_stops(stops: Sequence[Stop], level: GtfsPlaces) -> list[tuple[Stop, Stop]]:
    """Returns stops and stations, each with the one that is its place.

    By stations, a stop without a station is a place of its own.
    """
    served = [stop for stop in stops if _text(stop, "location_type") in _STOPS]
    if level == "stops":
        return [(stop, stop) for stop in served]
    stations = {
        _text(stop, "stop_id"): stop for stop in stops if _text(stop, "location_type") == _STATION
    }
    return [
        *((station, station) for station in stations.values()),
        *((stop, stations.get(_text(stop, "parent_station"), stop)) for stop in served),
    ]


def names_of_places(pairs: Sequence[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """Returns further names of places, from pairs of a stop's name and its place's.

    A name that stops of several places have, such as "Platform 1", names none of them.
    """
    listed = {place for _, place in pairs}
    named: dict[str, set[str]] = {}
    for stop, place in pairs:
        named.setdefault(stop, set()).add(place)
    return tuple(
        (stop, places.pop())
        for stop, places in named.items()
        if stop not in listed and len(places) == 1
    )


def _text(stop: Stop, column: str) -> str:
    return stop.get(column, "").strip()
