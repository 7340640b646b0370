"""Features built from the columns of public files."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from hushway.errors import GeographyError
from hushway.families.od.public.cells import ODCells
from hushway.families.od.public.features import Feature, pair_feature
from hushway.families.od.public.pair_labels import Side, pair_table_labels, place_pair_labels
from hushway.families.od.public.pairs import PairLabels
from hushway.geography.labels import Labels

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
                f"The feature {self.title!r} needs a column of the places or one of the pairs.",
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
        definitions: What to build.
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
            f"The feature {definition.title!r} needs the column {column!r} of a table of pairs.",
            advice="Name a table of pairs that has it.",
        )
    return pair_table_labels(cells, column, *pair_labels[column])
