"""Refuses trees that hold anything but the numbers of a release."""

from typing import NoReturn

import numpy as np

from hushway.errors import PrivacyError, ReleaseError
from hushway.families.sequences.files.formats.taxonomy import check_levels
from hushway.families.sequences.files.tree_shape import TreeShape, shape_of
from hushway.families.sequences.mechanism.table import SequenceTable, StepSummary
from hushway.families.sequences.public.taxonomy import Taxonomy
from hushway.geography.labels import Labels
from hushway.geography.locations import Locations
from hushway.geography.periods import Periods
from hushway.privacy.certificate.plain import plain
from hushway.release.formats.places import periods_csv, read_periods


def check_tree(table: SequenceTable) -> TreeShape:
    """Makes sure that a tree is made of published numbers.

    Raises:
        PrivacyError: It is not.
    """
    _check_public(table)
    columns = (
        table.parent,
        table.step,
        table.period,
        table.code,
        table.measured,
        table.counts,
        table.ends,
    )
    for column in columns:
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
