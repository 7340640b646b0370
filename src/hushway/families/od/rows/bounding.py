"""The one definition of bounded origin-destination counts: Ibis expressions for any engine.

Only operations that every engine does alike: equality joins, 64-bit sums, products and remainders,
and one window. Rows come in as (person, origin, destination, us), as an engine has read them.
"""

from abc import abstractmethod
from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property

import ibis
import ibis.expr.types as ir
import numpy as np
import pyarrow as pa

from hushway.arrays import BoolArray, IntArray
from hushway.engine.counting import BoundedCounter, is_same, other_cells, whole_column
from hushway.engine.grids import TimeGrid, place_table, time_grid
from hushway.engine.key import SUM_MASK, BoundingKey, numbered, ranks_in_circle
from hushway.engine.ranks import RankSteps, summed
from hushway.engine.session import Loader
from hushway.errors import DataError
from hushway.families.od.public.cells import ODCells
from hushway.privacy.bound import Bound, Unit
from hushway.privacy.contribution import RankedCells, UnitsByRecords
from hushway.privacy.query import ExactCounts, Query
from hushway.tables.header import Clock
from hushway.tables.layout import Kind


def trip_bound(unit: Unit, max_trips: int) -> Bound:
    """Returns how far one unit can move bounded origin-destination counts.

    Privacy:
        A person or a device adds at most `max_trips` trips, and all may fall into one cell. A unit
        "trip" is one trip, whatever `max_trips` says. `bounded` enforces it.
    """
    return Bound.of_records(max_trips if unit.has_many_records else 1)


TripCells = ODCells | RankedCells | UnitsByRecords
# First rank, the rank that ends the range, and the cap.
_Ranks = tuple[int, int, int | None]


class TripCounter(BoundedCounter[TripCells]):
    """Answers queries over the cells of one OD table, each unit bounded.

    Attributes:
        max_trips: The limit of a unit where a query names none.
        ladder: All limits that queries may name.
        caps: All limits of a unit's trips in one cell that queries may name.
    """

    cells: ODCells
    max_trips: int
    ladder: tuple[int, ...]
    caps: tuple[int, ...]

    @abstractmethod
    def ranked(self) -> ExactCounts:
        """Returns trips by (part, step of their rank, cell).

        Every trip has rank 0 if it is a unit. The first part has all trips; then two follow for
        each cap: trips within it, and beyond it.
        """

    @property
    def steps(self) -> RankSteps:
        """The ranks that are told apart."""
        return rank_steps(self.unit, self.max_trips, self.ladder)

    def asked(self, query: Query) -> TripCells:
        """Returns the cells of the table, for some ranks of trips, or units by their trips."""
        asked = query.cells
        if isinstance(asked, UnitsByRecords) and asked.ladder != self.steps.ladder:
            raise other_cells("the limits")
        if isinstance(asked, RankedCells | UnitsByRecords):
            if not is_same(asked.base, self.cells):
                raise other_cells("the cells")
            if asked.cap not in (None, *self.caps):
                raise other_cells("the limits of trips in a cell")
            return asked
        if not is_same(asked, self.cells):
            raise other_cells("the cells")
        return self.cells

    def bound_of(self, cells: TripCells) -> Bound:
        """Returns how far one unit moves the counts."""
        if isinstance(cells, ODCells):
            return trip_bound(self.unit, self.max_trips)
        return cells.bound

    def counts_of(self, cells: TripCells) -> ExactCounts:
        """Returns the exact counts, of as many trips of a unit as the bound says.

        Privacy:
            `RankSteps` says why ranks bound a unit.
        """
        if isinstance(cells, UnitsByRecords):
            return self.steps.units(self._part(cells.cap), self.cells.size)
        ranks: _Ranks = (0, trip_bound(self.unit, self.max_trips).total, None)
        if isinstance(cells, RankedCells):
            ranks = cells.first, cells.last, cells.cap
        if ranks not in self._answers:
            self._answers[ranks] = self._between(*ranks)
        return self._answers[ranks]

    def _between(self, first: int, last: int, cap: int | None) -> ExactCounts:
        size, between = self.cells.size, self.steps.between
        counts = between(self._part(cap), size, first, last)
        if first == 0 or cap is None:
            return counts
        beyond = between(self._part(cap, beyond=True), size, 0, last)
        return summed(
            np.concatenate([counts.cells, beyond.cells]),
            np.concatenate([counts.values, beyond.values]),
        )

    def _part(self, cap: int | None, *, beyond: bool = False) -> ExactCounts:
        """Returns trips by (step of their rank, cell), within a cap or beyond it."""
        number = 0 if cap is None else 1 + 2 * self.caps.index(cap) + beyond
        return self.steps.part(self.ranked(), self.cells.size, number)

    @cached_property
    def _answers(self) -> dict[_Ranks, ExactCounts]:
        """Counts of cells by ranges of ranks, kept since every sum of a range asks for them."""
        return {}


