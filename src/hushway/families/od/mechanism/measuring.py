"""Measuring features and cells: the step that every fitted OD mechanism has in common."""

import math
from collections.abc import Sequence
from itertools import pairwise

from hushway.errors import PrivacyError
from hushway.families.od.public.cells import ODCells
from hushway.families.od.public.features import Feature
from hushway.privacy.bound import Bound
from hushway.privacy.calibration import noise_for
from hushway.privacy.curator import Curator
from hushway.privacy.loss import Loss
from hushway.privacy.measured import Measured
from hushway.privacy.query import PartitionQuery, Query
from hushway.release.mechanism import Forecast, Question


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
            "Each published total and the cells need one spend, all in one currency.",
            advice="Split one budget with hushway.families.od.mechanism.shares.spends_of.",
        )
    if any(feature.universe.digest != cells.digest for feature in features):
        raise PrivacyError(
            "A published total was made for another universe of cells.",
            advice="Build the published totals from the cells that are measured.",
        )


def noise_forecasts(
    cells: ODCells, features: Sequence[Feature], spends: Sequence[Loss], bound: Bound
) -> tuple[Forecast, ...]:
    """Returns the noise of every measurement: one cell's, then those of the features."""
    check_measurable(cells, features, spends)
    *margins, last = spends
    cell = Forecast(figure="one cell", standard_error=_error(last, bound), bias=0.0)
    return (
        cell,
        *(
            Forecast(
                figure="all trips" if feature.size == 1 else f"one of {feature.title}",
                standard_error=_error(spend, feature_query(feature).bound(bound)),
                bias=0.0,
            )
            for feature, spend in zip(features, margins, strict=True)
        ),
    )


def _error(spend: Loss, bound: Bound) -> float:
    return math.sqrt(noise_for(spend, bound).variance)
