"""What can be checked about published sums: features, margins, and that everything adds up."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hushway.arrays import IntArray
from hushway.errors import ReleaseError
from hushway.families.od.files.adds_up import check_adds_up
from hushway.families.od.files.description import PARQUET
from hushway.families.od.files.formats.features import read_features
from hushway.families.od.files.formats.margins import read_margins_csv, read_margins_parquet
from hushway.families.od.files.formats.parquet import read_parquet
from hushway.families.od.files.margin_description import (
    ADDS_UP,
    FEATURES,
    MARGINS,
    MARGINS_CSV,
    PAIRS,
)
from hushway.families.od.files.sums import PublishedSums, sums_of_rows
from hushway.families.od.public.cells import ODCells
from hushway.families.od.public.features import Feature
from hushway.privacy.certificate import Certificate
from hushway.release.bounded import LIST_BYTES, read_plain
from hushway.release.certified import PARAMETER
from hushway.release.finding import Notes


@dataclass(frozen=True, kw_only=True)
class CheckedSums:
    """The features whose sums a release holds, and the standard error of the sums of each."""

    features: tuple[Feature, ...]
    standard_errors: tuple[float, ...]


def check_sums(
    notes: Notes, folder: Path, certificate: Certificate, universe: ODCells
) -> CheckedSums | None:
    """Checks the sums of a release whose certificate names features; notes nothing otherwise.

    Returns:
        The features and the noise of their sums; None when they cannot be read.
    """
    if not certificate.terms.mechanism.parameters.get(PARAMETER):
        return CheckedSums(features=(), standard_errors=())
    features = notes.attempt("features", lambda: _features(folder, universe))
    if features is None:
        return None
    found = notes.attempt("margins", lambda: _margins(folder, features))
    if found is None:
        return None
    margins, rows = found
    notes.attempt("adds up", lambda: _adds_up(folder, margins, rows))
    return CheckedSums(
        features=features, standard_errors=tuple(sums.standard_error for sums in margins)
    )


def _features(folder: Path, universe: ODCells) -> tuple[tuple[Feature, ...], str]:
    features = read_features(read_plain(folder / FEATURES, LIST_BYTES), folder / PAIRS, universe)
    titles = ", ".join(feature.title for feature in features)
    return features, f"The public labels give these features: {titles}."


def _margins(
    folder: Path, features: Sequence[Feature]
) -> tuple[tuple[tuple[PublishedSums, ...], tuple[IntArray, ...]], str]:
    margins = read_margins_parquet(folder / MARGINS, features)
    batches = read_parquet(folder / PARQUET, features[0].universe)
    rows = sums_of_rows(features, ((part.cells, part.counts) for part in batches))
    for sums, own in zip(margins, rows, strict=True):
        if not np.array_equal(sums.counts, own):
            raise ReleaseError(
                f"A sum of {sums.feature.title!r} in {MARGINS} is not the sum of its rows.",
                advice="Ask the publisher for an intact copy of the release.",
            )
    if not all(map(_same, margins, read_margins_csv(folder / MARGINS_CSV, features))):
        raise ReleaseError(
            f"{MARGINS_CSV} does not hold the same numbers as {MARGINS}.",
            advice="Ask the publisher for an intact copy of the release.",
        )
    count = sum(feature.size for feature in features)
    return (margins, rows), f"{count:,} published sums, each the sum of its rows."


def _adds_up(
    folder: Path, margins: Sequence[PublishedSums], rows: Sequence[IntArray]
) -> tuple[bool, str]:
    check_adds_up(read_plain(folder / ADDS_UP, LIST_BYTES), margins, rows)
    return True, f"Finer sums add up to coarser ones, and {ADDS_UP} says so."


def _same(one: PublishedSums, other: PublishedSums) -> bool:
    return (
        np.array_equal(one.counts, other.counts)
        and np.array_equal(one.measured, other.measured)
        and one.standard_error == other.standard_error
    )
