"""Sequences as the files of a release: what is refused before, and what can be checked after."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from hushway.errors import ReleaseError
from hushway.families.sequences.files.learnt import RecordsContents, check_records
from hushway.families.sequences.files.published import (
    COMPLETED,
    CSV,
    FILES,
    LEVELS,
    PARQUET,
    TREE,
    TreeView,
    describe,
)
from hushway.families.sequences.files.rows import can_be_completed, check_completed, ending_nodes
from hushway.families.sequences.files.taxonomy import check_levels, check_public, read_universe
from hushway.families.sequences.files.tree import (
    TreeShape,
    prefixes_of,
    read_levels,
    read_tree,
    shape_of,
)
from hushway.families.sequences.fit.table import RecordTable, SequenceTable, StepSummary
from hushway.families.sequences.mechanism.learned import LEARNED
from hushway.families.sequences.mechanism.steps import PlannedStep
from hushway.families.sequences.mechanism.terms import FAMILY, SequenceMechanism, stated_terms
from hushway.families.sequences.mechanism.tree import PrefixTree
from hushway.families.sequences.public.prefixes import SequenceUniverse
from hushway.geography.periods import Periods
from hushway.privacy.certificate import Certificate
from hushway.privacy.certificate.parts import plain
from hushway.release.folder.finding import Notes
from hushway.release.folder.guard import check_reads_back, is_column, refuse
from hushway.release.folder.published_file import Contents, Description, TableContents, check_files
from hushway.release.formats.places import periods_csv, read_periods
from hushway.release.terms import (
    TERMS_HOLD,
    check_domain,
    check_release_type,
    check_terms,
    is_noise,
    refuse_numbers,
)
from hushway.release.untrusted.limits import PAPER_BYTES, read_plain


def check_sequences(
    notes: Notes, folder: Path, certificate: Certificate, facts: Mapping[str, Any]
) -> Description | None:
    """Checks geography, tree, steps and sequences, as `Family.check` asks."""
    universe = notes.attempt("geography", lambda: _universe(folder, certificate, facts))
    if universe is None:
        return None
    found = notes.attempt("tree", lambda: _tree(folder, universe, facts))
    if found is None:
        return None
    table, shape = found
    tree = TreeView(table=table, prefix=shape.prefix)
    notes.holds("terms", lambda: check_stated(certificate, table, shape), TERMS_HOLD)
    count = len(ending_nodes(table))
    notes.holds(
        "sequences",
        lambda: check_files(FILES, tree, folder, "sequences"),
        f"{PARQUET} and {CSV} hold the {count:,} sequences that end in the tree.",
    )
    if can_be_completed(table):
        notes.attempt("completed", lambda: _completed(folder, tree))
    return describe(tree)


def _universe(
    folder: Path, certificate: Certificate, facts: Mapping[str, Any]
) -> tuple[SequenceUniverse, str]:
    universe = read_universe(folder, certificate, times=facts["times"])
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


def _completed(folder: Path, tree: TreeView) -> tuple[bool, str]:
    count = check_completed(tree.table, tree.prefix, folder / COMPLETED)
    return True, f"The {count:,} records of {COMPLETED} begin with every prefix as the tree says."


def check_tree(table: SequenceTable) -> TreeShape:
    """Makes sure that a tree is made of published numbers."""
    check_public(table.taxonomy)
    if table.periods is not None and type(table.periods) is not Periods:
        refuse("The periods of the tree are not public ones.")
    numbers = (table.measured, table.counts, table.ends)
    for column in (table.parent, table.step, table.period, table.code, *numbers):
        if not is_column(column, np.int64, len(table.parent)):
            refuse("The columns of the tree are not whole numbers, one for each node.")
    _check_steps(table)
    plain("diagnostics of the fit", table.diagnostics)
    try:
        return shape_of(table)
    except ReleaseError as problem:
        refuse(str(problem))


def check_lists(table: SequenceTable) -> None:
    """Makes sure that a verifier can read the public lists back from their files."""
    check_levels(table.taxonomy)
    periods = table.periods
    if periods is not None:
        check_reads_back(
            "The periods",
            lambda: read_periods(periods_csv(periods)).digest == periods.digest,
            "Use plain text for the name of the time zone.",
        )


def _check_steps(table: SequenceTable) -> None:
    if type(table.steps) is not tuple or any(type(step) is not StepSummary for step in table.steps):
        refuse("The steps of the tree are not a tuple of summaries.")
    for step in table.steps:
        whole = (step.stop, step.grain, step.candidates, step.threshold, step.kept)
        if any(type(number) is not int for number in whole) or step.kept < 0:
            refuse("A step of the tree is not described by whole numbers.")
        if not isinstance(step.standard_error, float):
            refuse("The standard error of a step is not a number.")


def check_stated(certificate: Certificate, table: SequenceTable, shape: TreeShape) -> None:
    """Makes sure that a certificate states the terms of a tree.

    Privacy:
        Every step was announced, with its noise and its threshold, before anything was measured;
        steps that were not taken are spent on and stand apart.
    """
    check_release_type(certificate, FAMILY)
    universe = SequenceUniverse(taxonomy=table.taxonomy, periods=table.periods)
    check_domain(certificate, universe)
    planned, mechanism = stated_terms(certificate, universe)
    if not isinstance(mechanism, PrefixTree) or not 0 < len(table.steps) <= len(planned.events):
        raise refuse_numbers("steps")
    check_terms(certificate, planned.measured([step.candidates for step in table.steps]))
    steps = mechanism.steps(universe, planned.events[0].bound)
    if not all(map(_as_planned, table.steps, steps)) or not _goes_as_far(
        mechanism, table, steps, shape.beyond
    ):
        raise refuse_numbers("steps")


def _goes_as_far(
    mechanism: PrefixTree, table: SequenceTable, steps: Sequence[PlannedStep], beyond: int
) -> bool:
    """Whether every step was one to take, and the one after the last, if any, was not."""
    kept = [step.kept for step in table.steps]
    candidates = [*(step.candidates for step in table.steps[1:]), beyond]
    taken = [
        nodes > 0 and mechanism.may_take(step, nodes=nodes, candidates=size)
        for step, nodes, size in zip(steps[1:], kept, candidates, strict=False)
    ]
    done = len(table.steps) - 1
    return all(taken[:done]) and not any(taken[done:])


def _as_planned(step: StepSummary, planned: PlannedStep) -> bool:
    return (step.stop, step.grain, step.threshold) == (
        planned.stop,
        planned.grain,
        planned.threshold,
    ) and is_noise(step.standard_error, math.sqrt(planned.law.variance))


class SequencesContents(TableContents[SequenceTable]):
    """A tree of sequences, ready to be written."""

    files = FILES
    describe = staticmethod(describe)

    @cached_property
    def view(self) -> TreeView:
        """The tree with the stop before each node."""
        return TreeView(table=self.table, prefix=prefixes_of(self.table))

    def check(self, certificate: Certificate) -> None:
        """Makes sure that the tree is one and belongs to the certificate."""
        check_stated(certificate, self.table, check_tree(self.table))
        check_lists(self.table)

    def picture(self, certificate: Certificate) -> bytes:
        """Returns the first stops, the strongest ways between stops and the lengths, as PNG."""
        # Matplotlib takes longest of all to load and is needed for nothing else.
        from hushway.families.sequences.files.picture import draw_sequences_picture

        return draw_sequences_picture(self.table, certificate)


def contents_of(table: SequenceTable | RecordTable) -> Contents:
    """Returns a table as files that can be written: a tree of prefixes, or learnt records."""
    return RecordsContents(table) if isinstance(table, RecordTable) else SequencesContents(table)


def refitting(
    folder: Path, certificate: Certificate, facts: Mapping[str, Any]
) -> tuple[SequenceMechanism, SequenceUniverse]:
    """Returns the mechanism of a release and its public cells."""
    universe, _ = _universe(folder, certificate, facts)
    _, mechanism = stated_terms(certificate, universe)
    return mechanism, universe


def check_files_of(
    notes: Notes, folder: Path, certificate: Certificate, facts: Mapping[str, Any]
) -> Description | None:
    """Checks the files of a release of either kind, as `Family.check` asks."""
    learnt = certificate.terms.mechanism.name == LEARNED
    return (check_records if learnt else check_sequences)(notes, folder, certificate, facts)