def rank_steps(unit: Unit, max_trips: int, ladder: tuple[int, ...]) -> RankSteps:
    """Returns the ranks that a counter tells apart."""
    if not unit.has_many_records:
        return RankSteps((1,))
    return RankSteps(tuple(sorted({*ladder, trip_bound(unit, max_trips).total})))


@dataclass(frozen=True, kw_only=True)
class Lookups:
    """Public tables in the engine.

    Attributes:
        origins: (id, place) with ids of the type that the trips' origins have.
        destinations: (id, place) likewise.
        buckets: (bucket, period), see `TimeGrid`.
        grid: The lengths that belong to the buckets.
    """

    origins: ir.Table
    destinations: ir.Table
    buckets: ir.Table
    grid: TimeGrid


def ranked_counts(
    located: ir.Table,
    *,
    unit: Unit,
    steps: RankSteps,
    cells: int,
    key: BoundingKey,
    caps: tuple[int, ...] = (),
) -> ir.Table:
    """Returns (cell, trips) of cells that are not empty, in no order.

    Cells are numbered by (part, step of the trip's rank within its unit, cell), as
    `TripCounter.ranked` says; there is one step if each trip is a unit.

    Privacy:
        Of the rows of one trip one is counted, whoever is protected, and it is chosen by looking at
        these rows alone.
    """
    trip, owned = trip_columns(located.columns), unit.has_many_records
    if not trip and not owned:
        return counted(located)
    # A null would be a unit of its own in some engines and no unit at all in others.
    trips = keyed(located.drop_null([*(trip or ("person",))]), key)
    if trip:
        trips = one_of_each(trips, trip)
    if not owned:
        return counted(trips)
    length = len(steps.ends) * cells
    parts = [ranked(trips, steps, cells, key)]
    for number, cap in enumerate(caps):
        part = ranked(trips, steps, cells, key, cap)
        parts.append(part.select(cell=part.cell + length * (1 + 2 * number)))
    return counted(ibis.union(*parts) if caps else parts[0])


def trip_columns(columns: Collection[str]) -> tuple[str, ...]:
    """Returns the columns that tell trips apart; none if every row is a trip of its own.

    Privacy:
        Trip ids may be numbered within each person: two people with the same id made two trips.
    """
    if "trip_id" not in columns:
        return ()
    return ("person", "trip_id") if "person" in columns else ("trip_id",)


def placed(trips: ir.Table, lookups: Lookups, cells: ODCells) -> ir.Table:
    """Adds indexes (since_us, o, d, cell) to trips that have a cell; drops all others.

    Privacy:
        A row is kept or dropped by looking at that row and at public tables alone.
    """
    grid = lookups.grid
    inside = trips.filter(trips.us >= grid.start_us, trips.us < grid.end_us)
    if not cells.include_intrazonal:
        # By id, before the joins: comparing indexes after them made DuckDB cross the two lists of
        # places first, which cost as much as all joins together.
        inside = inside.filter(differ(inside.origin, inside.destination))
    since = inside.mutate(since_us=inside.us - grid.start_us)
    timed = since.mutate(bucket=since.us - since.since_us % grid.bucket_us)
    joined = (
        timed.inner_join(lookups.buckets, "bucket")
        .inner_join(lookups.origins.rename(origin="id", o="place"), "origin")
        .inner_join(lookups.destinations.rename(destination="id", d="place"), "destination")
    )
    owners = [name for name in ("person", "trip_id") if name in trips.columns]
    return joined.select(*owners, "since_us", "o", "d", cell=_cell(joined, cells))


def keyed(trips: ir.Table, key: BoundingKey) -> ir.Table:
    """Adds the trip's place in its unit's order."""
    mixed = trips.mutate(mixed=key.mixed(trips.since_us, trips.o, trips.d))
    return mixed.mutate(place=key.place(mixed.mixed))


