"""The cheapest way through the candidates, held against trying them all."""

from collections.abc import Callable
from itertools import pairwise, product

import numpy as np
import pytest

from hushway.families.links.matching.grid_index import opposites
from hushway.families.links.matching.matcher import Matcher
from hushway.families.links.matching.traces import MatchSettings, Reason, Traces
from hushway.families.links.public.roads import RoadNetwork

MakeRoads = Callable[..., RoadNetwork]

SETTINGS = MatchSettings(spacing=0.0, candidates=64, slack=1e4, skipped=0)


def places(roads: RoadNetwork, spot: np.ndarray) -> list[tuple[int, float, float]]:
    """Every link within the radius: link, offset and distance, by plain arithmetic."""
    found = []
    for link in range(roads.links):
        course = roads.points[roads.start[link] : roads.start[link + 1]]
        best, offset, gone = np.inf, 0.0, 0.0
        for a, b in pairwise(course):
            share = np.clip((spot - a) @ (b - a) / ((b - a) @ (b - a)), 0, 1)
            metres = float(np.linalg.norm(a + share * (b - a) - spot))
            if metres < best:
                best, offset = metres, gone + share * float(np.linalg.norm(b - a))
            gone += float(np.linalg.norm(b - a))
        if best <= SETTINGS.radius:
            found.append((link, offset * roads.length[link] / gone, best))
    return found


def onward(roads: RoadNetwork) -> np.ndarray:
    """Metres from the end of each link to the beginning of each, by relaxing."""
    opposite = opposites(roads)
    follows = roads.head[:, None] == roads.tail[None, :]
    step = np.where(follows, 0.0, np.inf)
    for link in np.flatnonzero(opposite >= 0):
        step[link, opposite[link]] = 0.0 if follows[link].sum() == 1 else SETTINGS.turn
    metres = step.copy()
    for _ in range(roads.links):
        metres = np.minimum(
            metres, (metres[:, :, None] + roads.length[None, :, None] + step[None]).min(axis=1)
        )
    return metres


def step_cost(
    roads: RoadNetwork,
    between: np.ndarray,
    one: tuple[int, float, float],
    two: tuple[int, float, float],
    straight: float,
) -> float:
    (a, from_offset, _), (b, to_offset, _) = one, two
    route = roads.length[a] - from_offset + between[a, b] + to_offset
    # Routes are looked for up to 100 m more than the straight line as long as there are any.
    options = [abs(route - straight)] if route <= straight + 100 else []
    if a == b:
        ahead = to_offset - from_offset
        options.append(abs(ahead - straight) if ahead >= 0 else np.inf)
        if -4 * SETTINGS.sigma <= ahead < 0:
            options.append(straight - ahead)
    elif b == opposites(roads)[a]:
        apart = abs(roads.length[a] - to_offset - from_offset)
        options.append(abs(apart + SETTINGS.turn - straight))
    return min(options, default=np.inf) / SETTINGS.beta


@pytest.mark.one_in(3)
@pytest.mark.parametrize("seed", range(12))
def test_the_way_is_the_cheapest_of_all(make_town: MakeRoads, seed: int) -> None:
    roads = make_town(3, step=70.0, seed=seed, one_way=0.1)
    rng = np.random.default_rng(seed)
    begin, end = roads.node_points[rng.choice(9, 2, replace=False)]
    spots = np.linspace(begin, end, 3) + rng.normal(0, 12, (3, 2))
    layers = [places(roads, spot) for spot in spots]
    between = onward(roads)
    costs = {}
    for chosen in product(*layers):
        cost = sum(metres**2 / (2 * SETTINGS.sigma**2) for _, _, metres in chosen)
        for (one, two), (p, q) in zip(pairwise(chosen), pairwise(spots), strict=True):
            cost += step_cost(roads, between, one, two, float(np.linalg.norm(q - p)))
        costs[tuple(link for link, _, _ in chosen)] = cost
    traces = Traces(
        start=np.array([0, 3]), x=spots[:, 0], y=spots[:, 1], seconds=np.arange(3) * 5.0
    )
    ways = Matcher(roads, SETTINGS).match(traces)
    assert ways.reason.tolist() == [Reason.MATCHED]
    best = min(costs.values())
    assert np.isfinite(best)
    # A link that is only touched at an end is not part of the way, so the ends may differ from the
    # chosen links; the cheapest choice must pass through the same middle.
    cheapest = {links for links, cost in costs.items() if cost <= best + 1e-6}
    assert ways.point_link[1] in {links[1] for links in cheapest}
    exact = tuple(ways.point_link.tolist())
    touched = {links for links in cheapest if links[1] == exact[1]}
    assert any(_same_but_touched(roads, layers, links, exact) for links in touched)


def _same_but_touched(
    roads: RoadNetwork,
    layers: list[list[tuple[int, float, float]]],
    links: tuple[int, ...],
    exact: tuple[int, ...],
) -> bool:
    offsets = [{link: offset for link, offset, _ in layer} for layer in layers]
    begins = links[0] == exact[0] or roads.length[links[0]] - offsets[0][links[0]] <= 1.0
    ends = links[2] == exact[2] or offsets[2][links[2]] <= 1.0
    return begins and ends
