"""The files of a sequences release: what is said of each, how it is written and how checked."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.families.sequences.files.layers import tree_layers
from hushway.families.sequences.files.lists import LIST
from hushway.families.sequences.files.rows import (
    can_be_completed,
    check_sequences_parquet,
    ending_nodes,
    lines_columns,
    lists_columns,
    sequences_columns,
    sequences_csv,
    write_completed,
    write_sequences_parquet,
)
from hushway.families.sequences.files.taxonomy import grain_name, taxonomy_files
from hushway.families.sequences.files.tree import (
    NODES,
    ROOT,
    STEPS,
    levels_csv,
    prefixes_of,
    write_tree,
)
from hushway.families.sequences.fit.table import RecordTable, SequenceTable
from hushway.geography.periods import Periods
from hushway.release.folder.published_file import (
    Description,
    PublishedFile,
    describe_files,
    periods_file,
)
from hushway.release.forecast.known import KNOWN, Known, known_sums, sure_share


def known_records(table: SequenceTable | RecordTable) -> Known:
    """Returns how much is known of first stops, and of ways from the first stop to the second."""
    if isinstance(table, RecordTable):
        going_on = int(table.counts[np.diff(table.start) > 1].sum())
        return _known(table.parent, table.prefix_counts, table.prefix_errors, going_on)
    stops = table.grains == table.taxonomy.grains - 1
    noise = np.array([step.standard_error for step in table.steps], dtype=np.float64)
    return _known(prefixes_of(table), table.counts * stops, noise[table.step])


def _known(
    before: IntArray, counts: IntArray, errors: FloatArray, going_on: int | None = None
) -> Known:
    """Returns how much is known of prefixes.

    Args:
        before: The prefix before each; ROOT at the first stop.
        counts: How many records begin with each.
        errors: The standard error of each.
        going_on: How many records have two stops or more; None if all of their prefixes are here.
    """
    first = before == ROOT
    second = ~first & first[before]
    ways = counts[second]
    hidden = None if going_on is None else float(going_on - ways.sum())
    return Known(
        counted="records of two stops or more",
        cells="prefixes of two stops",
        sure=sure_share([(ways, errors[second])], hidden=hidden),
        sums=(known_sums("first stops", counts[first], errors[first]),),
    )


PARQUET = "sequences.parquet"
CSV = "sequences.csv"
TREE = "tree.parquet"
LEVELS = "levels.csv"
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
        KNOWN: known_records(table).sentence,
    }
    return describe_files(FILES, tree, facts, tree_layers(table, tree.prefix))


def facts_fit(facts: Mapping[str, Any]) -> bool:
    """Whether facts of a data package say enough about a tree to read it."""
    return type(facts["times"]) is bool and type(facts["fit"]) is dict


SequenceFile = PublishedFile[TreeView, TreeView]

FILES: tuple[SequenceFile, ...] = (
    SequenceFile(
        path=PARQUET,
        title="Sequences of stops",
        description="The distinct published sequences. A count is the number of records that are "
        "published with these stops and no further ones. It carries noise on purpose. A sequence "
        "without a row is not known to be absent: prefixes measured below the threshold of their "
        "step were cut, and what had gone on below them counts as ending where they were cut.",
        columns=lambda tree: lists_columns(tree.table),
        write=lambda tree, path: write_sequences_parquet(tree.table, tree.prefix, path),
        check=lambda tree, path: check_sequences_parquet(tree.table, tree.prefix, path),
        finding="sequences",
    ),
    SequenceFile(
        path=CSV,
        title="Sequences of stops",
        description=f"The same sequences as {PARQUET}; stops are joined by ' > '. A '>' or "
        "'\\' that belongs to an id has a '\\' before it.",
        columns=lambda tree: lines_columns(tree.table),
        parts=lambda tree: sequences_csv(tree.table, tree.prefix),
        finding="sequences",
    ),
    SequenceFile(
        path=TREE,
        title="Tree of prefixes",
        description="Every prefix that was kept, with what was measured and what is published; "
        "parents stand before their children. A count is never below the sum of those of its "
        "children.",
        columns=NODES,
        write=lambda tree, path: write_tree(tree.table, path),
    ),
    SequenceFile(
        path=LEVELS,
        title="Steps of the tree",
        description="One row for every step: how many candidates there were, from which noisy "
        "count on they were kept, how many were, and how large the noise is.",
        columns=STEPS,
        parts=lambda tree: [levels_csv(tree.table.taxonomy, tree.table.steps)],
        is_source=True,
    ),
    *taxonomy_files(lambda tree: tree.table.taxonomy),
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
        columns=lambda tree: sequences_columns(LIST, tree.table.taxonomy.locations),
        write=lambda tree, path: write_completed(tree.table, path),
        is_there=lambda tree: can_be_completed(tree.table),
    ),
)