def one_of_each(rows: ir.Table, trip: tuple[str, ...]) -> ir.Table:
    """Keeps one row of each trip.

    Privacy:
        A trip belongs to one unit: a choice among rows of two units would let one of them push out
        the other's row.
    """
    alike = ibis.window(group_by=[*trip], order_by=[rows.place, rows.cell])
    ranked = rows.mutate(repeat=ibis.row_number().over(alike))
    return ranked.filter(ranked.repeat == 0)


def ranked(
    trips: ir.Table, steps: RankSteps, cells: int, key: BoundingKey, cap: int | None = None
) -> ir.Table:
    """Numbers the cell of each trip by the step of its rank; drops ranks beyond the last step.

    The person's trips stand in a circle in the key's order; ranks go round it from a start that the
    key and the person's own trips decide, so that those below a limit are a uniform choice. Rows
    that tie lie in the same cell, so what is counted depends on the rows as a multiset and on the
    key, not on files, threads or row order. With a cap, trips beyond it stand in a circle of their
    own, whose ranks follow, and their cells are numbered after all others.

    Privacy:
        A person's n rows have each rank from 0 to n - 1 once, whatever the rows are: turned by any
        number that is not negative, the ranks are still all remainders of n, each once. The order
        reads the person's own rows and the key, so neighbouring data stay neighbours.
    """
    if cap is not None:
        trips = _split(trips, cap)
    split = ["beyond"] if cap is not None else []
    circle = ibis.window(group_by=["person", *split], order_by=[trips.place, trips.cell])
    ordered = trips.select(
        "cell",
        *(["whole", *split] if split else ()),
        rank=ibis.row_number().over(circle),
        size=trips.count().over(circle),
        total=_low_bits(trips.place.cast("int32").sum().over(circle)),
    )
    turn = (ordered["rank"] + key.turn(ordered.total)) % ordered["size"]
    cell = ordered.cell
    if split:
        turn += ordered.beyond * (ordered.whole - ordered["size"])
        cell += ordered.beyond * (len(steps.ends) * cells)
    turned = ordered.select(cell=cell, turned=turn)
    inside = turned.filter(turned.turned < steps.ends[-1])
    return inside.select(cell=steps.of_column(inside.turned) * cells + inside.cell)


def _split(trips: ir.Table, cap: int) -> ir.Table:
    """Says which trips are beyond a cap, and how many the person has in all.

    Privacy:
        Of one person's trips in a cell at most `cap` are within it.
    """
    alike = ibis.window(group_by=["person", "cell"], order_by=trips.place)
    return trips.mutate(
        beyond=(ibis.row_number().over(alike) >= cap).ifelse(1, 0).cast("int64"),
        whole=trips.count().over(ibis.window(group_by="person")),
    )


def counted(trips: ir.Table) -> ir.Table:
    """Returns (cell, trips) of the cells that are not empty, in no order."""
    return trips.group_by("cell").aggregate(trips=lambda table: table.count())


def differ(one: ir.Value, other: ir.Value) -> ir.BooleanValue:
    """Whether two ids differ, as text."""
    if one.type() == other.type():
        return one != other
    return one.cast("string") != other.cast("string")


def _low_bits(total: ir.IntegerValue) -> ir.IntegerValue:
    """Returns the low 30 bits of a sum as a 64-bit integer.

    DuckDB sums integers in 128 bits; remainders of those took longer than all the rest of the
    counting. The way over 32 bits is what makes Ibis write the cast out.
    """
    return (total & SUM_MASK).cast("int32").cast("int64")


def _cell(trips: ir.Table, cells: ODCells) -> ir.IntegerValue:
    """Numbers cells as `ODCells.encode` does."""
    places = len(cells.locations)
    row = trips.period * places + trips.o
    if cells.include_intrazonal:
        return row * places + trips.d
    return row * (places - 1) + trips.d - (trips.d > trips.o).ifelse(1, 0)


def load_lookups(
    engine: Loader, id_kinds: tuple[Kind, Kind] | None, cells: ODCells, clock: Clock
) -> Lookups:
    """Puts the public tables into an engine.

    `id_kinds` says what ids of origins and destinations are; None stands for indexes of places.
    """
    grid = time_grid(cells.periods, clock)
    numbers = np.arange(len(cells.locations), dtype=np.int64)
    indexes = pa.table({"id": numbers, "place": numbers})

    def places(role: str, side: int) -> ibis.Table:
        table = indexes
        if id_kinds is not None:
            table = place_table(cells.locations, integers=id_kinds[side] == "integer")
        return engine.load(f"public_{role}", table)

    return Lookups(
        origins=places("origin", 0),
        destinations=places("destination", 1),
        buckets=engine.load("public_buckets", grid.table),
        grid=grid,
    )


