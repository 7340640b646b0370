"""How a trip is made: a public function of its ends, from hubs, zones and distance alone."""

import numpy as np
from numpy.typing import NDArray

from hushway.cities.places import HUBS, distances_m, linked_hubs, positions_m
from hushway.geography.locations import Locations

# Legs in the order in which they are travelled. Numbers 4 to 11 are the bus modes: 4 + 4 * (a
# change of bus) + 2 * (a shuttle to the first hub) + (a shuttle from the last hub).
MODES = (
    "shuttle",
    "shuttle-shuttle",
    "shuttle-walk",
    "walk-shuttle",
    "bus",
    "bus-shuttle",
    "shuttle-bus",
    "shuttle-bus-shuttle",
    "bus-bus",
    "bus-bus-shuttle",
    "shuttle-bus-bus",
    "shuttle-bus-bus-shuttle",
)
_SHUTTLE, _SHUTTLE_SHUTTLE, _SHUTTLE_WALK, _WALK_SHUTTLE, _BUS = range(5)
NO_MODE = -1

_DIRECT_M = 1_200.0
_WALK_M = 900.0


def modes_between(locations: Locations) -> NDArray[np.int64]:
    """Returns the mode of every origin (row) and destination (column); the diagonal is -1.

    The rules, first match wins:

    1. Between two hubs: the bus, with one change where no line joins them.
    2. Within one zone, or up to 1.2 km: one shuttle, door to door.
    3. Across a zone border, where both ends belong to the same nearest hub: one shuttle if one end
       is that hub; else the end within 900 m of it (the nearer, if both are) is walked; else a
       second shuttle.
    4. All else: a bus between the nearest hubs, with a shuttle at every end that is not a hub
       itself.

    Args:
        locations: Places that begin with the city's hubs.
    """
    position_m = positions_m(locations)
    place = np.arange(len(locations))
    is_hub = place < len(HUBS)
    to_hubs = distances_m(position_m, position_m[: len(HUBS)])
    hub = np.argmin(to_hubs, axis=1)
    to_hub = to_hubs[place, hub]
    zone_number = {name: number for number, name in enumerate(locations.zones)}
    zone = np.array([zone_number[p.zone] for p in locations.places])

    change = ~linked_hubs()[hub[:, None], hub[None, :]]
    mode = _BUS + 4 * change + 2 * ~is_hub[:, None] + ~is_hub[None, :]

    same_hub = hub[:, None] == hub[None, :]
    to_walk = (to_hub[None, :] <= _WALK_M) & (to_hub[None, :] <= to_hub[:, None])
    from_walk = (to_hub[:, None] <= _WALK_M) & (to_hub[:, None] < to_hub[None, :])
    one_hub = is_hub[:, None] | is_hub[None, :]
    mode[same_hub] = _SHUTTLE_SHUTTLE
    mode[same_hub & to_walk] = _SHUTTLE_WALK
    mode[same_hub & from_walk] = _WALK_SHUTTLE
    mode[same_hub & one_hub] = _SHUTTLE

    near = distances_m(position_m, position_m) <= _DIRECT_M
    two_hubs = is_hub[:, None] & is_hub[None, :]
    mode[((zone[:, None] == zone[None, :]) | near) & ~two_hubs] = _SHUTTLE
    mode[place, place] = NO_MODE
    return np.asarray(mode, dtype=np.int64)
