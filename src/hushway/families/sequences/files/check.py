"""What can be checked about the files of a sequences release without the protected data."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from hushway.families.sequences.files.completed import can_be_completed, check_completed
from hushway.families.sequences.files.guard import check_stated
from hushway.families.sequences.files.levels import read_levels
from hushway.families.sequences.files.paths import ending_nodes
from hushway.families.sequences.files.published import (
    COMPLETED,
    CSV,
    FILES,
    LEVELS,
    LOCATIONS,
    PARQUET,
    TAXONOMY,
    TREE,
    TreeView,
    describe,
)
from hushway.families.sequences.files.taxonomy import read_taxonomy
from hushway.families.sequences.files.tree import read_tree
from hushway.families.sequences.files.tree_shape import TreeShape, shape_of
from hushway.families.sequences.mechanism.table import SequenceTable
from hushway.families.sequences.public.prefixes import SequenceUniverse
from hushway.privacy.certificate import Certificate
from hushway.privacy.certificate.parts import plain
from hushway.release.bounded import LIST_BYTES, PAPER_BYTES, read_plain
from hushway.release.finding import Notes
from hushway.release.formats.places import read_periods
from hushway.release.published_file import PERIODS, check_files
from hushway.release.resource import Description
from hushway.release.stated import TERMS_HOLD, check_domain


def check_sequences(
    notes: Notes, folder: Path, certificate: Certificate, facts: Mapping[str, Any]
) -> Description | None:
    """Checks geography, tree, steps and sequences.

    Args:
        notes: Where the findings go.
        folder: The release.
        certificate: Its certificate.
        facts: What its data package says about the tree.

    Returns:
        The description that the data package must give; None when the tree cannot be read.
    """
    universe = notes.attempt("geography", lambda: _universe(folder, certificate, facts))
    if universe is None:
        return None
    found = notes.attempt("tree", lambda: _tree(folder, universe, facts))
    if found is None:
        return None
    table, shape = found
    tree = TreeView(table=table, prefix=shape.prefix)
    notes.attempt("terms", lambda: _terms(certificate, table, shape))
    notes.attempt("sequences", lambda: _sequences(folder, tree))
    if can_be_completed(table):
        notes.attempt("completed", lambda: _completed(folder, tree))
    return describe(tree)


def _universe(
    folder: Path, certificate: Certificate, facts: Mapping[str, Any]
) -> tuple[SequenceUniverse, str]:
    universe = SequenceUniverse(
        taxonomy=read_taxonomy(
            read_plain(folder / TAXONOMY, LIST_BYTES), read_plain(folder / LOCATIONS, LIST_BYTES)
        ),
        periods=read_periods(read_plain(folder / PERIODS, LIST_BYTES)) if facts["times"] else None,
    )
    check_domain(certificate, universe)
    return universe, f"The public lists give the {universe.size:,} stops of the certificate."


def _tree(
    folder: Path, universe: SequenceUniverse, facts: Mapping[str, Any]
) -> tuple[tuple[SequenceTable, TreeShape], str]:
    steps = read_levels(read_plain(folder / LEVELS, PAPER_BYTES), universe.taxonomy)
    read = read_tree(folder / TREE, universe.taxonomy, universe.periods, steps)
    table = replace(read, diagnostics=plain("diagnostics of the fit", facts["fit"]))
    shape = shape_of(table)
    nodes = len(table.parent)
    return (table, shape), (
        f"{nodes:,} nodes in {len(steps)} steps: each was a public candidate of its step, and no "
        "count is below the sum of those below it."
    )


def _terms(certificate: Certificate, table: SequenceTable, shape: TreeShape) -> tuple[bool, str]:
    check_stated(certificate, table, shape)
    return True, TERMS_HOLD


def _sequences(folder: Path, tree: TreeView) -> tuple[bool, str]:
    check_files(FILES, tree, folder, "sequences")
    count = len(ending_nodes(tree.table))
    return True, f"{PARQUET} and {CSV} hold the {count:,} sequences that end in the tree."


def _completed(folder: Path, tree: TreeView) -> tuple[bool, str]:
    count = check_completed(tree.table, tree.prefix, folder / COMPLETED)
    return True, f"The {count:,} records of {COMPLETED} begin with every prefix as the tree says."
