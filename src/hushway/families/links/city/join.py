"""Some of the trips of a city, and the trips of several parts of one."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from hushway.arrays import BoolArray, IntArray
from hushway.families.links.city.traces_city import TraceCity
from hushway.families.links.matching.traces import Ways

_OF_POSITIONS = ("lon", "lat", "seconds", "speed", "heading")
_OF_TRIPS = ("person", "trip")
_OF_PERSONS = ("fleet", "home", "work")
_OF_WAY_LINKS = ("link", "entered", "left", "fresh")


def joined(parts: Sequence[TraceCity]) -> TraceCity:
    """Returns the traces of parts of one city, given in the order of persons."""

    def row(name: str) -> NDArray[np.generic]:
        return np.concatenate([getattr(part, name) for part in parts])

    def way_row(name: str) -> NDArray[np.generic]:
        return np.concatenate([getattr(part.truth, name) for part in parts])

    links = {name: way_row(name) for name in (*_OF_WAY_LINKS, "reason", "point_link")}
    truth = Ways(start=_starts([part.truth.start for part in parts]), **links)  # type: ignore[arg-type]
    columns = {name: row(name) for name in (*_OF_POSITIONS, *_OF_TRIPS, *_OF_PERSONS)}
    start = _starts([part.start for part in parts])
    return replace(parts[0], start=start, truth=truth, **columns)  # type: ignore[arg-type]


def some_trips(city: TraceCity, chosen: BoolArray) -> TraceCity:
    """Returns a city with some of its trips. They keep their numbers, and all persons stay."""
    points = np.repeat(chosen, np.diff(city.start))
    links = np.repeat(chosen, np.diff(city.truth.start))
    truth = Ways(
        start=_lengths_kept(city.truth.start, chosen),
        reason=city.truth.reason[chosen],
        point_link=city.truth.point_link[points],
        **{name: getattr(city.truth, name)[links] for name in _OF_WAY_LINKS},
    )
    columns = {name: getattr(city, name)[points] for name in _OF_POSITIONS}
    columns |= {name: getattr(city, name)[chosen] for name in _OF_TRIPS}
    return replace(city, start=_lengths_kept(city.start, chosen), truth=truth, **columns)


def _lengths_kept(start: IntArray, chosen: BoolArray) -> IntArray:
    return np.concatenate([[0], np.cumsum(np.diff(start)[chosen])]).astype(np.int64)


def _starts(starts: list[IntArray]) -> IntArray:
    sizes = np.concatenate([np.diff(start) for start in starts])
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
