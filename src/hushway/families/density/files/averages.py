"""The average day of each type: published counts of its days, added up and divided by their number.

Every period of every day is published and has an error. How errors of different days go together
is not published; whatever it is, the error of a mean is no larger than the mean of the errors.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pyarrow as pa

from hushway.arrays import FloatArray
from hushway.families.density.files.rows import area_arrays, area_columns, area_labels
from hushway.families.density.files.universe import AVERAGE_PERIODS
from hushway.families.density.fit.table import DensityTable
from hushway.families.density.public.visits import DensityUniverse
from hushway.geography.areas import Areas
from hushway.release.formats.columns import LABEL, NUMBER, WHOLE, Column, Columns
from hushway.release.formats.csv import labelled, table_csv
from hushway.release.formats.per_day import per_day
from hushway.release.formats.places import DAYS_COUNTED, number_array, text_array

_BY_PERIOD = (
    Column("period", LABEL, f"Label of the period, as in {AVERAGE_PERIODS}."),
    Column(DAYS_COUNTED, WHOLE, "Days of the window that are of the type."),
    Column(
        "count_per_day",
        NUMBER,
        "Visits on an average day of the type: the mean of the published counts of its days, "
        "to three decimals.",
    ),
    Column(
        "standard_error_per_day",
        NUMBER,
        "At most what that is expected to be off by: the mean of the standard errors of its "
        "days, to three decimals.",
    ),
)
# What published counts and errors are whole numbers of.
_HUNDREDTHS = 100


def averages_columns(areas: Areas) -> Columns:
    """Returns the columns of average days."""
    return Columns((*area_columns(areas), *_BY_PERIOD), key=("area", "period"))


def average_days(universe: DensityUniverse, numbers: FloatArray) -> FloatArray:
    """Returns the means of numbers of (area, period) over the days of each type."""
    averages = universe.averages
    assert averages is not None  # noqa: S101  only such releases have them
    # In whole numbers, so that every machine finds the same last digit.
    whole = np.rint(numbers * _HUNDREDTHS).astype(np.int64)
    by_day = whole.reshape(len(universe.areas), -1, averages.parts)
    means = []
    for days in averages.kinds_of_days.values():
        chosen = [(day - averages.first_day).days for day in days]
        means.append(per_day(by_day[:, chosen].sum(axis=1), _HUNDREDTHS * len(days)))
    return np.concatenate(means, axis=1)


def averaged(table: DensityTable) -> DensityTable:
    """Returns the table as readers are shown it: of average days, if it has such."""
    universe = table.universe
    if universe.averages is None:
        return table
    return replace(
        table,
        universe=replace(universe, periods=universe.averages, average_types=(), holidays=()),
        counts=average_days(universe, table.counts),
        standard_error=average_days(universe, table.standard_error),
    )


def averages_csv(table: DensityTable) -> Iterator[bytes]:
    """Yields the average days of every area as CSV."""
    shown = averaged(table)
    areas, periods = shown.universe.areas, shown.universe.periods
    columns = averages_columns(areas)
    days = np.array(periods.days_counted, dtype=np.int64)

    def batch(area: int) -> pa.RecordBatch:
        at = np.arange(len(periods))
        arrays = [
            *area_arrays(areas, np.full(len(at), area)),
            labelled(at, text_array(periods.labels)),
            *map(number_array, (days, shown.counts[area], shown.standard_error[area])),
        ]
        return pa.RecordBatch.from_arrays(arrays, schema=columns.schema)

    labels = (*area_labels(areas), *periods.labels)
    return table_csv(columns.names, map(batch, range(len(areas))), labels=labels)
