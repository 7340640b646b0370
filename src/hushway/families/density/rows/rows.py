"""Events of files as rows of persons and codes, by DuckDB: the way from files to visits.

Reading and joining with public lists are the engine's. What is kept of a person is decided on
arrays, by code that all counters share.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import ibis
import ibis.expr.types as ir
import numpy as np
import pyarrow as pa
import shapely
from numpy.typing import NDArray

from hushway.arrays import BoolArray, FloatArray, Int32Array
from hushway.engine.embedded import EmbeddedSession
from hushway.engine.grids import DayGrid, day_grid, place_table
from hushway.engine.reading import read_rows
from hushway.engine.row_checks import bucket_of
from hushway.engine.session import Reading, Session
from hushway.errors import DataError
from hushway.families.density.public.visits import DensityUniverse, Sites
from hushway.families.density.rows.counts import PeopleVisits
from hushway.families.density.rows.grouping import VisitRows
from hushway.geography.areas import Areas
from hushway.numerics.compiled import compiled_for_threads
from hushway.progress import ShareProgress
from hushway.tables.layout import Columns, Layout, TimedSource


@dataclass(frozen=True, kw_only=True)
class EventColumns(Columns):
    """Which column of the events holds what: a place's id, or a position.

    Ids are compared exactly, as text: "1", " 1", "01" and "1.0" are four different persons.

    Attributes:
        person: Whose event it is: a person, a phone, a card.
        location: Id of the place, such as a phone tower; None if events carry positions.
        lon: Longitude in WGS84 degrees, if events carry positions.
    """

    person: str = "person"
    location: str | None = "location"
    lon: str | None = None
    lat: str | None = None
    time: str = "time"
    date: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        position = (self.lon is not None, self.lat is not None)
        if position not in ((True, True), (False, False)) or (self.location is None) != all(
            position
        ):
            raise DataError(
                "The columns of events must name either a place, or a longitude and a latitude.",
                advice="Name the column of places; or set it to None, and name lon and lat.",
            )


class EventsSource(TimedSource[EventColumns]):
    """The protected events."""

    noun = "events"


# From positions to areas: a public raster answers for most of the ground, polygons for the rest.
#
# A pixel that no border touches lies wholly in one area or in none, so it needs one look. Positions
# in other pixels are compared with the polygons themselves.

NOWHERE: Final = -1
_BORDER = -2
_UNKNOWN = -3
# At most so many along a side; where borders are few, fewer leave as little to look up exactly.
_MOST_PIXELS, _PIXELS_BY_CORNERS = 2048, 64
# In pixels: far more than rounding can move a border, far less than a pixel.
_MARGIN = 1e-6


class AreaIndex:
    """Says in which area positions lie.

    A position on a border, or where areas overlap by a sliver, belongs to the lowest index.
    """

    def __init__(self, areas: Areas, pixels: int | None = None) -> None:
        shapes = areas.shapes
        ends, joined = _borders(shapes)
        pixels = pixels or min(_MOST_PIXELS, _PIXELS_BY_CORNERS * math.isqrt(len(ends)))
        west, south, east, north = shapely.total_bounds(shapes)
        self._corner = np.array([west, south])
        self._scale = pixels / np.array([east - west, north - south])
        self._limits = np.array([west, south, east, north])
        self._tree = shapely.STRtree(shapes)
        self._raster = np.full((pixels, pixels), _UNKNOWN, dtype=np.int32)
        _draw((ends - self._corner) * self._scale, joined, self._raster)
        self._fill()

    def locate(self, lon: FloatArray, lat: FloatArray) -> Int32Array:
        """Returns the index of the area of each position; -1 if it lies in none.

        Args:
            lon: Longitudes in degrees; those that are no numbers lie in no area.
        """
        area = np.empty(len(lon), dtype=np.int32)
        _look_up(lon, lat, self._limits, self._corner, self._scale, self._raster, area)
        near = np.flatnonzero(area == _BORDER)
        area[near] = self._exactly(lon[near], lat[near])
        return area

    def _exactly(self, lon: FloatArray, lat: FloatArray) -> Int32Array:
        found, area = self._tree.query(shapely.points(lon, lat), predicate="intersects")
        lowest = np.full(len(lon), len(self._tree), dtype=np.int32)
        np.minimum.at(lowest, found, area.astype(np.int32))
        return np.where(lowest < len(self._tree), lowest, np.int32(NOWHERE))

    def _fill(self) -> None:
        """Gives every pixel without a border its area: one look for each run in a row."""
        free = self._raster == _UNKNOWN
        begins = free.copy()
        begins[:, 1:] &= ~free[:, :-1]
        row, column = np.nonzero(begins)
        centre = self._corner + (np.column_stack([column, row]) + 0.5) / self._scale
        area = self._exactly(centre[:, 0].copy(), centre[:, 1].copy())
        run = np.cumsum(begins.ravel()) - 1
        inside = free.ravel()
        self._raster.ravel()[inside] = area[run[inside]]


def _borders(shapes: NDArray[Any]) -> tuple[FloatArray, BoolArray]:
    """Returns the corners of all borders, and whether each is joined to the next one."""
    rings = shapely.get_rings(shapely.get_parts(shapes))
    ends, ring = shapely.get_coordinates(rings, return_index=True)
    joined = np.zeros(len(ring), dtype=np.bool_)
    joined[:-1] = ring[1:] == ring[:-1]
    return ends, joined


@compiled_for_threads
def _draw(ends: FloatArray, joined: BoolArray, raster: Int32Array) -> None:
    """Marks every pixel that a border touches; corners are given in pixels."""
    rows, columns = raster.shape
    for i in range(len(ends) - 1):
        if not joined[i]:
            continue
        low, high = (i, i + 1) if ends[i, 1] <= ends[i + 1, 1] else (i + 1, i)
        x, y, to_x, to_y = ends[low, 0], ends[low, 1], ends[high, 0], ends[high, 1]
        first = max(int(np.floor(y - _MARGIN)), 0)
        last = min(int(np.floor(to_y + _MARGIN)), rows - 1)
        for row in range(first, last + 1):
            # The stretch of the border that lies in this row of pixels, and a little more.
            start = min(max((row - _MARGIN - y) / (to_y - y), 0.0), 1.0) if to_y > y else 0.0
            end = min(max((row + 1 + _MARGIN - y) / (to_y - y), 0.0), 1.0) if to_y > y else 1.0
            one, other = x + start * (to_x - x), x + end * (to_x - x)
            left = max(int(np.floor(min(one, other) - _MARGIN)), 0)
            right = min(int(np.floor(max(one, other) + _MARGIN)), columns - 1)
            for column in range(left, right + 1):
                raster[row, column] = _BORDER


@compiled_for_threads
def _look_up(  # noqa: PLR0917  one argument for each array
    lon: FloatArray,
    lat: FloatArray,
    limits: FloatArray,
    corner: FloatArray,
    scale: FloatArray,
    raster: Int32Array,
    area: Int32Array,
) -> None:
    rows, columns = raster.shape
    west, south, east, north = limits
    for i in range(len(lon)):
        # Not a number is not inside either.
        if not (west <= lon[i] <= east and south <= lat[i] <= north):
            area[i] = NOWHERE
            continue
        column = min(int((lon[i] - corner[0]) * scale[0]), columns - 1)
        row = min(int((lat[i] - corner[1]) * scale[1]), rows - 1)
        area[i] = raster[row, column]


_SALT_DIGITS = 15
# People come with all of their rows; most have more than these.
_ROWS_OF_A_PERSON = 10


def events_read(session: Session, source: EventsSource) -> Reading:
    """Returns how events come into an engine, all of them."""
    return Reading(layout=session.layout(source), read=partial(_events, source), together="person")


def visits_read(session: Session, source: EventsSource, universe: DensityUniverse) -> Reading:
    """Returns how events come into an engine that can be counted.

    They come as (person, code), or as (person, first, lon, lat) if they carry positions: then the
    code is `first` plus the area.

    Privacy:
        An event is kept or dropped by looking at that row and at public tables alone.
    """
    refuse_other_columns(source, universe)
    grid = day_grid(universe.periods, source.clock)
    return Reading(
        layout=session.layout(source),
        read=partial(_countable, source, universe),
        together="person",
        span_us=(grid.start_us, grid.end_us),
    )


def _events(source: EventsSource, session: EmbeddedSession, layout: Layout | None) -> ir.Table:
    return read_rows(session, layout, source.clock)


def _countable(
    source: EventsSource, universe: DensityUniverse, session: EmbeddedSession, layout: Layout | None
) -> ir.Table:
    """Reads events that lie in the window and at a place."""
    grid = day_grid(universe.periods, source.clock)
    rows = _events(source, session, layout)
    rows = rows.filter(rows.us >= grid.start_us, rows.us < grid.end_us).drop_null(["person"])
    rows = rows.mutate(bucket=bucket_of(rows.us, grid))
    rows = rows.inner_join(load_bins(session, grid, universe), "bucket")
    if universe.sites is None:
        return rows.select("person", "first", "lon", "lat").drop_null(["lon", "lat"])
    integers = bool(rows.location.type().is_integer())
    sites = load_sites(session, universe.sites, integers=integers).rename(location="id")
    placed = rows.inner_join(sites, "location")
    return placed.select("person", code=placed.first + placed.site)


def refuse_other_columns(source: EventsSource, universe: DensityUniverse) -> None:
    """Refuses events that name places if the universe has none, and the other way round."""
    if (source.columns.location is None) != (universe.sites is None):
        raise DataError(
            "The events name places and the universe has none, or the other way round.",
            advice="Give a list of places if and only if events name them; events with positions "
            "need areas only.",
        )


def load_sites(session: Session, sites: Sites, *, integers: bool) -> ir.Table:
    """Puts the public table (id, site) into an engine, without places that are left out."""
    places = place_table(sites.locations, integers=integers)
    site = sites.site[places["place"].to_numpy()].astype(np.int32)
    table = pa.table({"id": places["id"], "site": site}).filter(site >= 0)
    return session.load("public_sites", table)


def rows_by_number(
    session: EmbeddedSession,
    events: ir.Table,
    areas: AreaIndex | None,
    progress: ShareProgress | None = None,
) -> Iterator[VisitRows]:
    """Hands out events whose persons are integers, so many at a time.

    Privacy:
        Where a batch ends has nothing to do with persons: the rows of one may lie in many.
    """
    for batch in session.stream(events, progress):
        owner = np.array(batch.column("person"), dtype=np.int64)
        yield VisitRows(owner=owner, code=_codes(batch, areas))


def rows_by_text(
    session: EmbeddedSession,
    events: ir.Table,
    areas: AreaIndex | None,
    progress: ShareProgress | None = None,
) -> PeopleVisits:
    """Returns events whose persons are text, together by person.

    Privacy:
        The engine compares persons exactly. A salt is the first digits of the md5 of one person's
        own text: should two people share it, they share some of their luck and nothing else.
    """
    names = [name for name in events.columns if name != "person"]
    what = events[names[0]] if len(names) == 1 else ibis.struct({n: events[n] for n in names})
    people = events.group_by("person").aggregate(rows=what.collect())
    digits = people.person.hexdigest("md5").left(_SALT_DIGITS)
    salted = people.select("rows", salt=(ibis.literal("0x") + digits).cast("int64"))
    sizes, codes, salts = [np.zeros(1, np.int64)], [], []
    people_at_a_time = max(session.settings.batch_rows // _ROWS_OF_A_PERSON, 1)
    for batch in session.stream_by(people_at_a_time, salted, progress):
        lists = batch.column("rows")
        values = lists.flatten()
        if isinstance(values, pa.StructArray):
            codes.append(_codes(pa.RecordBatch.from_struct_array(values), areas))
        else:
            codes.append(np.array(values, dtype=np.int32))
        sizes.append(np.diff(lists.offsets.to_numpy()).astype(np.int64))
        salts.append(np.array(batch.column("salt"), dtype=np.int64))
    return PeopleVisits(
        start=np.cumsum(np.concatenate(sizes)),
        code=np.concatenate([np.empty(0, np.int32), *codes]),
        salt=np.concatenate([np.empty(0, np.int64), *salts]),
    )


def load_bins(session: Session, grid: DayGrid, universe: DensityUniverse) -> ir.Table:
    """Puts the public table (bucket, first) into an engine: the first code of each bucket's bin."""
    used = np.flatnonzero(grid.day >= 0)
    number = grid.period[used]
    if universe.periods.cycle == "window":
        number = grid.day[used] * universe.periods.parts + number
    first = (number.astype(np.int64) * universe.site_count).astype(np.int32)
    table = pa.table({"bucket": grid.start_us + used * grid.bucket_us, "first": first})
    return session.load("public_bins", table)


def _codes(batch: pa.RecordBatch, areas: AreaIndex | None) -> Int32Array:
    if areas is None:
        return np.array(batch.column("code"), dtype=np.int32)
    area = areas.locate(np.asarray(batch.column("lon")), np.asarray(batch.column("lat")))
    first = np.asarray(batch.column("first"), dtype=np.int32)
    return np.where(area >= 0, first + area, np.int32(-1)).astype(np.int32)
