"""Made-up rows in files, for audits of the whole way from files to a release.

Rows are dealt out to several files as one deals cards, so that everybody is in all of them, and the
engines hand them over in batches that nobody fits into.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import date, datetime, time, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from hushway.arrays import IntArray
from hushway.engine.session import EngineSettings
from hushway.privacy.events import Budget, Event
from hushway.privacy.ledger.entries import AccountKey
from hushway.privacy.ledger.reservation import Reservation
from hushway.privacy.loss import Loss
from hushway.privacy.unit import Unit

FILES = 5
_ROW_GROUP = 1000
_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001  times of these files are those of a wall clock
_MICROSECOND = timedelta(microseconds=1)


def small_batches(rows: int) -> EngineSettings:
    """Returns settings of an engine that hands over so many rows at a time."""
    return EngineSettings(memory_limit="1GB", threads=2, batch_rows=rows)


@contextmanager
def files_of(columns: Mapping[str, Any]) -> Iterator[Path]:
    """Writes rows to files, and removes them in the end.

    Args:
        columns: The columns; `time` in microseconds of the wall clock.
    """
    table = pa.table(
        {
            name: pa.array(column, pa.timestamp("us")) if name == "time" else column
            for name, column in columns.items()
        }
    )
    with TemporaryDirectory(prefix="hushway-audit-") as name:
        for number in range(FILES):
            dealt = table.take(np.arange(number, len(table), FILES))
            pq.write_table(dealt, Path(name, f"{number}.parquet"), row_group_size=_ROW_GROUP)
        yield Path(name)


def microseconds(day: date, since_us: IntArray) -> IntArray:
    """Returns times of the wall clock, given in microseconds since a day began."""
    return (datetime.combine(day, time()) - _EPOCH) // _MICROSECOND + since_us


def filled_budget(unit: Unit, spend: Loss) -> Budget:
    """Returns the real budget of a release, as the ledger would have filled it.

    Privacy:
        A charge beyond `spend` is refused, as in a real release.
    """
    return Reservation(
        release="audit",
        key=AccountKey(dataset="town", unit=unit, period="audit"),
        measure=spend.measure,
        amount=spend.amount,
        entry_hash="",
    )


class BlindBudget:
    """A budget that agrees to everything: the real one would stop a missing split by itself."""

    def charge(self, event: Event) -> None:
        """Takes nothing."""


def blind(_unit: Unit, _spend: Loss) -> Budget:
    """Returns a budget that agrees to everything, whatever it was filled with."""
    return BlindBudget()
