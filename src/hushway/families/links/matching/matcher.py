"""Map matching: the most likely path along links for each trip (HMM and Viterbi)."""

from functools import cached_property
from queue import SimpleQueue
from typing import Final, Protocol

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.errors import GeographyError
from hushway.families.links.matching.candidates import empty_trellis
from hushway.families.links.matching.dijkstra import empty_balls, empty_search, link_graph
from hushway.families.links.matching.grid_index import (
    Grid,
    LinkSegments,
    Nearby,
    cell_range,
    empty_nearby,
    find_near,
    first_segments,
    grid_of,
    project_onto_segment,
    segments_of,
)
from hushway.families.links.matching.paths import PATH_ROW, empty_path
from hushway.families.links.matching.traces import MatchSettings, Traces, Ways, hmm_parameters
from hushway.families.links.matching.trips import (
    TRIP_ROW,
    Matched,
    Memory,
    Positions,
    RoadIndex,
    match_trips,
)
from hushway.families.links.public.roads import RoadNetwork
from hushway.numerics.compiled import compiled_for_threads
from hushway.numerics.threads import chunks, in_order, usual_threads
from hushway.progress import ShareProgress

_POSITIONS_AT_ONCE = 20_000
_POINTS_AT_ONCE = 1_000
_USUAL: Final = MatchSettings()


class RoadMatcher(Protocol):
    """Matches traces to a road network, each by its own positions and the public map alone.

    Privacy:
        What becomes of a trip must not depend on the other trips that are matched with it, nor on
        the number of threads.
    """

    def match(self, traces: Traces, *, threads: int | None = None) -> Ways:
        """Returns the way of each trip."""

    def nearest_links(
        self, x: FloatArray, y: FloatArray, radius: float
    ) -> tuple[IntArray, IntArray, FloatArray]:
        """Returns links near points, nearest first: where each point's begin, they, distances."""

    def links_within(self, x: FloatArray, y: FloatArray, radii: FloatArray) -> IntArray:
        """Returns how many streets lie within each radius (columns) of each point (rows)."""


