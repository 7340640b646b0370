"""What the data package of a sequences release says about its files."""

from collections.abc import Mapping
from typing import Any

from hushway.families.sequences.files.completed import can_be_completed
from hushway.families.sequences.files.levels import COLUMNS as LEVEL_COLUMNS
from hushway.families.sequences.files.paths import ending_nodes
from hushway.families.sequences.files.rows import column_names
from hushway.families.sequences.files.taxonomy import grain_name, grouped_locations
from hushway.families.sequences.files.tree import COLUMNS as TREE_COLUMNS
from hushway.families.sequences.mechanism.table import SequenceTable
from hushway.release.formats.places import location_columns
from hushway.release.resource import (
    Description,
    Resource,
    locations_schema,
    periods_resource,
    table_schema,
)

PARQUET = "sequences.parquet"
CSV = "sequences.csv"
TREE = "tree.parquet"
LEVELS = "levels.csv"
LOCATIONS = "locations.csv"
TAXONOMY = "taxonomy.json"
PERIODS = "periods.csv"
COMPLETED = "completed.parquet"

_WHAT_A_COUNT_MEANS = (
    "A count is the number of records that are published with these stops and no further ones. It "
    "carries noise on purpose. A sequence without a row is not known to be absent: prefixes "
    "measured below the threshold of their step were cut, and what had gone on below them counts "
    "as ending where they were cut."
)


def describe(table: SequenceTable) -> Description:
    """Returns what a data package says about a published tree."""
    times = table.periods is not None
    resources = [
        Resource(
            path=PARQUET,
            title="Sequences of stops",
            description=f"The distinct published sequences. {_WHAT_A_COUNT_MEANS}",
            mediatype="application/vnd.apache.parquet",
            schema=_sequences_schema("array", "as a list", times=times),
        ),
        Resource(
            path=CSV,
            title="Sequences of stops",
            description=f"The same sequences as {PARQUET}; stops are joined by ' > '. A '>' or "
            "'\\' that belongs to an id has a '\\' before it.",
            mediatype="text/csv",
            schema=_sequences_schema("string", "joined by ' > '", times=times),
        ),
        Resource(
            path=TREE,
            title="Tree of prefixes",
            description="Every prefix that was kept, with what was measured and what is published; "
            "parents stand before their children. A count is never below the sum of those of its "
            "children.",
            mediatype="application/vnd.apache.parquet",
            schema=_tree_schema(),
        ),
        Resource(
            path=LEVELS,
            title="Steps of the tree",
            description="One row for every step: how many candidates there were, from which noisy "
            "count on they were kept, how many were, and how large the noise is.",
            mediatype="text/csv",
            schema=_levels_schema(),
        ),
        Resource(
            path=LOCATIONS,
            title="Public places",
            description="Where stops may be, with the groups that they belong to. Public "
            "knowledge, not made from the data.",
            mediatype="text/csv",
            schema=locations_schema(location_columns(grouped_locations(table.taxonomy))),
        ),
        Resource(
            path=TAXONOMY,
            title="Public groups of places",
            description="Which places belong together at each level. Public knowledge, not made "
            "from the data.",
            mediatype="application/json",
        ),
    ]
    if table.periods is not None:
        resources.append(periods_resource(table.periods, path=PERIODS))
    if can_be_completed(table):
        resources.append(
            Resource(
                path=COMPLETED,
                title="Likely whole records",
                description="As many records begin with every kept prefix as the tree says; where "
                "the tree breaks off they go on as records like them do. That is a likely course "
                f"worked out from {TREE} alone, not a measurement.",
                mediatype="application/vnd.apache.parquet",
                schema=_sequences_schema("array", "as a list", times=False),
            )
        )
    return Description(facts=_facts(table), resources=tuple(resources), omitted={})


def facts_fit(facts: Mapping[str, Any]) -> bool:
    """Whether facts of a data package say enough about a tree to read it."""
    return type(facts["times"]) is bool and type(facts["fit"]) is dict


def _facts(table: SequenceTable) -> dict[str, Any]:
    taxonomy = table.taxonomy
    return {
        "sequences": len(ending_nodes(table)),
        "records": int(table.ends.sum()),
        "nodes": len(table.parent),
        "stops": table.steps[-1].stop + 1,
        "granularities": [grain_name(taxonomy, grain) for grain in range(taxonomy.grains)],
        "times": table.periods is not None,
        # The publisher's word: the numbers before the fit was made whole are not in the release.
        "fit": dict(table.diagnostics),
    }


def _sequences_schema(kind: str, how: str, *, times: bool) -> dict[str, Any]:
    words = {
        "sequence": (kind, f"Ids of the stops in order, as in {LOCATIONS}, {how}."),
        "periods": (kind, f"Labels of the periods of the stops, as in {PERIODS}, {how}."),
        "count": ("integer", "Published number of records with these stops and no further ones."),
    }
    *key, count = column_names(times=times)
    return table_schema(*((name, *words[name]) for name in (*key, count)), key=key)


def _tree_schema() -> dict[str, Any]:
    words = (
        ("integer", "Number of the node, from 0."),
        ("integer", "Number of the node above; -1 if the prefix begins here."),
        ("integer", "Which stop of the sequence the node is about, from 1."),
        ("string", f"Level of its group, as in {TAXONOMY}, or location."),
        ("string", "Name of its group, or id of its location."),
        ("string", "Label of the period of the stop; empty if times are not kept."),
        ("integer", "Noisy number of records with this prefix, as measured before the fit."),
        ("integer", "Published number of records with this prefix."),
        ("integer", "Published number of records that end here; 0 for groups."),
    )
    columns = [(name, *rest) for name, rest in zip(TREE_COLUMNS, words, strict=True)]
    return table_schema(*columns, key=["node"])


def _levels_schema() -> dict[str, Any]:
    words = (
        ("integer", "Which stop of the sequence, from 1."),
        ("string", f"Level of the groups, as in {TAXONOMY}, or location."),
        ("integer", "How many candidates were measured."),
        ("integer", "Candidates measured at this number or above were kept."),
        ("integer", "How many were kept."),
        ("number", "Standard deviation of the noise in each measurement, in records."),
    )
    columns = [(name, *rest) for name, rest in zip(LEVEL_COLUMNS, words, strict=True)]
    return table_schema(*columns, key=["stop", "granularity"])
