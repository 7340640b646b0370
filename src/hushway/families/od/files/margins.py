"""Published sums as Parquet and CSV: one row an element, features in order."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hushway.arrays import IntArray
from hushway.errors import ReleaseError, damaged
from hushway.families.od.files.adds_up import PublishedSums
from hushway.families.od.files.names import FEATURES
from hushway.families.od.public.cells import ODCells
from hushway.families.od.public.features import DESTINATIONS, ORIGINS, Feature
from hushway.release.formats.columns import (
    BATCH_ROWS,
    LABEL,
    NUMBER,
    WHOLE,
    Column,
    Columns,
    write_parquet,
)
from hushway.release.formats.csv import labelled, positions_among, table_csv, whole_column
from hushway.release.formats.interval import HIGH, INTERVAL, LOW
from hushway.release.formats.names import Names, names_of, place_names
from hushway.release.formats.per_day import per_day, per_day_arrays, per_day_columns
from hushway.release.formats.places import number_array, numbers_of, text_array
from hushway.release.untrusted.parquet import open_parquet

# As in the table of trips, an error is of the count; that of a measurement has its own name.
ERROR, MEASURED_ERROR = "standard_error", "measured_error"

_LABELS = ("published_total", "period", "pair")
_SUMS = Columns(
    (
        Column("published_total", LABEL, f"Title of the published total, as in {FEATURES}."),
        Column(
            "period",
            LABEL,
            "Class of the periods that are summed over; empty if it is all of them.",
        ),
        Column(
            "pair", LABEL, "Class of the pairs that are summed over; empty if it is all of them."
        ),
        Column("count", WHOLE, "Published number of trips: the sum of the published rows."),
        Column(
            "measured",
            WHOLE,
            "Noisy number of trips, as measured before the fit; may be negative.",
        ),
        Column(
            MEASURED_ERROR,
            NUMBER,
            "Standard deviation of the noise in the measurement, in trips.",
        ),
        Column("residual", WHOLE, "The count minus the measurement."),
    ),
    key=_LABELS,
)
_MEASURED = _SUMS.and_also(
    Column(LOW, NUMBER, "Lower end of an interval of 95% around the measurement, not below 0."),
    Column(HIGH, NUMBER, "Upper end of it, not below 0."),
)
# Where errors were learnt, the error of every published sum has a column of its own.
_LEARNT = _SUMS.and_also(
    Column(ERROR, NUMBER, "Standard deviation of the error in the count, in trips."), *INTERVAL
)


_PAIR_NAME = Column("pair_name", LABEL, "Name of the place, where the class is one; else empty.")


def margins_columns(universe: ODCells, *, learnt: bool) -> Columns:
    """Returns the columns of sums, with learnt errors or without."""
    columns, error = (_LEARNT, ERROR) if learnt else (_MEASURED, MEASURED_ERROR)
    averages = per_day_columns(universe.periods, "count", error, LOW, HIGH)
    title, period, pair, *numbers = columns.columns
    named = () if place_names(universe.locations) is None else (_PAIR_NAME,)
    return Columns((title, period, pair, *named, *numbers, *averages), key=_LABELS)


def write_margins(margins: Sequence[PublishedSums], path: Path) -> None:
    """Writes sums as one Parquet file."""
    write_parquet(path, _columns(margins).schema, margin_batches(margins))


def margins_csv(margins: Sequence[PublishedSums]) -> Iterator[bytes]:
    """Yields the same sums as CSV."""
    labels = _texts([margin.feature for margin in margins])
    return table_csv(_columns(margins).names, margin_batches(margins), labels=labels)


def read_margins(
    path: Path, features: Sequence[Feature], *, learnt: bool
) -> tuple[PublishedSums, ...]:
    """Reads sums from a Parquet file, with learnt errors or without."""
    sums = sum(feature.size for feature in features)
    schema = margins_columns(features[0].universe, learnt=learnt).schema
    with open_parquet(path, schema, rows=sums) as file:
        if file.metadata.num_rows != sums:
            raise _rewritten(path)
        return _margins(path, file.iter_batches(batch_size=BATCH_ROWS), features)


def _columns(margins: Sequence[PublishedSums]) -> Columns:
    return margins_columns(margins[0].feature.universe, learnt=margins[0].errors is not None)


def margin_batches(margins: Sequence[PublishedSums]) -> Iterator[pa.RecordBatch]:
    """Yields the rows of sums, some at a time."""
    for margin in margins:
        feature = margin.feature
        title, periods, pairs = _label_arrays(feature)
        averages, names = _averages(margin), _pair_names(feature)
        for start in range(0, feature.size, BATCH_ROWS):
            part = slice(start, min(start + BATCH_ROWS, feature.size))
            period, pair = np.divmod(np.arange(part.start, part.stop), feature.pair_classes)
            counts, measured = margin.counts[part], margin.measured[part]
            yield pa.RecordBatch.from_arrays(
                [
                    labelled(np.zeros_like(period), title),
                    labelled(period, periods),
                    labelled(pair, pairs),
                    *([] if names is None else [names.of(pair)]),
                    number_array(counts),
                    number_array(measured),
                    number_array(np.full(len(counts), margin.standard_error)),
                    number_array(counts - measured),
                    *([] if margin.errors is None else [number_array(margin.errors[part])]),
                    *(number_array(end[part]) for end in margin.interval),
                    *(average.slice(start, len(counts)) for average in averages),
                ],
                schema=_columns(margins).schema,
            )


def _averages(sums: PublishedSums) -> list[pa.Array]:
    """Returns the numbers of an average day, if the release has them."""
    if not sums.feature.universe.periods.average:
        return []
    errors = np.full(len(sums.counts), sums.standard_error) if sums.errors is None else sums.errors
    return per_day_arrays(_days_of(sums.feature), sums.counts, errors, *sums.interval)


def shown_sums(feature: Feature, sums: NDArray[np.number]) -> NDArray[np.number]:
    """Returns what readers are shown of sums: numbers of an average day, or else themselves."""
    return per_day(sums, _days_of(feature)) if feature.universe.periods.average else sums


def _days_of(feature: Feature) -> IntArray:
    """Returns how many days each element is counted on: a day of several periods is one day."""
    periods = feature.universe.periods
    days = np.array(periods.days_counted[:: periods.parts], dtype=np.int64)
    codes = 0 if feature.periods is None else feature.periods.codes
    has = np.zeros((feature.period_classes, len(days)), dtype=np.int64)
    has[codes, np.arange(len(periods)) // periods.parts] = 1
    return np.repeat(has @ days, feature.pair_classes)


def _margins(
    path: Path, batches: Iterable[pa.RecordBatch], features: Sequence[Feature]
) -> tuple[PublishedSums, ...]:
    """Gathers rows whose labels are those of the features' elements, in order."""
    parts: list[list[pa.RecordBatch]] = [[] for _ in features]
    owner, first = 0, 0
    for batch in batches:
        taken = 0
        while taken < len(batch):
            if owner == len(features):
                raise _rewritten(path)
            length = min(len(batch) - taken, features[owner].size - first)
            parts[owner].append(batch.slice(taken, length))
            taken, first = taken + length, first + length
            if first == features[owner].size:
                owner, first = owner + 1, 0
    if owner != len(features):
        raise _rewritten(path)
    return tuple(
        _margin(path, feature, each) for feature, each in zip(features, parts, strict=True)
    )


