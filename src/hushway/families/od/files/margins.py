"""Published sums as Parquet and CSV: one row an element, features in order."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from hushway.errors import ReleaseError, damaged
from hushway.families.od.files.adds_up import PublishedSums
from hushway.families.od.files.intervals import HIGH, LOW
from hushway.families.od.public.features import Feature
from hushway.release.formats.csv import (
    BATCH_ROWS,
    LABEL,
    labelled,
    positions_among,
    read_batches,
    stream_csv,
    whole_column,
)
from hushway.release.formats.places import number_array, text_array
from hushway.release.untrusted.parquet import open_parquet

_MEASURED = pa.schema(
    [
        pa.field("published_total", LABEL, nullable=False),
        pa.field("period", LABEL, nullable=False),
        pa.field("pair", LABEL, nullable=False),
        pa.field("count", pa.int64(), nullable=False),
        pa.field("measured", pa.int64(), nullable=False),
        pa.field("standard_error", pa.float64(), nullable=False),
        pa.field("residual", pa.int64(), nullable=False),
    ]
)
ERROR = "count_error"


def _with_numbers(schema: pa.Schema, *names: str) -> pa.Schema:
    return pa.schema([*schema, *(pa.field(name, pa.float64(), nullable=False) for name in names)])


SCHEMA = _with_numbers(_MEASURED, LOW, HIGH)
# Where errors were learnt, the error of every published sum stands in a column of its own.
LEARNT_SCHEMA = _with_numbers(_MEASURED, ERROR, LOW, HIGH)

_LABELS = ("published_total", "period", "pair")
_NUMBERS = ("count", "measured", "standard_error", "residual")


def schema_of(margins: Sequence[PublishedSums]) -> pa.Schema:
    """Returns the columns of some sums."""
    return SCHEMA if margins[0].errors is None else LEARNT_SCHEMA


def write_margins_parquet(margins: Sequence[PublishedSums], path: Path) -> None:
    """Writes sums as one Parquet file."""
    with pq.ParquetWriter(path, schema_of(margins), compression="zstd") as writer:
        for batch in _batches(margins):
            writer.write_batch(batch)


def write_margins_csv(margins: Sequence[PublishedSums], path: Path) -> None:
    """Writes sums as one CSV file."""
    labels = _texts([margin.feature for margin in margins])
    stream_csv(path, schema_of(margins), _batches(margins), labels=labels)


def read_margins_parquet(
    path: Path, features: Sequence[Feature], *, learnt: bool
) -> tuple[PublishedSums, ...]:
    """Reads sums from a Parquet file, with learnt errors or without.

    Raises:
        ReleaseError: The rows are not those of the features in order.
    """
    sums = sum(feature.size for feature in features)
    schema = LEARNT_SCHEMA if learnt else SCHEMA
    with open_parquet(path, schema, rows=sums) as file:
        if file.metadata.num_rows != sums:
            raise _rewritten(path)
        return _margins(path, file.iter_batches(batch_size=BATCH_ROWS), features, schema)


def read_margins_csv(
    path: Path, features: Sequence[Feature], *, learnt: bool
) -> tuple[PublishedSums, ...]:
    """Reads sums from a CSV file, with learnt errors or without.

    Raises:
        ReleaseError: The rows are not those of the features in order.
    """
    schema = LEARNT_SCHEMA if learnt else SCHEMA
    return _margins(path, read_batches(path, schema, labels=_texts(features)), features, schema)


def _batches(margins: Sequence[PublishedSums]) -> Iterator[pa.RecordBatch]:
    for margin in margins:
        feature = margin.feature
        title, periods, pairs = _label_arrays(feature)
        for start in range(0, feature.size, BATCH_ROWS):
            part = slice(start, min(start + BATCH_ROWS, feature.size))
            period, pair = np.divmod(np.arange(part.start, part.stop), feature.pair_classes)
            counts, measured = margin.counts[part], margin.measured[part]
            yield pa.RecordBatch.from_arrays(
                [
                    labelled(np.zeros_like(period), title),
                    labelled(period, periods),
                    labelled(pair, pairs),
                    number_array(counts),
                    number_array(measured),
                    number_array(np.full(len(counts), margin.standard_error)),
                    number_array(counts - measured),
                    *([] if margin.errors is None else [number_array(margin.errors[part])]),
                    *(number_array(end[part]) for end in margin.interval),
                ],
                schema=schema_of(margins),
            )


def _margins(
    path: Path,
    batches: Iterable[pa.RecordBatch],
    features: Sequence[Feature],
    schema: pa.Schema,
) -> tuple[PublishedSums, ...]:
    """Gathers rows whose labels are those of the features' elements, in order."""
    parts: list[list[pa.RecordBatch]] = [[] for _ in features]
    owner, first = 0, 0
    for batch in batches:
        if batch.schema.names != schema.names or any(
            batch.schema.field(name).type != schema.field(name).type
            for name in schema.names[len(_LABELS) :]
        ):
            raise _rewritten(path)
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
    counts, measured, errors, residuals = (
        np.concatenate([whole_column(part.column(name)) for part in parts]) for name in _NUMBERS
    )
    error = float(errors[0])
    if not np.all(errors == error) or not 0 <= error < np.inf:
        raise _rewritten(path)
    own = None
    if ERROR in parts[0].schema.names:
        own = np.concatenate([whole_column(part.column(ERROR)) for part in parts])
        if not np.all(np.isfinite(own) & (own >= 0)):
            raise _rewritten(path)
    sums = PublishedSums(
        feature=feature, counts=counts, measured=measured, standard_error=error, errors=own
    )
    if not np.array_equal(sums.residuals, residuals):
        raise damaged(
            f"{path.name}: a residual of {feature.title!r} is not the count minus the measurement."
        )
    ends = (
        np.concatenate([whole_column(part.column(name)) for part in parts]) for name in (LOW, HIGH)
    )
    if not all(map(np.array_equal, ends, sums.interval)):
        raise damaged(f"{path.name}: an interval of {feature.title!r} is not that of its error.")
    return sums


def _check_labels(path: Path, feature: Feature, parts: Sequence[pa.RecordBatch]) -> None:
    title, periods, pairs = _label_arrays(feature)
    first = 0
    for part in parts:
        positions_among(part.column("published_total"), title)
        element = positions_among(part.column("period"), periods) * feature.pair_classes
        element += positions_among(part.column("pair"), pairs)
        if not np.array_equal(element, np.arange(first, first + len(part))):
            raise _rewritten(path)
        first += len(part)


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


def _rewritten(path: Path) -> ReleaseError:
    return damaged(
        f"{path.name} does not hold one row for every element of the published totals, in order."
    )
