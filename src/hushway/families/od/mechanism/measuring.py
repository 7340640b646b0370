"""Measuring features and cells: the step that every fitted OD mechanism has in common."""

from collections.abc import Sequence
from itertools import pairwise

from hushway.errors import PrivacyError
from hushway.families.od.public.cells import ODCells
from hushway.families.od.public.features import Feature
from hushway.privacy.curator import Curator
from hushway.privacy.loss import Loss
from hushway.privacy.measured import Measured
from hushway.privacy.query import PartitionQuery, Query
from hushway.release.mechanism import Question


def cells_query(cells: ODCells) -> Query:
    """Returns the question that counts every cell."""
    return Query(name=cells.name, cells=cells)


def feature_query(feature: Feature) -> PartitionQuery:
    """Returns the question that counts every element of a feature."""
    return PartitionQuery(name=feature.name, base=cells_query(feature.universe), cells=feature)


def planned_questions(
    cells: ODCells, features: Sequence[Feature], spends: Sequence[Loss]
) -> tuple[Question, ...]:
    """Returns what is asked for which price: the cells, then the features."""
    *margins, last = spends
    return ((cells_query(cells), last), *zip(map(feature_query, features), margins, strict=True))


def measure_features(
    curator: Curator, features: Sequence[Feature], spends: Sequence[Loss]
) -> tuple[Measured, ...]:
    """Measures each feature once.

    Privacy:
        Spends the given losses; a record lies in one element of each feature, so a unit moves each
        by no more than the counter's bound.
    """
    return tuple(
        curator.counts(feature_query(feature), spend)
        for feature, spend in zip(features, spends, strict=True)
    )


def check_measurable(cells: ODCells, features: Sequence[Feature], spends: Sequence[Loss]) -> None:
    """Refuses features of another universe, and spends that do not fit them.

    Raises:
        PrivacyError: They do not belong together.
    """
    if len(spends) != len(features) + 1 or any(
        type(one) is not type(other) for one, other in pairwise(spends)
    ):
        raise PrivacyError(
            "Each feature and the cells need one spend, all in one currency.",
            advice="Split one budget with hushway.families.od.mechanism.shares.spends_of.",
        )
    if any(feature.universe.digest != cells.digest for feature in features):
        raise PrivacyError(
            "A feature was made for another universe of cells.",
            advice="Build the features from the cells that are measured.",
        )
