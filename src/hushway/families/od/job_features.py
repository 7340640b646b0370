"""The features that a plan asks for, read from its public files."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from hushway.errors import GeographyError
from hushway.families.od.files.guard import refuse_too_many_places
from hushway.families.od.plan import ODPlan
from hushway.families.od.plan_totals import PERIOD, TOTAL, ZONES
from hushway.families.od.public.cells import ODCells
from hushway.families.od.public.features import (
    DESTINATIONS,
    ORIGINS,
    Feature,
    Side,
    destinations_feature,
    origins_feature,
    pair_feature,
    pair_table_labels,
    period_feature,
    place_pair_labels,
    total_feature,
    without_idle,
)
from hushway.families.od.public.pairs import PairLabels, read_pairs
from hushway.geography.locations import Labels

_ZONE = "zone"


@dataclass(frozen=True, kw_only=True)
class FeatureDefinition:
    """Which public column makes a feature, exactly one of the two.

    Attributes:
        title: What the feature is called, such as "zones".
        place_column: A column of the locations; "zone" is their zone, whatever the file calls it.
        pair_column: A column of the table of pairs.
        side: Which end of a pair of places counts; for a column of the locations only.
        each_period: Whether trips are counted in each period, or over all periods together.
    """

    title: str
    place_column: str | None = None
    pair_column: str | None = None
    side: Side = "both"
    each_period: bool = True

    def __post_init__(self) -> None:
        if (self.place_column is None) == (self.pair_column is None):
            raise GeographyError(
                f"The published total {self.title!r} needs a column of the places or one of the "
                "pairs.",
                advice="Name exactly one of the two.",
            )


def place_columns(definitions: Iterable[FeatureDefinition]) -> tuple[str, ...]:
    """Returns the columns to read with the locations, besides their zones: `labels` of these."""
    named = {each.place_column for each in definitions if each.place_column is not None}
    return tuple(sorted(named - {_ZONE}))


def pair_columns(definitions: Iterable[FeatureDefinition]) -> tuple[str, ...]:
    """Returns the columns to read from the table of pairs."""
    return tuple(sorted({each.pair_column for each in definitions if each.pair_column is not None}))


def build_features(
    definitions: Iterable[FeatureDefinition], cells: ODCells, pair_labels: Mapping[str, PairLabels]
) -> tuple[Feature, ...]:
    """Returns the features of some definitions, in their order.

    Args:
        cells: The universe; its locations carry the columns of places.
        pair_labels: The columns of the table of pairs.

    Raises:
        GeographyError: A column is missing, or a place or a pair of places has no label.
    """
    return tuple(
        pair_feature(
            cells, each.title, _labels(each, cells, pair_labels), by_period=each.each_period
        )
        for each in definitions
    )


def _labels(
    definition: FeatureDefinition, cells: ODCells, pair_labels: Mapping[str, PairLabels]
) -> Labels:
    if definition.place_column is not None:
        column = definition.place_column
        labels = cells.locations.labels_in(column)
        return place_pair_labels(cells, column, labels, side=definition.side)
    column = definition.pair_column or ""
    if column not in pair_labels:
        raise GeographyError(
            f"The published total {definition.title!r} needs the column {column!r} of a table of "
            "pairs.",
            advice="Name a table of pairs that has it.",
        )
    return pair_table_labels(cells, column, *pair_labels[column])


def asked_labels(plan: ODPlan) -> tuple[str, ...]:
    """Returns the further columns of the locations that the plan's features need."""
    return place_columns(_definitions(plan, _asked(plan)))


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
    fixed = {
        TOTAL: total_feature,
        PERIOD: period_feature,
        ORIGINS: origins_feature,
        DESTINATIONS: destinations_feature,
    }
    return tuple(fixed[name](cells) if name in fixed else built[name] for name in wanted)


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
