"""The public features of a release, in two files that can be read back exactly.

Labels of periods are in a JSON file. Labels of pairs of places have a Parquet file, one row a pair
and one column a labelling, written and read in batches: a city of thousands of places has tens of
millions of pairs.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from hushway.arrays import BoolArray, Int32Array, IntArray
from hushway.errors import ReleaseError, damaged
from hushway.families.od.files.rows import cells_of, ends_columns, ends_of, named_cells
from hushway.families.od.public.cells import ODCells
from hushway.families.od.public.features import Feature
from hushway.geography.locations import Labels
from hushway.privacy.certificate import canonical_json, parsed_json
from hushway.release.formats.columns import BATCH_ROWS, LABEL, Column, Columns, write_parquet
from hushway.release.formats.csv import labelled, positions_among
from hushway.release.formats.places import free_name, text_array
from hushway.release.untrusted.limits import LIST_BYTES, refuse_large
from hushway.release.untrusted.parquet import open_parquet

# Every two features are compared when it is checked that they add up.
MOST_FEATURES = 64
# All sums of a release; as columns of numbers they take two gigabytes.
MOST_SUMS = 1 << 26

_ABOUT = (
    "The published totals that trips are summed over. A published total puts every cell into one "
    "element, by the "
    "class of its pair of places (pair_column: a column of pairs.parquet; null if all pairs are "
    "alike) and by the class of its period (class_of_period, in the order of periods.csv; null if "
    "all periods are alike). Public knowledge, not made from the data."
)


def features_json(features: Sequence[Feature]) -> bytes:
    """Returns the public features as JSON: the same bytes for the same features."""
    labellings, used = pair_columns(features)
    return canonical_json(
        {
            "about": _ABOUT,
            "pair_columns": [
                {"stored_as": name, "column": labels.column, "classes": list(labels.names)}
                for name, labels in labellings.items()
            ],
            "published_totals": [
                _facts(feature, column) for feature, column in zip(features, used, strict=True)
            ],
        }
    )


def read_features(data: bytes, pairs_file: Path, universe: ODCells) -> tuple[Feature, ...]:
    """Reads the public features back."""
    refuse_large("published_totals.json", len(data), LIST_BYTES)
    facts = parsed_json(data)
    if len(facts["published_totals"]) > MOST_FEATURES:
        raise _rewritten()
    pairs = _pair_labels(facts["pair_columns"], pairs_file, universe)
    features = tuple(
        Feature(
            title=each["title"],
            universe=universe,
            pairs=None if each["pair_column"] is None else pairs[each["pair_column"]],
            periods=_period_labels(each),
        )
        for each in facts["published_totals"]
    )
    too_many = sum(feature.size for feature in features) > MOST_SUMS
    if too_many or features_json(features) != data:
        raise _rewritten()
    return features


def _facts(feature: Feature, pair_column: str | None) -> dict[str, Any]:
    periods = feature.periods
    return {
        "title": feature.title,
        "name": feature.name,
        "elements": feature.size,
        "digest": feature.digest,
        "pair_column": pair_column,
        "period_column": None if periods is None else periods.column,
        "period_classes": None if periods is None else list(periods.names),
        "class_of_period": None
        if periods is None
        else [periods.names[code] for code in periods.codes.tolist()],
    }


def _pair_labels(
    columns: Sequence[Mapping[str, Any]], pairs_file: Path, universe: ODCells
) -> dict[str, Labels]:
    if not columns:
        return {}
    classes = {each["stored_as"]: tuple(each["classes"]) for each in columns}
    codes = read_pairs(pairs_file, universe, classes)
    return {
        each["stored_as"]: Labels(
            column=each["column"],
            codes=codes[each["stored_as"]],
            names=classes[each["stored_as"]],
        )
        for each in columns
    }


def _period_labels(facts: Mapping[str, Any]) -> Labels | None:
    if facts["period_column"] is None:
        return None
    number = {name: code for code, name in enumerate(facts["period_classes"])}
    codes = np.array([number[name] for name in facts["class_of_period"]], dtype=np.int32)
    names = tuple(facts["period_classes"])
    return Labels(column=facts["period_column"], codes=codes, names=names)


def _rewritten() -> ReleaseError:
    return damaged(
        "published_totals.json is not as hushway writes it, or is larger than it may be."
    )


_ENDS = ("origin", "destination")
_TAKEN = (*_ENDS, *(f"{end}_name" for end in _ENDS))
# Pairs times labellings. They take a gigabyte; a stranger's file may not ask for more.
MOST_LABELS = 1 << 28


def pair_columns(features: Sequence[Feature]) -> tuple[dict[str, Labels], list[str | None]]:
    """Finds a column for every distinct labelling of pairs.

    A labelling is stored under its own name, unless another column has that name already.

    Returns:
        The labellings by their column, and the column of each feature; None if all pairs are alike
        to it.
    """
    columns: dict[str, Labels] = {}
    used: list[str | None] = []
    for feature in features:
        labels = feature.pairs
        if labels is None:
            used.append(None)
            continue
        column = next((name for name, known in columns.items() if _same(known, labels)), None)
        if column is None:
            column = free_name(labels.column, (*_TAKEN, *columns))
            columns[column] = labels
        used.append(column)
    return columns, used


def write_pairs(universe: ODCells, columns: Mapping[str, Labels], path: Path) -> None:
    """Writes the labels of every pair as one Parquet file."""
    names = {name: text_array(labels.names) for name, labels in columns.items()}
    schema = pairs_table(universe, columns).schema

    def batches() -> Iterator[pa.RecordBatch]:
        for start in range(0, universe.pairs, BATCH_ROWS):
            stop = min(start + BATCH_ROWS, universe.pairs)
            _, *ends = named_cells(universe, np.arange(start, stop, dtype=np.int64))
            labels = (
                _labelled_codes(labels.codes[start:stop], names[name])
                for name, labels in columns.items()
            )
            yield pa.RecordBatch.from_arrays([*ends, *labels], schema=schema)

    write_parquet(path, schema, batches())


def read_pairs(
    path: Path, universe: ODCells, classes: Mapping[str, Sequence[str]]
) -> dict[str, Int32Array]:
    """Reads the class of every pair in every labelling.

    Args:
        path: The file.
        universe: The public cells.
        classes: The names of the classes of each column, in order.
    """
    known = {name: text_array(labels) for name, labels in classes.items()}
    if universe.pairs * len(classes) > MOST_LABELS:
        raise _not_the_pairs(path)
    with open_parquet(path, pairs_table(universe, classes).schema, rows=universe.pairs) as file:
        if file.metadata.num_rows != universe.pairs:
            raise _not_the_pairs(path)
        codes = {name: np.empty(universe.pairs, dtype=np.int32) for name in classes}
        row = 0
        for batch in file.iter_batches(batch_size=BATCH_ROWS):
            part = slice(row, row + len(batch))
            if not np.array_equal(_pairs_of(universe, batch), np.arange(part.start, part.stop)):
                raise _not_the_pairs(path)
            for name, labels in known.items():
                codes[name][part] = positions_among(batch.column(name), labels)
            row = part.stop
    if row != universe.pairs:
        raise _not_the_pairs(path)
    return codes


def pairs_table(universe: ODCells, labellings: Iterable[str]) -> Columns:
    """Returns the columns of pairs.parquet: the ends of a pair, and its class in each labelling."""
    classes = (Column(name, LABEL, "Class of the pair of places.") for name in labellings)
    return Columns((*ends_columns(universe), *classes), key=_ENDS)


def _pairs_of(universe: ODCells, batch: pa.RecordBatch) -> IntArray:
    origin, destination = ends_of(universe, batch)
    return cells_of(universe, np.zeros_like(origin), origin, destination)


def _labelled_codes(codes: Int32Array, names: pa.Array) -> pa.DictionaryArray:
    # Only the classes that occur: a batch must not carry the names of a million others.
    used = np.bincount(codes, minlength=len(names)) > 0
    place = np.cumsum(used) - 1
    return labelled(place[codes], names.filter(_mask(used)))


def _mask(used: BoolArray) -> pa.Array:
    packed = np.packbits(used, bitorder="little")
    return pa.Array.from_buffers(pa.bool_(), len(used), [None, pa.py_buffer(packed)])


def _same(one: Labels, other: Labels) -> bool:
    return one is other or (
        one.column == other.column
        and one.names == other.names
        and np.array_equal(one.codes, other.codes)
    )


def _not_the_pairs(path: Path) -> ReleaseError:
    return damaged(f"{path.name} does not label the public pairs of places in order.")
