"""The features that a plan asks for, read from its public files."""

from collections.abc import Iterable
from typing import Final

from hushway.families.od.files.guard import refuse_too_many_places
from hushway.families.od.plan import ODPlan
from hushway.families.od.plan_totals import PERIOD, TOTAL, ZONES
from hushway.families.od.public.cells import ODCells
from hushway.families.od.public.features import (
    DESTINATIONS,
    ORIGINS,
    Feature,
    destinations_feature,
    origins_feature,
    pair_feature,
    pair_table_labels,
    period_feature,
    place_pair_labels,
    total_feature,
    without_idle,
)
from hushway.families.od.public.pairs import read_pairs

_ZONE = "zone"
_NEED_NO_COLUMN: Final = {
    TOTAL: total_feature,
    PERIOD: period_feature,
    ORIGINS: origins_feature,
    DESTINATIONS: destinations_feature,
}


def asked_labels(plan: ODPlan) -> tuple[str, ...]:
    """Returns the columns of the locations that the plan's features need, besides their zones."""
    asked, defined = _asked(plan), plan.defined_features
    columns = {feature.places for name, feature in defined.items() if name in asked}
    return tuple(sorted(column for column in columns if column and column != _ZONE))


def asked_features(plan: ODPlan, cells: ODCells) -> tuple[Feature, ...]:
    """Returns the coarse features of a plan, in its order; all possible ones if it names none.

    Raises:
        GeographyError: A column is missing, or a place or a pair of places has no label.
    """
    if plan.mechanism.coarse_features is None:
        return _all_built(plan, cells, _asked(plan))
    return _built(plan, cells, plan.mechanism.coarse_features)


def possible_features(plan: ODPlan, cells: ODCells) -> tuple[Feature, ...]:
    """Returns all features that a plan's public files allow, whatever its mechanism.

    Raises:
        GeographyError: A column is missing, or a place or a pair of places has no label.
    """
    total, period, *named = _possible(plan)
    return _all_built(plan, cells, (total, period, ORIGINS, DESTINATIONS, *named))


def _all_built(plan: ODPlan, cells: ODCells, names: tuple[str, ...]) -> tuple[Feature, ...]:
    """Builds the features that the places allow and that tell something."""
    zoned = any(place.zone for place in cells.locations.places)
    return without_idle(_built(plan, cells, (name for name in names if zoned or name != ZONES)))


def _built(plan: ODPlan, cells: ODCells, names: Iterable[str]) -> tuple[Feature, ...]:
    wanted = tuple(names)
    # Every other one labels all pairs of places.
    if set(wanted) - {TOTAL, PERIOD}:
        refuse_too_many_places(cells)
    return tuple(
        _NEED_NO_COLUMN[name](cells) if name in _NEED_NO_COLUMN else _defined(plan, cells, name)
        for name in wanted
    )


def _defined(plan: ODPlan, cells: ODCells, name: str) -> Feature:
    """Returns a feature made of a public column."""
    feature = plan.defined_features[name]
    if feature.places is not None:
        of_places = cells.locations.labels_in(feature.places)
        labels = place_pair_labels(cells, feature.places, of_places, side=feature.side)
    else:
        column, ends = feature.pairs or "", plan.places.pair_columns
        file = plan.path(plan.places.pairs or "")
        of_pairs = read_pairs(
            file, cells.locations, column=column, origin=ends.origin, destination=ends.destination
        )
        labels = pair_table_labels(cells, column, *of_pairs)
    return pair_feature(cells, name, labels, by_period=feature.each_period)


def _asked(plan: ODPlan) -> tuple[str, ...]:
    if plan.mechanism.coarse_features is not None:
        return plan.mechanism.coarse_features
    total, period, *named = _possible(plan)
    ends = (ORIGINS, DESTINATIONS) if plan.mechanism.measures_ends else ()
    return (total, period, *ends, *named)


def _possible(plan: ODPlan) -> tuple[str, ...]:
    """Returns the names of the features that need no file, or one that the plan names."""
    named = (
        name
        for name, feature in plan.defined_features.items()
        if feature.pairs is None or plan.places.pairs is not None
    )
    return (TOTAL, PERIOD, *named)
