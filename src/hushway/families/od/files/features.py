"""The public features of a release as JSON that can be read back exactly.

Labels of periods stand in the file; labels of pairs are many and have a Parquet file of their own.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from hushway.errors import ReleaseError, damaged
from hushway.families.od.files.pairs import pair_columns, read_pairs
from hushway.families.od.public.cells import ODCells
from hushway.families.od.public.features import Feature
from hushway.geography.locations import Labels
from hushway.privacy.certificate import canonical_json, parsed_json
from hushway.release.untrusted.limits import LIST_BYTES, refuse_large

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
    columns = pair_columns(features)
    return canonical_json(
        {
            "about": _ABOUT,
            "pair_columns": [
                {"stored_as": name, "column": labels.column, "classes": list(labels.names)}
                for name, labels in columns.labels.items()
            ],
            "published_totals": [
                _facts(feature, column)
                for feature, column in zip(features, columns.used, strict=True)
            ],
        }
    )


def read_features(data: bytes, pairs_file: Path, universe: ODCells) -> tuple[Feature, ...]:
    """Reads the public features back.

    Args:
        data: The bytes of the JSON file.
        pairs_file: The Parquet file with the labels of pairs; only read if a feature needs it.
        universe: The public cells.

    Raises:
        ReleaseError: The files are not what hushway writes for any features.
    """
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
