"""Refuses trees that hold anything but the numbers of a release."""

import math
from collections.abc import Sequence
from typing import NoReturn

import numpy as np

from hushway.errors import PrivacyError, ReleaseError
from hushway.families.sequences.files.taxonomy import check_levels
from hushway.families.sequences.files.tree_shape import TreeShape, shape_of
from hushway.families.sequences.mechanism.steps import PlannedStep
from hushway.families.sequences.mechanism.table import SequenceTable, StepSummary
from hushway.families.sequences.mechanism.terms import FAMILY, stated_terms
from hushway.families.sequences.mechanism.tree import PrefixTree
from hushway.families.sequences.public.prefixes import SequenceUniverse
from hushway.families.sequences.public.taxonomy import Taxonomy
from hushway.geography.labels import Labels
from hushway.geography.locations import Locations
from hushway.geography.periods import Periods
from hushway.privacy.certificate import Certificate
from hushway.privacy.certificate.parts import plain
from hushway.release.formats.places import periods_csv, read_periods
from hushway.release.stated import check_domain, check_family, check_terms, is_noise, refuse_numbers


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


def check_stated(certificate: Certificate, table: SequenceTable, shape: TreeShape) -> None:
    """Makes sure that a certificate states the terms of a tree.

    Privacy:
        Every step was announced, with its noise and its threshold, before anything was measured;
        steps that were not taken are paid for and stand apart.

    Args:
        certificate: The certificate.
        table: The tree.
        shape: What follows from its nodes.

    Raises:
        ReleaseError: It states other terms, a step has other noise or another threshold, or the
            tree goes on where it must stop, or stops where it must go on.
    """
    check_family(certificate, FAMILY)
    universe = SequenceUniverse(taxonomy=table.taxonomy, periods=table.periods)
    check_domain(certificate, universe)
    planned, mechanism = stated_terms(certificate, universe)
    if not 0 < len(table.steps) <= len(planned.events):
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