def _margin(path: Path, feature: Feature, parts: Sequence[pa.RecordBatch]) -> PublishedSums:
    _check_labels(path, feature, parts)
    names = [name for name in parts[0].schema.names if name not in (*_LABELS, _PAIR_NAME.name)]
    columns = {
        name: np.concatenate([whole_column(part.column(name)) for part in parts]) for name in names
    }
    error = float(columns[MEASURED_ERROR][0])
    if not np.all(columns[MEASURED_ERROR] == error) or not 0 <= error < np.inf:
        raise _rewritten(path)
    own = columns.get(ERROR)
    if own is not None and not np.all(np.isfinite(own) & (own >= 0)):
        raise _rewritten(path)
    sums = PublishedSums(
        feature=feature,
        counts=columns["count"],
        measured=columns["measured"],
        standard_error=error,
        errors=own,
    )
    if not np.array_equal(sums.residuals, columns["residual"]):
        raise damaged(
            f"{path.name}: a residual of {feature.title!r} is not the count minus the measurement."
        )
    if not all(map(np.array_equal, (columns[LOW], columns[HIGH]), sums.interval)):
        raise damaged(f"{path.name}: an interval of {feature.title!r} is not that of its error.")
    averages = map(numbers_of, _averages(sums))
    further = [columns[name] for name in names[names.index(HIGH) + 1 :]]
    if not all(map(np.array_equal, further, averages)):
        raise damaged(f"{path.name}: an average of {feature.title!r} is not its sum by its days.")
    return sums


def _check_labels(path: Path, feature: Feature, parts: Sequence[pa.RecordBatch]) -> None:
    title, periods, pairs = _label_arrays(feature)
    names, first = _pair_names(feature), 0
    for part in parts:
        positions_among(part.column("published_total"), title)
        element = positions_among(part.column("period"), periods) * feature.pair_classes
        pair = positions_among(part.column("pair"), pairs)
        element += pair
        if names is not None:
            names.check(part.column(_PAIR_NAME.name), pair)
        if not np.array_equal(element, np.arange(first, first + len(part))):
            raise _rewritten(path)
        first += len(part)


def _pair_names(feature: Feature) -> Names | None:
    """Returns the names of the places that classes of pairs are; None if places have none."""
    locations = feature.universe.locations
    if place_names(locations) is None:
        return None
    are_places = feature.title in (ORIGINS, DESTINATIONS)
    name = {place.id: place.name for place in locations.places} if are_places else {}
    classes = ("",) if feature.pairs is None else feature.pairs.names
    return names_of(name.get(label, "") for label in classes)


def _label_arrays(feature: Feature) -> tuple[pa.Array, pa.Array, pa.Array]:
    return (
        text_array((feature.title,)),
        text_array(("",) if feature.periods is None else feature.periods.names),
        text_array(("",) if feature.pairs is None else feature.pairs.names),
    )


def _texts(features: Sequence[Feature]) -> Iterator[str]:
    """Yields every text of a row but the empty one, which needs no quotes between two commas."""
    for feature in features:
        yield feature.title
        for labels in (feature.periods, feature.pairs):
            yield from (name for name in (labels.names if labels else ()) if name)
        names = _pair_names(feature)
        yield from (name for name in (names.texts if names else ()) if name)


def _rewritten(path: Path) -> ReleaseError:
    return damaged(
        f"{path.name} does not hold one row for every element of the published totals, in order."
    )
