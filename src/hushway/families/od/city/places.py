"""The places and the published figures of the synthetic Ann Arbor, the same for every seed."""

import math
from collections import Counter
from dataclasses import dataclass
from datetime import date
from itertools import pairwise
from typing import Literal

import numpy as np

from hushway.arrays import FloatArray
from hushway.geography.locations import Location, Locations
from hushway.geography.transit import BusLine, TransitNetwork, Travel
from hushway.numerics.chance import distances_m

_CENTRE_LON, _CENTRE_LAT = -83.743, 42.281
_DEGREE_LAT_M = 111_080.0
_DEGREE_LON_M = 111_320.0 * math.cos(math.radians(_CENTRE_LAT))

# The stops fill an ellipse that is about 11 km wide and 9 km high.
_HALF_WIDTH_M, _HALF_HEIGHT_M = 5_600.0, 4_600.0
_JITTER_M = 120.0


@dataclass(frozen=True, kw_only=True)
class Hub:
    """A stop that bus lines serve, in metres east and north of the centre."""

    name: str
    east_m: float
    north_m: float


# The hubs are always the first places of the list.
HUBS = (
    Hub(name="Lantern Square Terminal", east_m=0, north_m=0),
    Hub(name="Quadrangle Terminal", east_m=950, north_m=-250),
    Hub(name="Infirmary Hill Terminal", east_m=1_150, north_m=950),
    Hub(name="Orchard Labs Terminal", east_m=3_100, north_m=2_500),
    Hub(name="Eastgate Arcade Terminal", east_m=3_900, north_m=-1_500),
    Hub(name="Southfields Arcade Terminal", east_m=300, north_m=-3_600),
    Hub(name="Westbrook Terminal", east_m=-3_700, north_m=200),
    Hub(name="Millrace Terminal", east_m=-700, north_m=2_900),
)

# Hubs along the bus lines, which run both ways. All lines meet at the first hub: one change is
# always enough.
BUS_LINES = {"Crosstown": (6, 0, 1, 4), "Meridian": (7, 0, 5), "Hillside": (0, 2, 3)}

# Shuttles belong to the zone whose centre is nearest. The borders meet close to the first hub, as
# they do in towns that were cut up for dispatching.
_ZONES = {
    "east": (3_000.0, -200.0),
    "north": (300.0, 2_900.0),
    "south": (-100.0, -2_900.0),
    "west": (-2_900.0, 300.0),
}

# Steps of the two-dimensional golden ratio: points that never cluster, and a larger city only adds
# stops.
_STEP_ANGLE, _STEP_RADIUS = 0.7548776662466927, 0.5698402909980532


def lay_out(places: int) -> Locations:
    """Returns the public list of locations, hubs first; a longer list begins with the shorter."""
    hubs = np.array([(hub.east_m, hub.north_m) for hub in HUBS])
    position_m = np.concatenate([hubs, _stops(places - len(HUBS))])
    names = [hub.name for hub in HUBS] + corner_names(position_m[len(HUBS) :])
    centres = np.array(list(_ZONES.values()))
    zone = np.argmin(distances_m(position_m, centres), axis=1).tolist()
    zone_names = tuple(_ZONES)
    return Locations(
        tuple(
            Location(
                id=f"L{i + 1:04d}",
                name=names[i],
                lon=round(_CENTRE_LON + east / _DEGREE_LON_M, 6),
                lat=round(_CENTRE_LAT + north / _DEGREE_LAT_M, 6),
                zone=zone_names[zone[i]],
            )
            for i, (east, north) in enumerate(position_m.tolist())
        )
    )


def positions_m(locations: Locations) -> FloatArray:
    """Returns metres east and north of the centre of the city, one row a place."""
    degrees = np.array([(place.lon, place.lat) for place in locations.places])
    scale = np.array([_DEGREE_LON_M, _DEGREE_LAT_M])
    return np.asarray((degrees - np.array([_CENTRE_LON, _CENTRE_LAT])) * scale)


def _stops(count: int) -> FloatArray:
    step = np.arange(1, count + 1, dtype=np.float64)
    angle = 2 * np.pi * (step * _STEP_ANGLE % 1)
    # An exponent above 1/2 packs the stops closer towards the centre.
    radius = (step * _STEP_RADIUS % 1) ** 0.72
    jitter = np.random.Generator(np.random.PCG64(130)).random((count, 2)) * 2 - 1
    spread = np.column_stack(
        [radius * np.cos(angle) * _HALF_WIDTH_M, radius * np.sin(angle) * _HALF_HEIGHT_M]
    )
    return np.asarray(spread + jitter * _JITTER_M)


_BLOCK_M = 125.0

