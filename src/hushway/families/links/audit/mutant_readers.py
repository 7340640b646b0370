"""A wrong reader: people whose positions lie in several batches count once in each."""

from collections.abc import Iterator
from dataclasses import replace

import ibis.expr.types as ir
import numpy as np
from ibis.backends.duckdb import Backend

from hushway.families.links.rows.movements import TraceMovements
from hushway.families.links.rows.rows import PeoplePositions


class TracesBatchByBatch(TraceMovements):
    """A counter of movements that bounds people in each batch of positions by itself."""

    def _people(self, backend: Backend, rows: ir.Table) -> Iterator[PeoplePositions]:
        done = 0
        for people in super()._people(backend, rows):
            # Where the engine has begun a new batch, in positions of these people.
            first = -done % self._settings.batch_rows
            cuts = np.arange(first, len(people.lon), self._settings.batch_rows)
            start = np.union1d(people.start, cuts)
            person = np.searchsorted(people.start, start[:-1], side="right") - 1
            yield replace(people, start=start, salt=people.salt[person])
            done += len(people.lon)
