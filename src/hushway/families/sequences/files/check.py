"""Sequences as the files of a release: what is refused before, and what can be checked after."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from hushway.errors import PrivacyError, ReleaseError
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
from hushway.families.sequences.files.rows import can_be_completed, check_completed, ending_nodes
from hushway.families.sequences.files.taxonomy import check_levels, read_taxonomy
from hushway.families.sequences.files.tree import (
    TreeShape,
    prefixes_of,
    read_levels,
    read_tree,
    shape_of,
)
from hushway.families.sequences.fit.table import SequenceTable, StepSummary
from hushway.families.sequences.mechanism.steps import PlannedStep
from hushway.families.sequences.mechanism.terms import FAMILY, stated_terms
from hushway.families.sequences.mechanism.tree import PrefixTree
from hushway.families.sequences.public.prefixes import SequenceUniverse
from hushway.families.sequences.public.taxonomy import Taxonomy
from hushway.geography.locations import Labels, Locations
from hushway.geography.periods import Periods
from hushway.privacy.certificate import Certificate
from hushway.privacy.certificate.parts import plain
from hushway.progress import Progress
from hushway.release.folder.finding import Notes
from hushway.release.folder.published_file import PERIODS, Description, check_files, write_files
from hushway.release.formats.places import periods_csv, read_periods
from hushway.release.terms import (
    TERMS_HOLD,
    check_domain,
    check_release_type,
    check_terms,
    is_noise,
    refuse_numbers,
)
from hushway.release.untrusted.limits import LIST_BYTES, PAPER_BYTES, read_plain


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


def _completed(folder: Path, tree: TreeView) -> tuple[bool, str]:
    count = check_completed(tree.table, tree.prefix, folder / COMPLETED)
    return True, f"The {count:,} records of {COMPLETED} begin with every prefix as the tree says."


def check_tree(table: SequenceTable) -> TreeShape:
    """Makes sure that a tree is made of published numbers.

    Raises:
        PrivacyError: It is not.
    """
    _check_public(table)
    numbers = (table.measured, table.counts, table.ends)
    for column in (table.parent, table.step, table.period, table.code, *numbers):
        whole = isinstance(column, np.ndarray) and column.dtype == np.int64 and column.ndim == 1
        if not whole or len(column) != len(table.parent):
            _refuse("The columns of the tree are not whole numbers, one for each node.")
    _check_steps(table)
    plain("diagnostics of the fit", table.diagnostics)
    try:
        return shape_of(table)
    except ReleaseError as problem:
        _refuse(str(problem))


def check_lists(table: SequenceTable) -> None:
    """Makes sure that a verifier can read the public lists back from their files.

    Raises:
        ReleaseError: It could not.
    """
    check_levels(table.taxonomy)
    periods = table.periods
    if periods is not None and read_periods(periods_csv(periods)).digest != periods.digest:
        raise ReleaseError(
            "The periods would not be the same when read back from the release.",
            advice="Use plain text for the name of the time zone.",
        )


def _check_public(table: SequenceTable) -> None:
    # The very classes: a subclass might carry more than what is public.
    taxonomy = table.taxonomy
    if type(taxonomy) is not Taxonomy or type(taxonomy.locations) is not Locations:
        _refuse("The taxonomy of the tree is not one of public places.")
    if any(type(level) is not Labels for level in taxonomy.levels):
        _refuse("The groups of the tree are not public labels.")
    if table.periods is not None and type(table.periods) is not Periods:
        _refuse("The periods of the tree are not public ones.")


def _check_steps(table: SequenceTable) -> None:
    if type(table.steps) is not tuple or any(type(step) is not StepSummary for step in table.steps):
        _refuse("The steps of the tree are not a tuple of summaries.")
    for step in table.steps:
        whole = (step.stop, step.grain, step.candidates, step.threshold, step.kept)
        if any(type(number) is not int for number in whole) or step.kept < 0:
            _refuse("A step of the tree is not described by whole numbers.")
        if not isinstance(step.standard_error, float):
            _refuse("The standard error of a step is not a number.")


def _refuse(message: str) -> NoReturn:
    raise PrivacyError(message, advice="Publish only what a mechanism's `fit` returned.")


def check_stated(certificate: Certificate, table: SequenceTable, shape: TreeShape) -> None:
    """Makes sure that a certificate states the terms of a tree.

    Privacy:
        Every step was announced, with its noise and its threshold, before anything was measured;
        steps that were not taken are spent on and stand apart.

    Raises:
        ReleaseError: It states other terms, a step has other noise or another threshold, or the
            tree goes on where it must stop, or stops where it must go on.
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


@dataclass(frozen=True)
class SequencesContents:
    """A tree of sequences, ready to be written."""

    table: SequenceTable

    def check(self, certificate: Certificate) -> None:
        """Makes sure that the tree is one and belongs to the certificate.

        Raises:
            PrivacyError: The tree is not made of published numbers.
            ReleaseError: The certificate was made for other public lists or other steps.
        """
        check_stated(certificate, self.table, check_tree(self.table))
        check_lists(self.table)

    @property
    def description(self) -> Description:
        """What the data package says about the files."""
        return describe(self._tree)

    def write(self, folder: Path, progress: Progress) -> None:
        """Writes every file of the description into a folder."""
        write_files(FILES, self._tree, folder, progress)

    def picture(self, certificate: Certificate) -> bytes:
        """Returns the first stops, the strongest ways between stops and the lengths, as PNG."""
        # Matplotlib takes longest of all to load and is needed for nothing else.
        from hushway.families.sequences.files.picture import draw_sequences_picture

        return draw_sequences_picture(self.table, certificate)

    @cached_property
    def _tree(self) -> TreeView:
        return TreeView(table=self.table, prefix=prefixes_of(self.table))
