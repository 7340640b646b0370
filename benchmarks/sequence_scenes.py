"""Scenes that published sequences are judged on: cards, pages, check-ins and traces.

Cards and traces are synthetic, with seeds that no choice of the product was tuned on; the filling
of the grams, a peer, was chosen on these scenes (see `sequence_ngrams.py`). Pages (MSNBC) and
check-ins (Gowalla in New York) are real; a scene is left out if HUSHWAY_DATA names no folder that
holds it. Boxes and grids are public: none is learnt from rows.
"""

import gzip
import math
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.engine.key import BoundingKey
from hushway.families.links.city.road_city import road_city
from hushway.families.links.city.simulate import trace_parts
from hushway.families.sequences.city.cards import CardCity, bus, metro
from hushway.families.sequences.public.taxonomy import Taxonomy, generated_taxonomy
from hushway.families.sequences.rows.counter import ArraySequences
from hushway.families.sequences.rows.record_bounding import (
    OrderedStops,
    Records,
    bounded_records,
    records_of,
)
from hushway.geography.areas import Plane
from hushway.geography.locations import Location, Locations
from hushway.privacy.bound import Unit
from hushway.privacy.randomness import SeededSource

HEIGHT = 12
METRO_SEED, BUS_SEED, ROAD_SEED = 2027, 2028, 2027
PEOPLE, LINKS, ROAD_CELLS = 60_000, 8_000, 12
MOST_RECORDS, CHECK_IN_CELLS = 8, 20
PAGES = 17
# All of New York City: west, south, east, north.
NEW_YORK = (-74.26, 40.48, -73.70, 40.92)


@dataclass(frozen=True, kw_only=True, eq=False)
class JudgedScene:
    """Records to publish, and who is protected.

    Attributes:
        taxonomy: The public places and their groups.
        start: Where each record begins; one entry more than records.
        stops: The location index of every stop of all records in a row.
        height: How many stops of a record are published: its first ones.
        max_records: Most records of one unit that count.
        person: The person of each record; None if the unit is one record.
        grid: Cells on a side, if places are cells of a grid, numbered row by row from the south.
        has_positions: Whether places are somewhere; pages are not.
    """

    taxonomy: Taxonomy
    start: IntArray
    stops: IntArray
    height: int = HEIGHT
    max_records: int = 1
    person: IntArray | None = None
    grid: int | None = None
    has_positions: bool = True

    @property
    def places(self) -> int:
        """Number of places."""
        return len(self.taxonomy.locations)

    @property
    def unit(self) -> Unit:
        """Who is protected."""
        return Unit.RECORD if self.person is None else Unit.PERSON

    @property
    def counter(self) -> ArraySequences:
        """Bounded counts for a mechanism of the product."""
        return self.counted_with(())

    def counted_with(self, ladder: tuple[int, ...]) -> ArraySequences:
        """Returns bounded counts for a mechanism that may choose one of some limits."""
        return ArraySequences(
            taxonomy=self.taxonomy,
            unit=self.unit,
            max_records=self.max_records,
            max_stops=self.height,
            key=_key(),
            start=self.start,
            stops=self.stops,
            person=self.person,
            ladder=ladder,
        )

    @cached_property
    def bounded(self) -> Records:
        """The records that count, cut to the height: what peers are given, the same as counted."""
        ordered = OrderedStops(
            owner=None,
            part=np.repeat(np.arange(len(self.start) - 1), np.diff(self.start)),
            place=self.stops.astype(np.int32),
            period=None,
            since_us=None,
        )
        records = records_of(ordered, max_stops=self.height)
        if self.person is None:
            return records
        return bounded_records(records.owned_by(self.person), self.max_records, _key())

    @cached_property
    def distance_km(self) -> FloatArray | None:
        """Distances between all places; None if they are nowhere."""
        if not self.has_positions:
            return None
        lon, lat = (
            np.array([getattr(place, part) for place in self.taxonomy.locations.places])
            for part in ("lon", "lat")
        )
        plane = Plane(lon=float(lon.min() + lon.max()) / 2, lat=float(lat.min() + lat.max()) / 2)
        x, y = plane.to_metres(lon, lat).T / 1000
        apart: FloatArray = np.hypot(x[:, None] - x, y[:, None] - y)
        return apart


def _key() -> BoundingKey:
    return BoundingKey.draw(SeededSource(0))


def cards(city: CardCity) -> JudgedScene:
    return JudgedScene(taxonomy=city.taxonomy, start=city.start, stops=city.stops)


def pages() -> JudgedScene | None:
    """Returns what visitors of MSNBC looked at: kinds of pages, without positions."""
    file = _data() / "msnbc" / "msnbc990928.seq.gz"
    if not file.is_file():
        return None
    with gzip.open(file, "rt") as lines:
        rows = [line.split() for line in lines if line[:1].isdigit()]
    places = tuple(
        Location(id=f"{number:02d}", name="", lon=0.0, lat=0.0, zone="") for number in range(PAGES)
    )
    return JudgedScene(
        taxonomy=Taxonomy(locations=Locations(places)),
        start=np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64),
        stops=np.array([int(page) - 1 for row in rows for page in row], dtype=np.int64),
        has_positions=False,
    )


