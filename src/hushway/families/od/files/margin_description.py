"""What the data package says about sums that add up and the features that they are over."""

from collections.abc import Sequence
from typing import Any

from hushway.families.od.files.formats.margins import COLUMNS
from hushway.families.od.files.formats.pairs import pair_columns
from hushway.families.od.public.features import Feature
from hushway.release.resource import Resource, table_schema

MARGINS = "margins.parquet"
MARGINS_CSV = "margins.csv"
ADDS_UP = "adds-up.json"
FEATURES = "features.json"
PAIRS = "pairs.parquet"


def margin_resources(features: Sequence[Feature]) -> tuple[Resource, ...]:
    """Returns the files of a release that gives sums over features; none without features."""
    if not features:
        return ()
    titles = ", ".join(feature.title for feature in features)
    sums = (
        Resource(
            path=MARGINS,
            title="Sums that add up",
            description=f"The trips of every element of the features: {titles}. A count is the sum "
            "of the rows of trips.parquet in the element, exactly.",
            mediatype="application/vnd.apache.parquet",
            schema=_margins_schema(),
        ),
        Resource(
            path=MARGINS_CSV,
            title="Sums that add up",
            description=f"The same numbers as {MARGINS}.",
            mediatype="text/csv",
            schema=_margins_schema(),
        ),
        Resource(
            path=ADDS_UP,
            title="What adds up",
            description="Every constraint that the published numbers keep, with the largest "
            "difference found, and how far sums are from their own noisy measurements.",
            mediatype="application/json",
        ),
        Resource(
            path=FEATURES,
            title="Public features",
            description="What trips are summed over. Public knowledge, not made from the data.",
            mediatype="application/json",
        ),
    )
    columns = list(pair_columns(features).labels)
    if not columns:
        return sums
    return (
        *sums,
        Resource(
            path=PAIRS,
            title="Public labels of pairs of places",
            description="The class of every pair of places that trips may join, for the features. "
            "Public knowledge, not made from the data.",
            mediatype="application/vnd.apache.parquet",
            schema=table_schema(
                ("origin", "string", "Id of the place where trips start, as in locations.csv."),
                ("destination", "string", "Id of the place where trips end, as in locations.csv."),
                *((name, "string", "Class of the pair of places.") for name in columns),
                key=["origin", "destination"],
            ),
        ),
    )


def _margins_schema() -> dict[str, Any]:
    words = (
        ("string", f"Title of the feature, as in {FEATURES}."),
        ("string", "Class of the periods that are summed over; empty if it is all of them."),
        ("string", "Class of the pairs that are summed over; empty if it is all of them."),
        ("integer", "Published number of trips: the sum of the published rows."),
        ("integer", "Noisy number of trips, as measured before the fit; may be negative."),
        ("number", "Standard deviation of the noise in the measurement, in trips."),
        ("integer", "The count minus the measurement."),
    )
    columns = [(name, *rest) for name, rest in zip(COLUMNS, words, strict=True)]
    return table_schema(*columns, key=["feature", "period", "pair"])
