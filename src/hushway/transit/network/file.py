"""Reads the file that describes a public transit network."""

import tomllib
from pathlib import Path
from typing import Annotated, Any, Final

import numpy as np
from pydantic import (
    BeforeValidator,
    Field,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)

from hushway.errors import GeographyError
from hushway.geography.areas import Plane
from hushway.geography.locations import Locations
from hushway.geography.transit import BusLine, TransitNetwork, Travel
from hushway.release.plans.sections import Section
from hushway.tables.unpacking import MOST_BYTES, read_toml

_MINUTE_S: Final = 60
_DAY_MINUTES: Final = 1_440
_FEWEST_STOPS: Final = 2


def _place(value: Any, info: ValidationInfo) -> int:
    if not isinstance(value, str):
        raise ValueError("must be the id of a place, in quotes")  # noqa: TRY004 pydantic's way
    index: dict[str, int] | None = info.context
    if index is None or value not in index:
        raise ValueError(f"{value!r} is not the id of a place")
    return index[value]


Place = Annotated[int, BeforeValidator(_place)]
Speed = Annotated[float, Field(gt=0)]
Seconds = Annotated[int, Field(gt=0)]


class TravelSection(Section):
    """How fast people get about without a bus."""

    shuttle_m_per_s: Speed = Travel.shuttle_m_per_s
    detour: float = Field(Travel.detour, ge=1)
    stop_s: int = Field(Travel.stop_s, ge=0)
    walk_m_per_s: Speed = Travel.walk_m_per_s

    def travel(self) -> Travel:
        """Returns it as a network has it."""
        return Travel(**self.model_dump())


class LineSection(Section):
    """A bus line."""

    name: str
    stops: list[Place]
    headway_min: float | None = Field(None, gt=0, le=_DAY_MINUTES)
    headway_s: Seconds | None = None
    ride_s: list[Seconds] | None = None
    bus_m_per_s: Speed | None = None
    both_ways: bool = True

    @field_validator("stops")
    @classmethod
    def _call_once_at_several_places(cls, stops: list[int]) -> list[int]:
        if len(stops) < _FEWEST_STOPS:
            raise ValueError("must be two places or more")
        if len(set(stops)) != len(stops):
            raise ValueError("must not name a place twice (split a line that comes back into two)")
        return stops

    @model_validator(mode="after")
    def _say_once_how_it_runs(self) -> "LineSection":
        if (self.headway_min is None) == (self.headway_s is None):
            raise ValueError("must have either headway_min or headway_s")
        if not self.every_s:
            raise ValueError("headway_min must be a second or more")
        if self.ride_s is not None and self.bus_m_per_s is not None:
            raise ValueError("must have ride_s or bus_m_per_s, not both")
        if self.ride_s is not None and len(self.ride_s) != len(self.stops) - 1:
            raise ValueError(
                f"ride_s must have one ride from each stop to the next: {len(self.stops) - 1}, not "
                f"{len(self.ride_s)}"
            )
        return self

    @property
    def every_s(self) -> int:
        """Seconds from one bus to the next."""
        return self.headway_s or round((self.headway_min or 0) * _MINUTE_S)


class NetworkSection(Section):
    """A whole file; validated with the index of every id of a location as its context."""

    hubs: list[Place] = Field(default_factory=list)
    travel: TravelSection = TravelSection()
    lines: list[LineSection] = Field(default_factory=list)

    @field_validator("hubs")
    @classmethod
    def _name_hubs_once(cls, hubs: list[int]) -> list[int]:
        if len(set(hubs)) != len(hubs):
            raise ValueError("must not name a place twice")
        return hubs


_BUS_M_PER_S: Final = 7.0
# How long a bus stays at a stop where the file does not say how long it rides.
_BUS_STOP_S: Final = 30


def read_network(path: Path | str, locations: Locations) -> TransitNetwork:
    """Reads a network over a list of places.

    The stops of lines are hubs, whether or not the file names them so. A line that runs both ways
    becomes two, and the way back comes right after the way there.

    Args:
        locations: The public places, whose ids the file uses.
    """
    file = Path(path)
    try:
        facts = read_toml(file)
    except FileNotFoundError:
        raise GeographyError(
            f"There is no network file {file}.", advice="Check the name of the file."
        ) from None
    except OSError:
        raise GeographyError(
            f"The network file {file} cannot be read.",
            advice=f"Give a TOML text file in UTF-8, of at most {MOST_BYTES:,} bytes.",
        ) from None
    except tomllib.TOMLDecodeError as error:
        raise GeographyError(
            f"The network file {file} is not TOML: {error}.",
            advice="Put names and ids of places in quotes.",
        ) from None
    try:
        section = NetworkSection.model_validate(facts, context=locations.index)
    except ValidationError as error:
        lines = [
            f"  {'.'.join(map(str, found['loc']))}: {_what(found)}" for found in error.errors()
        ]
        raise GeographyError(
            f"The network file {file} does not describe a network over these places:\n"
            + "\n".join(lines),
            advice="Every line needs a name, stops, and headway_min or headway_s; places go by the "
            "ids of the places.",
        ) from None
    return _network(section, locations)


def _network(section: NetworkSection, locations: Locations) -> TransitNetwork:
    lines = []
    for each in section.lines:
        line = BusLine(
            name=each.name,
            stops=tuple(each.stops),
            ride_s=_rides_s(each, locations, detour=section.travel.detour),
            headway_s=each.every_s,
        )
        lines += [line, line.back()] if each.both_ways else [line]
    return TransitNetwork(
        locations=locations,
        hubs=tuple(sorted({*section.hubs, *(stop for line in lines for stop in line.stops)})),
        lines=tuple(lines),
        travel=section.travel.travel(),
    )


def _rides_s(line: LineSection, locations: Locations, *, detour: float) -> tuple[int, ...]:
    """Returns the rides of a line: those in the file, or how long the streets take."""
    if line.ride_s is not None:
        return tuple(line.ride_s)
    stops = [locations.places[stop] for stop in line.stops]
    lon, lat = np.array([place.lon for place in stops]), np.array([place.lat for place in stops])
    at = Plane(lon=float(lon.mean()), lat=float(lat.mean())).to_metres(lon, lat)
    street_m = np.hypot(*np.diff(at, axis=0).T) * detour
    ride_s = np.ceil(street_m / (line.bus_m_per_s or _BUS_M_PER_S)) + _BUS_STOP_S
    return tuple(int(seconds) for seconds in ride_s)


def _what(found: Any) -> str:
    if found["type"] == "extra_forbidden":
        return "is not an option (is it misspelt?)"
    if found["type"] == "missing":
        return "is missing"
    return str(found["msg"]).removeprefix("Value error, ")