# Birds for the streets that run north to south, stones and cloths for those that run east to west:
# made up for this city, so that nobody mistakes a synthetic stop for a real one.
_NORTH_SOUTH = (
    "Avocet",
    "Bittern",
    "Cormorant",
    "Curlew",
    "Dotterel",
    "Dunlin",
    "Egret",
    "Fieldfare",
    "Gannet",
    "Godwit",
    "Goshawk",
    "Grebe",
    "Harrier",
    "Hoopoe",
    "Ibis",
    "Jacana",
    "Kestrel",
    "Kittiwake",
    "Lapwing",
    "Linnet",
    "Merganser",
    "Merlin",
    "Nightjar",
    "Nuthatch",
    "Oriole",
    "Osprey",
    "Petrel",
    "Pipit",
    "Plover",
    "Ptarmigan",
    "Redstart",
    "Sanderling",
    "Shrike",
    "Siskin",
    "Tanager",
    "Turnstone",
    "Whimbrel",
    "Wryneck",
    "Yellowhammer",
    "Zosterops",
)
_EAST_WEST = (
    "Agate",
    "Basalt",
    "Beryl",
    "Calico",
    "Cambric",
    "Chalcedony",
    "Corduroy",
    "Damask",
    "Dimity",
    "Felspar",
    "Flannel",
    "Gabardine",
    "Garnet",
    "Gingham",
    "Gneiss",
    "Gypsum",
    "Hessian",
    "Jasper",
    "Lawn",
    "Malachite",
    "Moleskin",
    "Muslin",
    "Nankeen",
    "Obsidian",
    "Onyx",
    "Organdie",
    "Percale",
    "Poplin",
    "Porphyry",
    "Pumice",
    "Sateen",
    "Schist",
    "Seersucker",
    "Serge",
    "Serpentine",
    "Taffeta",
    "Tourmaline",
    "Travertine",
    "Tweed",
    "Velour",
)


def corner_names(position_m: FloatArray) -> list[str]:
    """Returns the name of the street corner nearest to each position, all different.

    Args:
        position_m: Metres east and north of the centre, one row a place.
    """
    blocks = np.round(position_m / _BLOCK_M).astype(np.int64)
    used: Counter[str] = Counter()
    names = []
    for east, north in blocks.tolist():
        avenue = _street(_NORTH_SOUTH, east, ("St", "Ln", "Ct", "Way"))
        road = _street(_EAST_WEST, north, ("Ave", "Rd", "Dr", "Pl"))
        name = f"{avenue} & {road}"
        used[name] += 1
        names.append(name if used[name] == 1 else f"{name} (stop {used[name]})")
    return names


def _street(words: tuple[str, ...], block: int, kinds: tuple[str, ...]) -> str:
    around, word = divmod(block, len(words))
    return f"{words[word]} {kinds[around % len(kinds)]}"


Day = Literal["weekday", "weekend"]

ZONE = "America/Detroit"
OPENS_MINUTE = 6 * 60
CLOSES_MINUTE = 20 * 60
PERIOD_MINUTES = 30
PERIODS = (CLOSES_MINUTE - OPENS_MINUTE) // PERIOD_MINUTES

# The window that the paper gives figures for, 08:00-10:00, as half-hours counted from 06:00.
WINDOW = range(4, 8)

PLACES = 130
FIRST_DAYS: dict[Day, date] = {"weekday": date(2026, 3, 3), "weekend": date(2026, 3, 7)}


@dataclass(frozen=True, kw_only=True)
class Figures:
    """What one day of demand must add up to, exactly.

    Attributes:
        window_trips: Trips that depart from 08:00 to 10:00.
        window_cells: Non-zero (origin, destination, half-hour) from 08:00 to 10:00.
    """

    trips: int
    window_trips: int
    window_cells: int


# Fioretto, Lee and Van Hentenryck, AAMAS 2018, section 6.
_WEEKDAY = Figures(trips=37_714, window_trips=4_878, window_cells=591)

# The paper prints no weekend counts. It sizes 48 shuttles for the weekend and 99 for the weekday
# (table 1), so demand is taken to be lower in the same proportion.
_WEEKEND_SHARE = 48 / 99


def day_of(moment: date) -> Day:
    """Returns which kind of day a date is."""
    return "weekend" if moment.weekday() >= 5 else "weekday"


def figures_for(day: Day, *, scale: int, places: int) -> Figures:
    """Returns the figures of a day in a city with `scale` times the trips and `places` locations.

    Trips grow with the scale. Cells in use grow more slowly, because most of the new riders travel
    where others already do: with the square root of the scale, and with the number of places. There
    are never more of them than ordered pairs of places, nor than half the trips.
    """
    share = 1.0 if day == "weekday" else _WEEKEND_SHARE
    window_trips = scale * round(_WEEKDAY.window_trips * share)
    cells = round(_WEEKDAY.window_cells * share * math.sqrt(scale) * places / PLACES)
    return Figures(
        trips=scale * round(_WEEKDAY.trips * share),
        window_trips=window_trips,
        window_cells=min(cells, window_trips // 2, places * (places - 1)),
    )


# Twelve buses an hour: riders need no timetable.
_HEADWAY_S = 300
_BUS_M_PER_S = 7.0
_BUS_STOP_S = 30


def ann_arbor_network(locations: Locations) -> TransitNetwork:
    """Returns the network over a list of places that begins with the city's hubs."""
    hubs_m = positions_m(locations)[: len(HUBS)]
    street_m = distances_m(hubs_m, hubs_m) * Travel().detour
    there = [
        BusLine(
            name=name,
            stops=stops,
            ride_s=tuple(
                math.ceil(street_m[ends] / _BUS_M_PER_S + _BUS_STOP_S) for ends in pairwise(stops)
            ),
            headway_s=_HEADWAY_S,
        )
        for name, stops in BUS_LINES.items()
    ]
    return TransitNetwork(
        locations=locations,
        hubs=tuple(range(len(HUBS))),
        lines=tuple(way for line in there for way in (line, line.back())),
    )
