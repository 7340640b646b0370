"""The real sequences code passes its audits, and every planted mistake is caught.

False alarms: every Clopper-Pearson bound is wrong with probability 1e-9 at most and a finding uses
four of them; two laws must differ as samples of one law do once in 1e12 times; a shift in standard
deviations may be off by eight standard errors; the number of runs
leaves the same margin for showing 80% of the claim. The findings here are wrong together with
probability below 1e-6.

Misses: a mistake counts as caught only if an audit proves more than is claimed, or two laws differ.
An outcome that never happens in 2,500 counted runs proves ln(2,500/21) = 4.8 if the other world
always has it, and 4.2 if it has it more than half the time: candidates from the data have such
outcomes. A tree that peeps asks less in every release. All others lose twice the claim or more;
the closest is the whole budget for every step at epsilon 4, where outcomes of probability 0.96 and
0.0003 are counted 5,000 times and 4 would need 30 of the latter where 2 are expected. Gaussian
noise for records that never share a candidate moves the evidence by 0.8 standard deviations where
0.48 would pass, and chance explains 0.11; at epsilon 4 by 3.6 where 2.2 would. Each miss has
probability below 1e-9.
"""

from fractions import Fraction
from functools import partial
from typing import Any

import pytest

from hushway.audit.bounds import runs_needed
from hushway.audit.harness import Trial
from hushway.audit.suite import Audit, Mutant
from hushway.families.sequences.audit import learnt as sequences_learnt
from hushway.families.sequences.audit import measured as sequences_measured
from hushway.families.sequences.audit import published as sequences_published
from hushway.families.sequences.audit.looks import PublishedPath
from hushway.families.sequences.audit.product import (
    NO_WALKS,
    REAL_SEQUENCES,
    STOPS,
    SequenceProduct,
    TreeStage,
)
from hushway.families.sequences.audit.suite import SUITE
from hushway.privacy.loss import PureLoss

# Enough to catch a wrong claim that is not meant to be tight; the command line takes more.
FEWER_RUNS = 20_000
# Quick ones, of every kind of question. `make test-long` makes all, at epsilon 1 as well.
IN_EVERY_RUN = {
    "learnt.new_stops",
    "measured.at_the_threshold",
    "measured.busy_group",
    "measured.empty_group",
    "measured.first_step",
    "measured.long_record",
    "measured.one_gaussian_record",
    "measured.one_record, one stop by group and place",
    "measured.two_periods",
    "published.next_questions",
    "published.tree_enumerated",
    "published.unseen_prefix, two stops",
}


def words(audit: Audit[SequenceProduct]) -> str:
    if isinstance(audit, partial):
        return f"{words(audit.func)}, {audit.args[0].words}"
    return f"{audit.__module__.rpartition('.')[2]}.{audit.__name__}"


def is_slow(audit: Audit[SequenceProduct]) -> bool:
    """Two stops have few corners, files and fits are slow, and epsilon 1 needs the most runs."""
    if audit in (sequences_measured.one_timed_record, sequences_published.many_days):
        return True
    if (audit.func if isinstance(audit, partial) else audit) in vars(sequences_learnt).values():
        return True
    return (
        isinstance(audit, partial)
        and audit.func is sequences_measured.one_record
        and audit.args[0].height > 1
    )


CASES: list[Any] = [
    pytest.param(
        audit,
        Fraction(epsilon),
        id=f"{words(audit)}, {epsilon}",
        marks=() if epsilon > 1 and words(audit) in IN_EVERY_RUN else pytest.mark.long,
    )
    for epsilon in (1, 4)
    for audit in SUITE.audits
    if epsilon > 1 or not is_slow(audit)
]


@pytest.mark.parametrize(("audit", "epsilon"), CASES)
def test_the_real_code_loses_what_it_claims(
    audit: Audit[SequenceProduct], epsilon: Fraction
) -> None:
    examination = audit(SUITE.real, epsilon)
    full = isinstance(examination, Trial) and examination.tight
    finding = examination.examine(runs_needed(epsilon) if full else FEWER_RUNS)
    assert finding.passed, f"{finding.event}. {finding.reason}"


MUTANTS: list[Any] = [
    pytest.param(mutant, Fraction(epsilon), id=f"{mutant.name}, {epsilon}")
    for epsilon in (1, 4)
    for mutant in SUITE.mutants
    if epsilon > 1 or not any(map(is_slow, mutant.audits))
]


@pytest.mark.long
@pytest.mark.parametrize(("mutant", "epsilon"), MUTANTS)
def test_a_planted_mistake_is_caught_by_every_audit_made_for_it(
    mutant: Mutant[SequenceProduct], epsilon: Fraction
) -> None:
    # Not `passed`: with so few runs an audit may also miss its share of the claim.
    finding = mutant.hunt(epsilon, FEWER_RUNS)
    made_for_it = [audit(mutant.product, epsilon).name for audit in mutant.audits]
    assert finding.by.split("; ") == made_for_it


def test_a_prefix_that_nobody_took_is_published_now_and_then() -> None:
    # With probability 0.119 squared at each of 4,000 corners: not at all once in 10^24 times.
    stage = TreeStage(product=REAL_SEQUENCES, form=STOPS, spend=PureLoss(Fraction(4)))
    look = PublishedPath(stage=stage, path=(0, 1))
    seen = stage.sampler(NO_WALKS, look.seen)(4000)
    assert (seen > 0).any()
    assert not (seen > 0).all()
