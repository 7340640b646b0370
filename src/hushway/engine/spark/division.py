"""Rows divided by people, by the worker that has read them."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final

import duckdb
import ibis
import numpy as np
import pyarrow as pa

from hushway.engine.embedded import EmbeddedSession
from hushway.engine.spark.packs import packed

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
        """Reads rows and hands them out in packs, each of one part.

        Raises:
            DataError: The rows cannot be read, or memory or disk ran out.
        """
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
        part = table["part"].to_numpy()
        rows = table.drop_columns("part")
        if len(self.numbers) > 1:
            rows = rows.take(np.argsort(part, kind="stable"))
        ends = np.cumsum(np.bincount(part, minlength=len(self.numbers))).tolist()
        return packed(
            (number, rows.slice(start, end - start))
            for number, start, end in zip(self.numbers, [0, *ends], ends, strict=False)
            if end > start
        )


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