class Matcher:
    """Matches trips to a road network.

    The model is the HMM of Newson and Krumm (2009): positions are off by Gaussian errors, and
    routes are about as long as the straight line. Everything found is a function of the roads, the
    settings and the trip alone: not of other trips, nor of the number of threads.
    """

    def __init__(self, roads: RoadNetwork, settings: MatchSettings = _USUAL) -> None:
        self._roads = roads
        self._settings = settings

    def match(
        self,
        traces: Traces,
        *,
        first_link: IntArray | None = None,
        last_link: IntArray | None = None,
        threads: int | None = None,
        progress: ShareProgress | None = None,
    ) -> Ways:
        """Returns the most likely way of each trip.

        Args:
            traces: Positions on the plane of the road network.
            first_link: The link that each trip must begin on, -1 where it is free.
            last_link: The link that each trip must end on, likewise.

        Raises:
            GeographyError: A position is not a number, times go back, or a link does not exist.
        """
        _check(traces)
        first = self._forced(first_link, len(traces))
        last = self._forced(last_link, len(traces))
        threads = usual_threads(threads)
        hmm = hmm_parameters(self._settings)
        longest = int(np.diff(traces.start).max(initial=0))
        spare: SimpleQueue[Memory] = SimpleQueue()
        stretches = chunks(np.diff(traces.start), _POSITIONS_AT_ONCE)
        for _ in range(min(threads, max(len(stretches), 1))):
            spare.put(self._memory(longest))

        def work(stretch: tuple[int, int]) -> Matched:
            # There are as many as threads at work, so none waits.
            memory = spare.get()
            trips = _part(traces, stretch, first, last)
            matched = match_trips(self._ground, memory, trips, hmm)
            spare.put(memory)
            return matched

        parts = []
        for part, (_, end) in zip(in_order(work, stretches, threads), stretches, strict=True):
            parts.append(part)
            if progress is not None:
                progress(float(traces.start[end]) / max(float(traces.start[-1]), 1.0))
        return _joined(parts)

    def nearest_links(
        self, x: FloatArray, y: FloatArray, radius: float
    ) -> tuple[IntArray, IntArray, FloatArray]:
        """Returns the links within a radius of each point, nearest first, in both directions.

        The result is where the links of each point begin (one entry more than points), the links,
        and their distances in metres.
        """
        ground = self._ground
        counts, link, metres = links_near(
            ground.courses,
            ground.grid,
            empty_nearby(self._roads.links),
            (np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)),
            float(radius),
        )
        return np.concatenate([[0], np.cumsum(counts)]), link, metres

    def links_within(
        self, x: FloatArray, y: FloatArray, radii: FloatArray, *, threads: int | None = None
    ) -> IntArray:
        """Returns how many streets are within each radius of each point: points times radii.

        A two-way street counts once: it is one road to whoever looks for a place to hide.

        Raises:
            GeographyError: The radii do not ascend.
        """
        radii = np.asarray(radii, dtype=np.float64)
        if len(radii) == 0 or radii[0] < 0 or bool((np.diff(radii) < 0).any()):
            raise GeographyError(
                "Radii must ascend, and there must be at least one.",
                advice="Sort the radii; none may be negative.",
            )
        xy = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
        streets = int(self._roads.street.max()) + 1
        ground = self._ground

        def work(stretch: tuple[int, int]) -> IntArray:
            part = slice(*stretch)
            points = (xy[0][part], xy[1][part])
            return streets_within(ground.courses, ground.grid, points, radii, streets)

        stretches = chunks(np.ones(len(xy[0]), dtype=np.int64), _POINTS_AT_ONCE)
        none = np.zeros((0, len(radii)), dtype=np.int64)
        return np.concatenate([none, *in_order(work, stretches, usual_threads(threads))])

    @cached_property
    def _ground(self) -> RoadIndex:
        courses = segments_of(self._roads)
        return RoadIndex(
            courses=courses,
            first=first_segments(courses),
            grid=grid_of(courses),
            graph=link_graph(self._roads, self._settings.turn),
        )

    def _memory(self, positions: int) -> Memory:
        return Memory(
            found=empty_nearby(self._roads.links),
            search=empty_search(self._roads),
            balls=empty_balls(self._roads),
            trellis=empty_trellis(positions, self._settings.candidates),
            path=empty_path(self._roads.links),
        )

    def _forced(self, links: IntArray | None, trips: int) -> IntArray:
        if links is None:
            return np.full(trips, -1, dtype=np.int64)
        if len(links) != trips or bool(((links < -1) | (links >= self._roads.links)).any()):
            raise GeographyError(
                "The links that trips must begin or end on are not links of the network.",
                advice="Give the index of one link for each trip, or -1 where it is free.",
            )
        return np.asarray(links, dtype=np.int64)


def _check(traces: Traces) -> None:
    columns = (traces.x, traces.y, traces.seconds)
    known = all(len(c) == traces.start[-1] and bool(np.isfinite(c).all()) for c in columns)
    later = np.diff(traces.seconds) >= 0
    # From the last position of a trip to the first of the next, time may go either way.
    inner = traces.start[1:-1]
    inner = inner[(inner > 0) & (inner < traces.start[-1])]
    if known:
        later[inner - 1] = True
    if not known or not bool(later.all()):
        raise GeographyError(
            "Every position needs finite coordinates and a time that is not before the last one.",
            advice="Leave out positions without coordinates and sort each trip by time.",
        )


def _part(
    traces: Traces, stretch: tuple[int, int], first_link: IntArray, last_link: IntArray
) -> Positions:
    first, last = stretch
    start = traces.start[first : last + 1]
    inside = slice(int(start[0]), int(start[-1]))
    # All laid out alike, whoever they are from: other layouts would be compiled for again.
    x, y, seconds = (
        np.require(values[inside], np.float64, ["C", "W"])
        for values in (traces.x, traces.y, traces.seconds)
    )
    return Positions(
        start=np.asarray(start - start[0], dtype=np.int64),
        x=x,
        y=y,
        seconds=seconds,
        first_link=first_link[first:last],
        last_link=last_link[first:last],
    )


