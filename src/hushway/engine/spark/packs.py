"""Packs: many rows, or many sums, as one value that Spark moves and does not look into.

Spark would take every row out of the batch in which it comes from a worker, and put it into another
one for the next: most of the time of a count went into that. A pack is a stream of Arrow, with the
number of the part of the work that it belongs to.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final

import duckdb
import ibis
import numpy as np
import pyarrow as pa

from hushway.arrays import IntArray
from hushway.engine.embedded import EmbeddedSession
from hushway.engine.session import Sums
from hushway.privacy.query import ExactCounts

PACKS: Final = "part int, pack binary"
_PACKS_SCHEMA = pa.schema([("part", pa.int32()), ("pack", pa.binary())])
_NAME: Final = b"name"
# Sums in a pack: 16 bytes each.
_MOST_SUMS: Final = 1 << 22
_WORD: Final = 0xFFFFFFFF


def packed(tables: Iterable[tuple[int, pa.Table]]) -> pa.RecordBatch:
    """Returns tables as packs, each with the number of its part."""
    # One after another into one place, so that nothing is copied once more.
    sink, edges, numbers = pa.BufferOutputStream(), [0], []
    for number, table in tables:
        with pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
        edges.append(sink.tell())
        numbers.append(number)
    offsets = pa.py_buffer(np.array(edges, dtype=np.int32))
    packs = pa.Array.from_buffers(pa.binary(), len(numbers), [None, offsets, sink.getvalue()])
    return pa.record_batch([pa.array(numbers, pa.int32()), packs], schema=_PACKS_SCHEMA)


def unpacked(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Returns what is in packs."""
    for batch in batches:
        for pack in batch.column("pack"):
            yield from pa.ipc.open_stream(pack.as_buffer())


def packed_sums(name: str, counts: ExactCounts, numbers: tuple[int, ...]) -> pa.RecordBatch:
    """Returns sums as packs: all that is counted of a cell has one number."""
    return _in_parts(
        _table(name, counts.cells, counts.values), counts.cells % len(numbers), numbers
    )


def _in_parts(table: pa.Table, part: IntArray, numbers: tuple[int, ...]) -> pa.RecordBatch:
    """Returns rows as packs, given the part that each belongs to, an index into the numbers."""
    if len(numbers) > 1:
        table = table.take(np.argsort(part, kind="stable"))
    ends = np.cumsum(np.bincount(part, minlength=len(numbers))).tolist()
    return packed(
        (number, table.slice(start, end - start))
        for number, start, end in zip(numbers, [0, *ends], ends, strict=False)
        if end > start
    )


def added_up(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Adds the sums of packs up, cell by cell: packs again."""
    for name, counts in sums_of(batches).items():
        for start in range(0, len(counts.cells), _MOST_SUMS):
            some = slice(start, start + _MOST_SUMS)
            yield packed([(0, _table(name, counts.cells[some], counts.values[some]))])


def sums_of(batches: Iterable[pa.RecordBatch]) -> Sums:
    """Returns the sums of packs, by name, with cells in order."""
    found: dict[str, list[pa.RecordBatch]] = {}
    for batch in unpacked(batches):
        found.setdefault(batch.schema.metadata[_NAME].decode(), []).append(batch)
    return _Found((name, _added(some)) for name, some in found.items())


class _Found(dict[str, ExactCounts]):
    """Sums that parts added up to; what no part has named is nothing."""

    def __missing__(self, _name: str) -> ExactCounts:
        return ExactCounts(cells=np.empty(0, np.int64), values=np.empty(0, np.int64))


def _added(batches: list[pa.RecordBatch]) -> ExactCounts:
    cells = np.concatenate([batch.column("cell").to_numpy() for batch in batches])
    values = np.concatenate([batch.column("value").to_numpy() for batch in batches])
    # What comes in is in order, piece by piece, which this sort makes use of.
    order = np.argsort(cells, kind="stable")
    cells, values = cells[order], values[order]
    first = np.flatnonzero(np.diff(cells, prepend=cells[0] - 1))
    return ExactCounts(cells=cells[first], values=np.add.reduceat(values, first))


def _table(name: str, cells: IntArray, values: IntArray) -> pa.Table:
    return pa.table({"cell": cells, "value": values}).replace_schema_metadata({_NAME: name})


def numbers_of_parts(parts: int) -> tuple[int, ...]:
    """Returns numbers for parts, such that Spark gives each of them a task of its own.

    Spark divides by a hash of its own, in which the numbers 0, 1, 2, ... would meet. If it hashed
    otherwise some day, some parts would share a task, and nothing else would change.
    """
    found: dict[int, int] = {}
    number = 0
    while len(found) < parts:
        found.setdefault(_murmur3(number) % parts, number)
        number += 1
    return tuple(found[task] for task in range(parts))


def _murmur3(number: int) -> int:
    """Returns the hash of a 32-bit integer with the seed 42, with its sign: MurmurHash3_x86_32."""
    key = _turned(number * 0xCC9E2D51 & _WORD, 15) * 0x1B873593 & _WORD
    value = (_turned(42 ^ key, 13) * 5 + 0xE6546B64 & _WORD) ^ 4
    value = (value ^ value >> 16) * 0x85EBCA6B & _WORD
    value = (value ^ value >> 13) * 0xC2B2AE35 & _WORD
    value ^= value >> 16
    return value - (value >> 31 << 32)


def _turned(word: int, bits: int) -> int:
    return (word << bits | word >> 32 - bits) & _WORD


# Rows that are divided at a time: large enough for packs worth their name, few in memory.
_ROWS_AT_ONCE: Final = 1 << 19


@dataclass(frozen=True, kw_only=True)
class Division:
    """Which part of all people a row belongs to.

    Privacy:
        The part is a function of the owner's id alone, so everybody is whole in one part. It is
        DuckDB's own hash, so all workers must hash alike: see `hashing`.

    Attributes:
        together: The column that says whose a row is; None if each is its own.
        numbers: What the parts are called.
    """

    together: str | None
    numbers: tuple[int, ...]

    def packs(self, session: EmbeddedSession, rows: ibis.Table) -> Iterator[pa.RecordBatch]:
        """Reads rows and hands them out in packs, each of one part."""
        waiting: list[pa.RecordBatch] = []
        for batch in session.stream(self._with_part(session, rows)):
            waiting.append(batch)
            if sum(map(len, waiting)) >= _ROWS_AT_ONCE:
                yield self._packed(waiting)
                waiting = []
        if waiting:
            yield self._packed(waiting)

    def _with_part(self, session: EmbeddedSession, rows: ibis.Table) -> ibis.Table:
        parts = len(self.numbers)
        whose = "0" if self.together is None else f'hash("{self.together}") % {parts}'
        query = session.backend.compile(rows)
        return session.sql(f"SELECT *, CAST({whose} AS INTEGER) AS part FROM ({query})")  # noqa: S608  names of our own

    def _packed(self, batches: list[pa.RecordBatch]) -> pa.RecordBatch:
        table = pa.Table.from_batches(batches).combine_chunks()
        return _in_parts(table.drop_columns("part"), table["part"].to_numpy(), self.numbers)


@cache
def hashing() -> str:
    """Returns what tells whether two machines hash alike: the version that does, and examples."""
    query = """
        SELECT sum(hash(repeat('7a', CAST(range AS INTEGER)))), sum(hash(range * 123456789))
        FROM range(40)
    """
    with duckdb.connect() as connection:  # noqa: TID251  it sees no rows
        found = connection.execute(query).fetchone()
    return f"{duckdb.__version__}: {found}"
