"""A public transit network: hubs with bus lines between them, and shuttles that serve zones.

This is the on-demand multimodal transit system of Maheo, Kilby and Van Hentenryck: buses run often
along few lines between hubs, and shuttles on demand bring riders to the hubs and from there to
their doors. Everything here is public and decides nothing about riders.
"""

import json
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.errors import GeographyError
from hushway.geography.areas import Plane
from hushway.geography.locations import Locations


@dataclass(frozen=True, kw_only=True)
class BusLine:
    """Buses that run one way along some hubs, again and again.

    Attributes:
        stops: Indices of the places that it calls at, in the order of travel.
        ride_s: Seconds from each stop to the next, its stay there included.
    """

    name: str
    stops: tuple[int, ...]
    ride_s: tuple[int, ...]
    headway_s: int

    def __post_init__(self) -> None:
        if len(self.stops) < 2 or len(self.ride_s) != len(self.stops) - 1:  # noqa: PLR2004
            raise GeographyError(
                f"The line {self.name!r} does not have a ride between each two of its stops.",
                advice="Give two stops or more, and one ride fewer than stops.",
            )
        if len(set(self.stops)) != len(self.stops):
            raise GeographyError(
                f"The line {self.name!r} calls twice at one place.",
                advice="Split a line that comes back into two lines.",
            )
        if min(self.ride_s) <= 0 or self.headway_s <= 0:
            raise GeographyError(
                f"The line {self.name!r} has a ride or a headway of no length.",
                advice="Give whole seconds above 0.",
            )

    def back(self) -> "BusLine":
        """Returns the line in the other direction."""
        return BusLine(
            name=self.name,
            stops=self.stops[::-1],
            ride_s=self.ride_s[::-1],
            headway_s=self.headway_s,
        )


@dataclass(frozen=True, kw_only=True)
class Travel:
    """How fast people get about without a bus.

    Attributes:
        detour: How much longer the streets are than the way by air.
        stop_s: What a stop costs a shuttle, however many riders get on or off there.
        walk_m_per_s: Speed of a walker, along the same streets.
    """

    shuttle_m_per_s: float = 8.0
    detour: float = 1.3
    stop_s: int = 20
    walk_m_per_s: float = 1.3

    def __post_init__(self) -> None:
        speeds = (self.shuttle_m_per_s, self.walk_m_per_s)
        if not all(np.isfinite(speed) and speed > 0 for speed in speeds):
            raise GeographyError(
                "A shuttle or walking speed is not above 0.", advice="Give metres a second."
            )
        if not (np.isfinite(self.detour) and self.detour >= 1) or self.stop_s < 0:
            raise GeographyError(
                "A detour factor cannot be below 1, nor a stop time below 0.",
                advice="Give a detour of 1 or more, and a stop_s of 0 or more.",
            )


@dataclass(frozen=True, kw_only=True)
class TransitNetwork:
    """Hubs, lines and zones over a public list of places.

    Attributes:
        locations: The places that riders start and end at; the zone of each is the zone of the
            shuttles that serve it.
        hubs: Indices of the places where riders may change, ascending.
        lines: The bus lines, each in one direction; all their stops are hubs.
    """

    locations: Locations
    hubs: tuple[int, ...]
    lines: tuple[BusLine, ...]
    travel: Travel = Travel()

    def __post_init__(self) -> None:
        if list(self.hubs) != sorted(set(self.hubs)):
            raise GeographyError(
                "The hubs are not in order, or one is there twice.",
                advice="Name every hub once, in the order of the places.",
            )
        if any(not 0 <= hub < len(self.locations) for hub in self.hubs):
            raise GeographyError(
                "A hub is not among the places.", advice="Make hubs of places in the list."
            )
        strange = [line.name for line in self.lines if not set(line.stops) <= set(self.hubs)]
        if strange:
            raise GeographyError(
                f"The line {strange[0]!r} calls at a place that is not a hub.",
                advice="Make every stop of a line a hub.",
            )

    @cached_property
    def distance_m(self) -> FloatArray:
        """Metres by air from every place (row) to every other (column)."""
        lon = np.array([place.lon for place in self.locations.places])
        lat = np.array([place.lat for place in self.locations.places])
        at = Plane(lon=float(lon.mean()), lat=float(lat.mean())).to_metres(lon, lat)
        return np.hypot(at[:, None, 0] - at[None, :, 0], at[:, None, 1] - at[None, :, 1])

    @cached_property
    def shuttle_s(self) -> IntArray:
        """Seconds of a shuttle from one stop (row) to the next (column), its stay there included.

        Whole seconds are rounded up, and a stop costs the same everywhere: going by way of a third
        place is never shorter.
        """
        street_m = self.distance_m * self.travel.detour
        seconds = np.ceil(street_m / self.travel.shuttle_m_per_s).astype(np.int64)
        seconds += self.travel.stop_s
        np.fill_diagonal(seconds, 0)
        return seconds

    @cached_property
    def walk_s(self) -> IntArray:
        """Seconds on foot from every place (row) to every other (column)."""
        street_m = self.distance_m * self.travel.detour
        return np.ceil(street_m / self.travel.walk_m_per_s).astype(np.int64)

    @cached_property
    def zone(self) -> IntArray:
        """The zone of every place, an index into the sorted names of zones."""
        number = {name: index for index, name in enumerate(self.locations.zones)}
        return np.array([number[p.zone] for p in self.locations.places], dtype=np.int64)

    @cached_property
    def hub_number(self) -> IntArray:
        """Which hub every place is, an index into `hubs`; -1 if it is none."""
        number = np.full(len(self.locations), -1, dtype=np.int64)
        number[list(self.hubs)] = np.arange(len(self.hubs))
        return number


def network_toml(network: TransitNetwork) -> str:
    """Returns the file that `read_network` of `tables` makes the same network of.

    A line is written once for both ways if the way back comes right after it: any other order of
    the lines could not be told from the file.
    """
    ids = network.locations.ids
    travel = network.travel
    rows = [
        f"hubs = {_texts(ids[hub] for hub in network.hubs)}",
        "",
        "[travel]",
        f"shuttle_m_per_s = {float(travel.shuttle_m_per_s)!r}",
        f"detour = {float(travel.detour)!r}",
        f"stop_s = {int(travel.stop_s)}",
        f"walk_m_per_s = {float(travel.walk_m_per_s)!r}",
    ]
    ahead = deque(network.lines)
    while ahead:
        line = ahead.popleft()
        both_ways = bool(ahead) and ahead[0] == line.back()
        if both_ways:
            ahead.popleft()
        rows += [
            "",
            "[[lines]]",
            f"name = {_text(line.name)}",
            f"stops = {_texts(ids[stop] for stop in line.stops)}",
            f"headway_s = {int(line.headway_s)}",
            f"ride_s = [{', '.join(str(int(ride)) for ride in line.ride_s)}]",
            f"both_ways = {'true' if both_ways else 'false'}",
        ]
    return "\n".join(rows) + "\n"


def _texts(values: Iterable[str]) -> str:
    return f"[{', '.join(_text(value) for value in values)}]"


def _text(value: str) -> str:
    # JSON's escapes are TOML's; only the delete character stands bare in the one and must not in
    # the other.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