def _joined(parts: list[Matched]) -> Ways:
    none = np.zeros(0, dtype=np.int64)
    trips = np.concatenate([np.zeros(0, dtype=TRIP_ROW), *(part.trip for part in parts)])
    links = np.concatenate([np.zeros(0, dtype=PATH_ROW), *(part.link for part in parts)])
    return Ways(
        start=np.concatenate([[0], np.cumsum(trips["size"])]),
        link=links["link"].copy(),
        entered=links["entered"].copy(),
        left=links["left"].copy(),
        fresh=np.concatenate([np.zeros(0, dtype=np.bool_), *(part.fresh for part in parts)]),
        reason=trips["reason"].copy(),
        point_link=np.concatenate([none, *(part.point_link for part in parts)]),
    )


@compiled_for_threads
def streets_within(
    courses: LinkSegments,
    grid: Grid,
    points: tuple[FloatArray, FloatArray],
    radii: FloatArray,
    streets: int,
) -> IntArray:
    """Counts the streets within growing radii: a row for each point, a column for each radius."""
    x, y = points
    counts = np.zeros((len(x), len(radii)), dtype=np.int64)
    seen = np.zeros(streets, dtype=np.int64)
    nearest = np.zeros(streets)
    found = np.zeros(streets, dtype=np.int64)
    squares = radii * radii
    furthest, most = radii[-1], squares[-1]
    for point in range(len(x)):
        count = 0
        here = (x[point], y[point])
        left, right = cell_range(
            here[0] - furthest, here[0] + furthest, grid.x, grid.side, grid.columns
        )
        low, high = cell_range(here[1] - furthest, here[1] + furthest, grid.y, grid.side, grid.rows)
        for row in range(low, high):
            if left >= right:
                break
            first = row * grid.columns
            for at in range(grid.start[first + left], grid.start[first + right]):
                i = grid.segment[at]
                square, _ = project_onto_segment(courses.segment, i, here[0], here[1])
                if square > most:
                    continue
                street = courses.segment[i].street
                if seen[street] != point + 1:
                    seen[street] = point + 1
                    nearest[street] = square
                    found[count] = street
                    count += 1
                elif square < nearest[street]:
                    nearest[street] = square
        for i in range(count):
            counts[point, np.searchsorted(squares, nearest[found[i]])] += 1
        for column in range(1, len(radii)):
            counts[point, column] += counts[point, column - 1]
    return counts


@compiled_for_threads
def links_near(
    courses: LinkSegments,
    grid: Grid,
    found: Nearby,
    points: tuple[FloatArray, FloatArray],
    radius: float,
) -> tuple[IntArray, IntArray, FloatArray]:
    """Returns how many links are within a radius of each point, and all of them, nearest first."""
    x, y = points
    counts = np.zeros(len(x), dtype=np.int64)
    link = np.empty(8 * len(x) + 8, dtype=np.int64)
    metres = np.empty(8 * len(x) + 8)
    filled = 0
    for point in range(len(x)):
        count = find_near(courses, grid, found, (x[point], y[point]), radius)
        if filled + 2 * count > len(link):
            more_links = np.empty(2 * (filled + 2 * count), dtype=np.int64)
            more_metres = np.empty(2 * (filled + 2 * count))
            more_links[:filled], more_metres[:filled] = link[:filled], metres[:filled]
            link, metres = more_links, more_metres
        before = filled
        for i in range(count):
            near = found.near[found.order[i]]
            link[filled], metres[filled] = near.link, np.sqrt(near.square)
            filled += 1
            if near.twin >= 0:
                link[filled], metres[filled] = near.twin, np.sqrt(near.square)
                filled += 1
        counts[point] = filled - before
    return counts, link[:filled].copy(), metres[:filled].copy()
