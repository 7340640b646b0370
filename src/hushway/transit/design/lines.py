"""From opened arcs to bus lines: few lines, each without a stop that it calls at twice.

Every hub has as many arcs in as out, so each arc that enters a hub can be followed by one that
leaves it, and the arcs fall into closed tours. A tour is cut into lines, each as long as it may be.
Which arc follows which is improved by swaps, as long as that saves a line.
"""

from itertools import combinations, pairwise

from hushway.arrays import BoolArray
from hushway.geography.transit import BusLine, TransitNetwork
from hushway.transit.design.design import Design
from hushway.transit.design.problem import DesignSettings

Arc = tuple[int, int]


def lines_of(
    design: Design, network: TransitNetwork, settings: DesignSettings | None = None
) -> TransitNetwork:
    """Returns the network with lines along exactly the opened arcs, and the hubs that they touch.

    Args:
        network: The network whose hubs were the candidates; its own lines are dropped.
    """
    settings = settings or DesignSettings()
    ride_s = settings.ride_s(network)
    lines: list[BusLine] = []
    for stops in lines_through(design.opened):
        places = tuple(network.hubs[hub] for hub in stops)
        # The way back of a line shares its name.
        back = [line.name for line in lines if line.stops == places[::-1]]
        names = len({line.name for line in lines})
        lines.append(
            BusLine(
                name=back[0] if back else f"Line {names + 1}",
                stops=places,
                ride_s=tuple(int(ride_s[arc]) for arc in pairwise(stops)),
                headway_s=settings.headway_s,
            )
        )
    return TransitNetwork(
        locations=network.locations,
        hubs=tuple(sorted({stop for line in lines for stop in line.stops})),
        lines=tuple(lines),
        travel=network.travel,
    )


def lines_through(opened: BoolArray) -> list[tuple[int, ...]]:
    """Returns lines that use every opened arc once and no other, each through distinct hubs.

    Args:
        opened: Which arcs are open; every hub has as many in as out.
    """
    hubs = range(len(opened))
    follows: dict[Arc, Arc] = {}
    for hub in hubs:
        arcs_in = [(other, hub) for other in hubs if opened[other, hub]]
        arcs_out = [(hub, other) for other in hubs if opened[hub, other]]
        # One place on: an arc there and back is not followed by its own way back if others exist.
        follows |= dict(zip(arcs_in, arcs_out[1:] + arcs_out[:1], strict=True))
    lines = _cut(follows)
    improved = True
    while improved:
        improved = False
        for one, other in combinations(sorted(follows, key=lambda arc: arc[::-1]), 2):
            if one[1] != other[1]:
                continue
            swapped = follows | {one: follows[other], other: follows[one]}
            fewer = _cut(swapped)
            if len(fewer) < len(lines):
                follows, lines, improved = swapped, fewer, True
    return sorted(lines)


def _cut(follows: dict[Arc, Arc]) -> list[tuple[int, ...]]:
    """Returns the fewest lines that the tours can be cut into."""
    lines: list[tuple[int, ...]] = []
    left = dict.fromkeys(sorted(follows))
    while left:
        arc = next(iter(left))
        tour = []
        while arc in left:
            del left[arc]
            tour.append(arc[0])
            arc = follows[arc]
        # The first line cannot be longer, so wherever a tour is cut, one cut lies at one of that
        # line's later stops.
        starts = range(1, len(_cut_from(tour, 0)[0]))
        cuts = [_cut_from(tour, start) for start in starts]
        best = min(cuts, key=len)
        lines.extend(best)
    return lines


def _cut_from(tour: list[int], start: int) -> list[tuple[int, ...]]:
    """Cuts a closed tour into lines that are as long as they may be, from a stop on."""
    stops = [*tour[start:], *tour[: start + 1]]
    lines, line = [], [stops[0]]
    for stop in stops[1:]:
        if stop in line:
            lines.append(tuple(line))
            line = [line[-1]]
        line.append(stop)
    return [*lines, tuple(line)]
