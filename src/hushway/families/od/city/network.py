"""The buses and shuttles of the synthetic Ann Arbor: public, the same for every seed."""

import math
from itertools import pairwise

from hushway.families.od.city.places import BUS_LINES, HUBS, positions_m
from hushway.geography.locations import Locations
from hushway.geography.transit import BusLine, TransitNetwork, Travel
from hushway.study.chance import distances_m

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
