"""The files of a sequences release: what is said of each, how it is written and how checked."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from hushway.arrays import IntArray
from hushway.families.sequences.files.rows import (
    can_be_completed,
    check_sequences_csv,
    check_sequences_parquet,
    column_names,
    ending_nodes,
    write_completed,
    write_sequences_csv,
    write_sequences_parquet,
)
from hushway.families.sequences.files.taxonomy import (
    grain_name,
    grouped_locations,
    grouped_locations_csv,
    taxonomy_json,
)
from hushway.families.sequences.files.tree import COLUMNS as TREE_COLUMNS
from hushway.families.sequences.files.tree import LEVEL_COLUMNS, levels_csv, write_tree
from hushway.families.sequences.fit.table import SequenceTable
from hushway.geography.periods import Periods
from hushway.release.folder.published_file import (
    PERIODS,
    Description,
    PublishedFile,
    columns_schema,
    describe_files,
    locations_schema,
    periods_file,
)
from hushway.release.formats.places import location_columns

PARQUET = "sequences.parquet"
CSV = "sequences.csv"
TREE = "tree.parquet"
LEVELS = "levels.csv"
LOCATIONS = "places.csv"
TAXONOMY = "taxonomy.json"
COMPLETED = "completed.parquet"


@dataclass(frozen=True, kw_only=True, eq=False)
class TreeView:
    """A published tree, as its publisher has it and as a verifier has read it.

    Attributes:
        table: The nodes.
        prefix: For each node the node of the stop before (`prefixes_of`).
    """

    table: SequenceTable
    prefix: IntArray


def describe(tree: TreeView) -> Description:
    """Returns what a data package says about a published tree."""
    table, taxonomy = tree.table, tree.table.taxonomy
    facts = {
        "sequences": len(ending_nodes(table)),
        "records": int(table.ends.sum()),
        "nodes": len(table.parent),
        "stops": table.steps[-1].stop + 1,
        "granularities": [grain_name(taxonomy, grain) for grain in range(taxonomy.grains)],
        "times": table.periods is not None,
        # The publisher's word: the numbers before the fit was made whole are not in the release.
        "fit": dict(table.diagnostics),
    }
    return describe_files(FILES, tree, facts)


def facts_fit(facts: Mapping[str, Any]) -> bool:
    """Whether facts of a data package say enough about a tree to read it."""
    return type(facts["times"]) is bool and type(facts["fit"]) is dict


def _sequences_schema(kind: str, how: str, *, times: bool) -> dict[str, Any]:
    words = {
        "sequence": (kind, f"Ids of the stops in order, as in {LOCATIONS}, {how}."),
        "periods": (kind, f"Labels of the periods of the stops, as in {PERIODS}, {how}."),
        "count": ("integer", "Published number of records with these stops and no further ones."),
    }
    names = column_names(times=times)
    return columns_schema(names, [words[name] for name in names], key=names[:-1])


SequenceFile = PublishedFile[TreeView, TreeView]

FILES: tuple[SequenceFile, ...] = (
    SequenceFile(
        path=PARQUET,
        title="Sequences of stops",
        description="The distinct published sequences. A count is the number of records that are "
        "published with these stops and no further ones. It carries noise on purpose. A sequence "
        "without a row is not known to be absent: prefixes measured below the threshold of their "
        "step were cut, and what had gone on below them counts as ending where they were cut.",
        schema=lambda tree: _sequences_schema(
            "array", "as a list", times=tree.table.periods is not None
        ),
        write=lambda tree, path: write_sequences_parquet(tree.table, tree.prefix, path),
        check=lambda tree, path: check_sequences_parquet(tree.table, tree.prefix, path),
        finding="sequences",
    ),
    SequenceFile(
        path=CSV,
        title="Sequences of stops",
        description=f"The same sequences as {PARQUET}; stops are joined by ' > '. A '>' or "
        "'\\' that belongs to an id has a '\\' before it.",
        schema=lambda tree: _sequences_schema(
            "string", "joined by ' > '", times=tree.table.periods is not None
        ),
        write=lambda tree, path: write_sequences_csv(tree.table, tree.prefix, path),
        check=lambda tree, path: check_sequences_csv(tree.table, tree.prefix, path),
        finding="sequences",
    ),
    SequenceFile(
        path=TREE,
        title="Tree of prefixes",
        description="Every prefix that was kept, with what was measured and what is published; "
        "parents stand before their children. A count is never below the sum of those of its "
        "children.",
        schema=columns_schema(
            TREE_COLUMNS,
            (
                ("integer", "Number of the node, from 0."),
                # Readers that know no missing whole numbers read it as a number.
                ("number", "Number of the node above; missing if the prefix begins here."),
                ("integer", "Which stop of the sequence the node is about, from 1."),
                ("string", f"Level of its group, as in {TAXONOMY}, or place."),
                ("string", "Name of its group, or id of its place."),
                ("string", "Label of the period of the stop; missing if times are not kept."),
                (
                    "integer",
                    "Noisy number of records with this prefix, as measured before the fit.",
                ),
                ("integer", "Published number of records with this prefix."),
                ("integer", "Published number of records that end here; 0 for groups."),
            ),
            key=["node"],
        ),
        write=lambda tree, path: write_tree(tree.table, path),
    ),
    SequenceFile(
        path=LEVELS,
        title="Steps of the tree",
        description="One row for every step: how many candidates there were, from which noisy "
        "count on they were kept, how many were, and how large the noise is.",
        schema=columns_schema(
            LEVEL_COLUMNS,
            (
                ("integer", "Which stop of the sequence, from 1."),
                ("string", f"Level of the groups, as in {TAXONOMY}, or place."),
                ("integer", "How many candidates were measured."),
                ("integer", "Candidates measured at this number or above were kept."),
                ("integer", "How many were kept."),
                ("number", "Standard deviation of the noise in each measurement, in records."),
            ),
            key=["stop", "granularity"],
        ),
        write=lambda tree, path: path.write_bytes(levels_csv(tree.table)),
    ),
    SequenceFile(
        path=LOCATIONS,
        title="Public places",
        description="Where stops may be, with the groups that they belong to. Public "
        "knowledge, not made from the data.",
        schema=lambda tree: locations_schema(
            location_columns(grouped_locations(tree.table.taxonomy))
        ),
        write=lambda tree, path: path.write_bytes(grouped_locations_csv(tree.table.taxonomy)),
    ),
    SequenceFile(
        path=TAXONOMY,
        title="Public groups of places",
        description="Which places belong together at each level. Public knowledge, not made "
        "from the data.",
        write=lambda tree, path: path.write_bytes(taxonomy_json(tree.table.taxonomy)),
    ),
    periods_file(
        lambda tree: cast("Periods", tree.table.periods),
        is_there=lambda tree: tree.table.periods is not None,
    ),
    # A finding of its own checks it, and says how many records it holds.
    SequenceFile(
        path=COMPLETED,
        title="Likely whole records",
        description="As many records begin with every kept prefix as the tree says; where "
        "the tree breaks off they go on as records like them do. That is a likely course "
        f"worked out from {TREE} alone, not a measurement.",
        schema=_sequences_schema("array", "as a list", times=False),
        write=lambda tree, path: write_completed(tree.table, path),
        is_there=lambda tree: can_be_completed(tree.table),
    ),
)