class ArrayCounter(TripCounter):
    """Counts trips given as arrays, each unit bounded.

    The same rule and the same arithmetic as in every other engine: the same trips and the same key
    give the same counts.

    Privacy:
        At most `max_trips` trips of each person are counted; the choice reads that person's trips
        and the key alone.

    Args:
        max_trips: Most trips of one person; without meaning for unit "trip".
        ladder: Other limits that queries may name.
        caps: Limits of trips in one cell that queries may name.
        person: Code of each trip's person; only equality matters. Not needed for unit "trip".
        since_us: Microseconds from the window's start to each trip. Without it, a person's
            trips are told apart by numbering them.
    """

    def __init__(  # noqa: PLR0913  one argument for each column
        self,
        *,
        cells: ODCells,
        unit: Unit,
        max_trips: int,
        key: BoundingKey,
        period: IntArray,
        origin: IntArray,
        destination: IntArray,
        person: IntArray | None = None,
        since_us: IntArray | None = None,
        ladder: tuple[int, ...] = (),
        caps: tuple[int, ...] = (),
    ) -> None:
        if unit.has_many_records and person is None:
            raise DataError(
                "There is no array of persons, so persons cannot be protected.",
                advice='Give the array of persons, or choose unit = "trip".',
            )
        self.cells, self.unit, self.max_trips, self._key = cells, unit, max_trips, key
        self.ladder, self.caps = ladder, caps
        period, origin, destination = (
            whole_column(column, len(period), "trips") for column in (period, origin, destination)
        )
        kept = _placed(cells, period, origin, destination)
        self._origin, self._destination = origin[kept], destination[kept]
        self._cell = cells.encode(period[kept], self._origin, self._destination)
        if unit.has_many_records and person is not None:
            whose = whole_column(person, len(kept), "trips")[kept]
            self._person: IntArray = np.unique(whose, return_inverse=True)[1].astype(np.int64)
            self._since_us = (
                numbered((self._person,), (self._cell,))
                if since_us is None
                else whole_column(since_us, len(kept), "trips")[kept]
            )

    def ranked(self) -> ExactCounts:
        """Returns trips by (part, step of their rank, cell)."""
        return self._counts

    @cached_property
    def _counts(self) -> ExactCounts:
        cells, values = np.unique(self._stepped(), return_counts=True)
        return ExactCounts(cells=cells, values=values.astype(np.int64))

    def _stepped(self) -> IntArray:
        """Returns the cells of trips by the step of their rank, in every part."""
        if not self.unit.has_many_records or len(self._cell) == 0:
            return self._cell
        key, length = self._key, len(self.steps.ends) * self.cells.size
        place = key.place(key.mixed(self._since_us, self._origin, self._destination))
        parts = [self._ranked(place, np.zeros_like(place))]
        for number, cap in enumerate(self.caps):
            beyond = numbered((self._person, self._cell), (place,)) >= cap
            part = self._ranked(place, beyond.astype(np.int64))
            parts.append(part + length * (1 + 2 * number))
        return np.concatenate(parts)

    def _ranked(self, place: IntArray, beyond: IntArray) -> IntArray:
        """Returns cells as `ranked` numbers them, given which trips are beyond a cap."""
        steps, both = self.steps, 2 * self._person + beyond
        who = np.unique(both, return_inverse=True)[1].astype(np.int64)
        order, rank = ranks_in_circle(who, place, (self._cell,), self._key)
        within = np.bincount(self._person, weights=1 - beyond).astype(np.int64)
        rank = rank + beyond[order] * within[self._person[order]]
        inside = rank < steps.ends[-1]
        cell: IntArray = (self._cell + beyond * (len(steps.ends) * self.cells.size))[order[inside]]
        return steps.of_array(rank[inside]) * self.cells.size + cell


def _placed(cells: ODCells, period: IntArray, origin: IntArray, destination: IntArray) -> BoolArray:
    """Says which trips have a cell; the others are dropped, as rows of files are."""
    places = len(cells.locations)
    kept = (period >= 0) & (period < len(cells.periods))
    for place in (origin, destination):
        kept &= (place >= 0) & (place < places)
    return kept if cells.include_intrazonal else kept & (origin != destination)
