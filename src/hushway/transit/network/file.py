"""Reads the file that describes a public transit network."""

import tomllib
from pathlib import Path
from typing import Any, Final

import numpy as np
from pydantic import ValidationError

from hushway.errors import GeographyError
from hushway.geography.locations import Locations
from hushway.geography.plane import Plane
from hushway.geography.transit import BusLine, TransitNetwork
from hushway.tables.toml_file import MOST_BYTES, read_toml
from hushway.transit.network.sections import LineSection, NetworkSection

_BUS_M_PER_S: Final = 7.0
# How long a bus stays at a stop where the file does not say how long it rides.
_BUS_STOP_S: Final = 30


def read_network(path: Path | str, locations: Locations) -> TransitNetwork:
    """Reads a network over a list of places.

    The stops of lines are hubs, whether or not the file names them so. A line that runs both ways
    becomes two, and the way back comes right after the way there.

    Args:
        path: A TOML file.
        locations: The public places, whose ids the file uses.

    Raises:
        GeographyError: The file is missing, is not TOML, or does not describe a network over these
            places; the message lists every problem at once.
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
            advice="Put names and ids of locations in quotes.",
        ) from None
    try:
        section = NetworkSection.model_validate(facts, context=locations.index)
    except ValidationError as error:
        lines = [f"  {_where(found['loc'])}: {_what(found)}" for found in error.errors()]
        raise GeographyError(
            f"The network file {file} does not describe a network over these locations:\n"
            + "\n".join(lines),
            advice="Every line needs a name, stops, and headway_min or headway_s; places go by the "
            "ids of the locations.",
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


def _where(location: tuple[int | str, ...]) -> str:
    return ".".join(str(part) for part in location)


def _what(found: Any) -> str:
    if found["type"] == "extra_forbidden":
        return "is not an option (is it misspelt?)"
    if found["type"] == "missing":
        return "is missing"
    return str(found["msg"]).removeprefix("Value error, ")
