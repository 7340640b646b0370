"""Events of files as rows of persons and codes, by DuckDB: the way from files to visits.

Reading and joining with public lists are the engine's. What is kept of a person is decided on
arrays, by code that all counters share.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import ibis
import ibis.expr.types as ir
import numpy as np
import pyarrow as pa
from ibis.backends.duckdb import Backend

from hushway.arrays import Int32Array
from hushway.engine.day_grid import DayGrid, day_grid
from hushway.engine.lookup import place_table
from hushway.engine.marking import bucket_of
from hushway.engine.reading import load_table, read_rows
from hushway.engine.session import Progress, stream
from hushway.errors import DataError
from hushway.families.density.public.cells import DensityUniverse, Sites
from hushway.families.density.rows.bounding import PeopleVisits
from hushway.families.density.rows.events import EventsSource
from hushway.families.density.rows.grouping import VisitRows
from hushway.families.density.rows.positions import AreaIndex
from hushway.tables.layout import layout_of

_SALT_DIGITS = 15
# People come with all of their rows; most have more than these.
_ROWS_OF_A_PERSON = 10


@dataclass(frozen=True, kw_only=True, eq=False)
class EventRows:
    """Events that lie in the window and at a place, still in the engine.

    Attributes:
        table: (person, code), or (person, first, lon, lat) if events carry positions: then the code
            is `first` plus the area.
        areas: Turns positions into areas; None if events name places.
    """

    table: ir.Table
    areas: AreaIndex | None

    @property
    def has_numbers(self) -> bool:
        """Whether persons are integers."""
        return bool(self.table.person.type().is_integer())


def event_rows(backend: Backend, source: EventsSource, universe: DensityUniverse) -> EventRows:
    """Returns the events that can be counted.

    Privacy:
        An event is kept or dropped by looking at that row and at public tables alone.

    Raises:
        DataError: A file cannot be opened, or does not have what the universe needs.
    """
    refuse_other_columns(source, universe)
    layout = layout_of(source)
    grid = day_grid(universe.periods, source.clock)
    rows = read_rows(backend, layout, source.clock)
    rows = rows.filter(rows.us >= grid.start_us, rows.us < grid.end_us).drop_null(["person"])
    rows = rows.mutate(bucket=bucket_of(rows.us, grid.start_us, grid.end_us, grid.bucket_us))
    rows = rows.inner_join(_load_bins(backend, grid, universe), "bucket")
    if universe.sites is None:
        table = rows.select("person", "first", "lon", "lat").drop_null(["lon", "lat"])
        return EventRows(table=table, areas=AreaIndex(universe.areas))
    integers = layout.kinds["location"] == "integer"
    sites = load_sites(backend, universe.sites, integers=integers).rename(location="id")
    placed = rows.inner_join(sites, "location")
    return EventRows(table=placed.select("person", code=placed.first + placed.site), areas=None)


def refuse_other_columns(source: EventsSource, universe: DensityUniverse) -> None:
    """Refuses events that name places if the universe has none, and the other way round.

    Raises:
        DataError: They do not fit.
    """
    if (source.columns.location is None) != (universe.sites is None):
        raise DataError(
            "The events name places and the universe has none, or the other way round.",
            advice="Give a list of places if and only if events name them; events with positions "
            "need areas only.",
        )


def load_sites(backend: Backend, sites: Sites, *, integers: bool) -> ir.Table:
    """Puts the public table (id, site) into a DuckDB, without places that are left out."""
    places = place_table(sites.locations, integers=integers)
    site = sites.site[places["place"].to_numpy()].astype(np.int32)
    table = pa.table({"id": places["id"], "site": site}).filter(site >= 0)
    return load_table(backend, "public_sites", table)


def rows_by_number(
    backend: Backend, events: EventRows, batch_rows: int, progress: Progress | None = None
) -> Iterator[VisitRows]:
    """Hands out events whose persons are integers, so many at a time.

    Privacy:
        Where a batch ends has nothing to do with persons: the rows of one may lie in many.

    Raises:
        DataError: The rows cannot be read, or memory or disk ran out.
    """
    for batch in stream(backend, events.table, batch_rows, progress):
        owner = np.array(batch.column("person"), dtype=np.int64)
        yield VisitRows(owner=owner, code=_codes(batch, events.areas))


def rows_by_text(
    backend: Backend, events: EventRows, batch_rows: int, progress: Progress | None = None
) -> PeopleVisits:
    """Returns events whose persons are text, together by person.

    Privacy:
        The engine compares persons exactly. A salt is the first digits of the md5 of one person's
        own text: should two people share it, they share some of their luck and nothing else.

    Raises:
        DataError: The rows cannot be read, or memory or disk ran out.
    """
    table = events.table
    names = [name for name in table.columns if name != "person"]
    what = table[names[0]] if len(names) == 1 else ibis.struct({n: table[n] for n in names})
    people = table.group_by("person").aggregate(rows=what.collect())
    digits = people.person.hexdigest("md5").left(_SALT_DIGITS)
    salted = people.select("rows", salt=(ibis.literal("0x") + digits).cast("int64"))
    sizes, codes, salts = [np.zeros(1, np.int64)], [], []
    for batch in stream(backend, salted, max(batch_rows // _ROWS_OF_A_PERSON, 1), progress):
        lists = batch.column("rows")
        values = lists.flatten()
        if isinstance(values, pa.StructArray):
            codes.append(_codes(pa.RecordBatch.from_struct_array(values), events.areas))
        else:
            codes.append(np.array(values, dtype=np.int32))
        sizes.append(np.diff(lists.offsets.to_numpy()).astype(np.int64))
        salts.append(np.array(batch.column("salt"), dtype=np.int64))
    return PeopleVisits(
        start=np.cumsum(np.concatenate(sizes)),
        code=np.concatenate([np.empty(0, np.int32), *codes]),
        salt=np.concatenate([np.empty(0, np.int64), *salts]),
    )


def _load_bins(backend: Backend, grid: DayGrid, universe: DensityUniverse) -> ir.Table:
    """Puts the public table (bucket, first) into a DuckDB: the first code of each bucket's bin."""
    used = np.flatnonzero(grid.day >= 0)
    number = grid.day[used] * universe.periods.parts + grid.period[used]
    first = (number.astype(np.int64) * universe.site_count).astype(np.int32)
    table = pa.table({"bucket": grid.start_us + used * grid.bucket_us, "first": first})
    return load_table(backend, "public_bins", table)


def _codes(batch: pa.RecordBatch, areas: AreaIndex | None) -> Int32Array:
    if areas is None:
        return np.array(batch.column("code"), dtype=np.int32)
    area = areas.locate(np.asarray(batch.column("lon")), np.asarray(batch.column("lat")))
    first = np.asarray(batch.column("first"), dtype=np.int32)
    return np.where(area >= 0, first + area, np.int32(-1)).astype(np.int32)