def check_ins() -> JudgedScene | None:
    """Returns days of check-ins in New York, as cells of a grid; one person's day is protected."""
    scene = check_ins_of_people()
    return None if scene is None else replace(scene, person=None, max_records=1)


def check_ins_of_people() -> JudgedScene | None:
    """Returns the same days; a person is protected, of whom at most eight days count."""
    file = _data() / "gowalla_nyc" / "checkins.parquet"
    if not file.is_file():
        return None
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    table = pq.read_table(file)
    clock = pa.timestamp("ms", tz="America/New_York")
    local = pc.local_timestamp(table["utc"].cast(clock)).to_numpy()
    user, lon, lat = (table[column].to_numpy() for column in ("user", "lon", "lat"))
    order = np.lexsort((local, user))
    day = local.astype("datetime64[D]").astype(np.int64)
    cell = cell_of(lon, lat, NEW_YORK, CHECK_IN_CELLS)
    _, record = np.unique(np.stack([user, day])[:, order], axis=1, return_inverse=True)
    start, stops, first = without_repeats(record.ravel(), cell[order])
    return JudgedScene(
        taxonomy=grid_taxonomy(NEW_YORK, CHECK_IN_CELLS),
        start=start,
        stops=stops,
        person=user[order][first],
        max_records=MOST_RECORDS,
        grid=CHECK_IN_CELLS,
    )


def traces() -> JudgedScene:
    """Returns the trips of a synthetic road city, as cells of a grid over its public roads."""
    roads = road_city(ROAD_SEED, links=LINKS)
    lon, lat = roads.node_lon, roads.node_lat
    box = (float(lon.min()), float(lat.min()), float(lon.max()), float(lat.max()))
    cell = cell_of(lon, lat, box, ROAD_CELLS)
    lengths, nodes = [], []
    for city in trace_parts(roads, ROAD_SEED, people=PEOPLE):
        begin, link = city.truth.start, city.truth.link
        # A trip is at the node where it sets out, and then at the head of each of its links.
        nodes.append(np.insert(roads.head[link], begin[:-1], roads.tail[link[begin[:-1]]]))
        lengths.append(np.diff(begin) + 1)
    length = np.concatenate(lengths)
    trip = np.repeat(np.arange(len(length)), length)
    start, stops, _ = without_repeats(trip, cell[np.concatenate(nodes)])
    return JudgedScene(
        taxonomy=grid_taxonomy(box, ROAD_CELLS), start=start, stops=stops, grid=ROAD_CELLS
    )


def cell_of(
    lon: FloatArray, lat: FloatArray, box: tuple[float, float, float, float], cells: int
) -> IntArray:
    """Returns the number of the cell of each position; what is outside is in the nearest cell."""
    west, south, east, north = box
    column = np.floor((lon - west) / (east - west) * cells).clip(0, cells - 1)
    row = np.floor((lat - south) / (north - south) * cells).clip(0, cells - 1)
    cell: IntArray = (row * cells + column).astype(np.int64)
    return cell


def grid_taxonomy(box: tuple[float, float, float, float], cells: int) -> Taxonomy:
    """Returns the middles of all cells, with groups of as many neighbours as there are groups."""
    west, south, east, north = box
    middles = (np.arange(cells) + 0.5) / cells
    places = tuple(
        Location(
            id=f"{row:02d}-{column:02d}",
            name="",
            lon=float(west + (east - west) * middles[column]),
            lat=float(south + (north - south) * middles[row]),
            zone="",
        )
        for row in range(cells)
        for column in range(cells)
    )
    return generated_taxonomy(Locations(places), math.isqrt(cells * cells))


def without_repeats(record: IntArray, cell: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Returns records in which no cell follows itself: starts, stops, and the first row of each."""
    fresh = np.ones(len(record), dtype=np.bool_)
    fresh[1:] = record[1:] != record[:-1]
    kept = fresh.copy()
    kept[1:] |= cell[1:] != cell[:-1]
    first = np.flatnonzero(fresh)
    start = np.append(np.cumsum(kept)[first] - 1, kept.sum()).astype(np.int64)
    return start, cell[kept], first


def _data() -> Path:
    return Path(os.environ.get("HUSHWAY_DATA", "absent"))


SCENES: dict[str, Callable[[], JudgedScene | None]] = {
    "metro": lambda: cards(metro(METRO_SEED)),
    "bus": lambda: cards(bus(BUS_SEED)),
    "pages": pages,
    "check-ins": check_ins,
    "check-ins of people": check_ins_of_people,
    "traces": traces,
}
"""Every scene by name; None comes back where its data are missing."""
