"""Measuring features and cells: the step that every fitted OD mechanism has in common."""

from collections.abc import Sequence
from itertools import pairwise

from hushway.errors import PrivacyError
from hushway.families.od.public.cells import ODCells
from hushway.families.od.public.features import Feature
from hushway.privacy.bound import Bound
from hushway.privacy.calibration import counting_event
from hushway.privacy.curator import Curator
from hushway.privacy.events import Event
from hushway.privacy.loss import Loss
from hushway.privacy.measured import Measured
from hushway.privacy.query import PartitionQuery, Query


def cells_query(cells: ODCells) -> Query:
    """Returns the question that counts every cell."""
    return Query(name=cells.name, cells=cells)


def feature_query(feature: Feature) -> PartitionQuery:
    """Returns the question that counts every element of a feature."""
    return PartitionQuery(name=feature.name, base=cells_query(feature.universe), cells=feature)


def planned_events(
    cells: ODCells, features: Sequence[Feature], spends: Sequence[Loss], bound: Bound
) -> tuple[Event, ...]:
    """Returns what measuring the cells and then the features will cost, and how."""
    *margins, last = spends
    return tuple(
        counting_event(
            query.name,
            query.cells.size,
            spend,
            query.bound(bound) if isinstance(query, PartitionQuery) else bound,
        )
        for query, spend in zip(planned_queries(cells, features), (last, *margins), strict=True)
    )


def planned_queries(
    cells: ODCells, features: Sequence[Feature]
) -> tuple[Query | PartitionQuery, ...]:
    """Returns what is asked: the cells, then the features."""
    return (cells_query(cells), *map(feature_query, features))


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
