"""The features that a plan asks for, read from its public files."""

from collections.abc import Iterable, Iterator

from hushway.families.od.feature_files import (
    FeatureDefinition,
    build_features,
    pair_columns,
    place_columns,
)
from hushway.families.od.plan import ODPlan
from hushway.families.od.plan_features import PERIOD, TOTAL, ZONES
from hushway.families.od.plan_mechanisms import LaplacePlan
from hushway.families.od.public.cells import ODCells
from hushway.families.od.public.features import Feature, period_feature, total_feature, without_idle
from hushway.families.od.public.pairs import read_pairs


def asked_labels(plan: ODPlan) -> tuple[str, ...]:
    """Returns the further columns of the locations that the plan's features need."""
    return place_columns(_definitions(plan, _asked(plan)))


def asked_features(plan: ODPlan, cells: ODCells) -> tuple[Feature, ...]:
    """Returns the coarse features of a plan, in its order; all possible ones if it names none.

    Raises:
        GeographyError: A column is missing, or a place or a pair of places has no label.
    """
    if isinstance(plan.mechanism, LaplacePlan):
        return ()
    if plan.mechanism.coarse_features is None:
        return possible_features(plan, cells)
    return _built(plan, cells, plan.mechanism.coarse_features)


def possible_features(plan: ODPlan, cells: ODCells) -> tuple[Feature, ...]:
    """Returns all features that a plan's public files allow, whatever its mechanism.

    Raises:
        GeographyError: A column is missing, or a place or a pair of places has no label.
    """
    zoned = any(place.zone for place in cells.locations.places)
    names = (name for name in _possible(plan) if zoned or name != ZONES)
    return without_idle(_built(plan, cells, names))


def _built(plan: ODPlan, cells: ODCells, names: Iterable[str]) -> tuple[Feature, ...]:
    wanted = tuple(names)
    definitions = tuple(_definitions(plan, wanted))
    pairs = {
        column: read_pairs(
            plan.path(plan.places.pairs or ""),
            cells.locations,
            column=column,
            origin=plan.places.pair_columns.origin,
            destination=plan.places.pair_columns.destination,
        )
        for column in pair_columns(definitions)
    }
    built = {feature.title: feature for feature in build_features(definitions, cells, pairs)}
    fixed = {TOTAL: total_feature, PERIOD: period_feature}
    return tuple(fixed[name](cells) if name in fixed else built[name] for name in wanted)


def _asked(plan: ODPlan) -> tuple[str, ...]:
    if isinstance(plan.mechanism, LaplacePlan):
        return ()
    if plan.mechanism.coarse_features is not None:
        return plan.mechanism.coarse_features
    return _possible(plan)


def _possible(plan: ODPlan) -> tuple[str, ...]:
    """Returns the names of the features that need no file, or one that the plan names."""
    named = (
        name
        for name, feature in plan.defined_features.items()
        if feature.pairs is None or plan.places.pairs is not None
    )
    return (TOTAL, PERIOD, *named)


def _definitions(plan: ODPlan, names: tuple[str, ...]) -> Iterator[FeatureDefinition]:
    for name in names:
        if name in plan.defined_features:
            feature = plan.defined_features[name]
            yield FeatureDefinition(
                title=name,
                place_column=feature.places,
                pair_column=feature.pairs,
                side=feature.side,
                each_period=feature.each_period,
            )
