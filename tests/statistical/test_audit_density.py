"""The real density code passes its audits, and every planted mistake is caught.

False alarms: every Clopper-Pearson bound is wrong with probability 1e-9 at most and a finding uses
four of them; a variance, or a shift in standard deviations, may be off by eight standard errors;
the number of runs leaves the same margin for showing 80% of the claim; cuts must lie as far from
their chances as happens once in 1e12 times; exact divergences need no runs. The findings here are
wrong together with probability below 1e-6.

Misses: a mistake counts as caught only if an audit proves more than is claimed, or a shift, a
variance or an exact sum is wrong. Noise that cancels, sites from the data, a total or a histogram
that is not cut off and the exact number of people have an outcome that one world has nearly always
and the other never: 10,000 counted runs prove ln(10,000/21) = 6.1, and 2,500 prove 4.7. Clusters
from exact totals and visits of 3.5 parts differ in every release. The others move a known
projection too far: the root of 9 for a wrong sensitivity or bound, the root of 8 for eight sites in
a bin, six times for 24 visits instead of 4, 1.5 for sixteen over 28 bins instead of 4, 1.75 for the
subtraction, the root of 3 for three circles, the root of 2 for a budget spent twice. In 20,000
runs, or 5,000 through files, these lie more than six standard errors beyond what would pass. Noise
of half the width moves one question twice as far as it should, 1.33 standard deviations instead of
0.67 at epsilon 4, where 1,000 runs have an error of 0.05; and a quarter of a variance lies 17
standard errors of 1,000 runs below it. Cuts at twice the rate lie hundreds of standard deviations
from their chances. Each miss has probability below 1e-9.
"""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from hushway.audit.bounds import runs_needed
from hushway.audit.harness import Trial
from hushway.audit.product import BlindBudget
from hushway.audit.suite import Audit, Mutant
from hushway.families.density.audit import cuts as density_cuts
from hushway.families.density.audit import measured as density_measured
from hushway.families.density.audit import whole as density_whole
from hushway.families.density.audit.mutant_curators import unsplit
from hushway.families.density.audit.product import DensityProduct
from hushway.families.density.audit.suite import SUITE

# Quick ones, of every kind of question. `make test-long` makes all, at epsilon 1 as well.
IN_EVERY_RUN = {
    "cell_totals",
    "exact_divergence",
    "fresh_bins",
    "fresh_cells",
    "nine_visits",
    "one_visit_is_one",
}
# Enough to catch a wrong claim that is not meant to be tight; the command line takes more.
FEWER_RUNS = 20_000
# A release a run, of which a thousand say little about epsilon 4. The command line takes more.
ONLY_AT_ONE = (density_whole.published_area, density_whole.published_clusters)
# What needs more runs at epsilon 1 than there is time for here.
ONLY_AT_FOUR = (
    density_cuts.four_cells,
    density_whole.many_batches,
    density_whole.many_weeks,
    density_measured.naive_laplace,
    density_whole.all_questions,
    density_whole.noise_of_questions,
)

CASES: list[Any] = [
    pytest.param(
        audit,
        Fraction(epsilon),
        id=f"{audit.__name__}, {epsilon}",
        marks=() if epsilon > 1 and audit.__name__ in IN_EVERY_RUN else pytest.mark.long,
    )
    for epsilon in (1, 4)
    for audit in SUITE.audits
    if audit not in (ONLY_AT_ONE if epsilon > 1 else ONLY_AT_FOUR)
]


def affordable(mutant: Mutant[DensityProduct], epsilon: int) -> Mutant[DensityProduct]:
    """A mutant with the audits that there is time for."""
    if epsilon > 1:
        return mutant
    return replace(mutant, audits=tuple(a for a in mutant.audits if a not in ONLY_AT_FOUR))


MUTANTS: list[Any] = [
    pytest.param(affordable(mutant, epsilon), Fraction(epsilon), id=f"{mutant.name}, {epsilon}")
    for epsilon in (1, 4)
    for mutant in SUITE.mutants
    if affordable(mutant, epsilon).audits
]


@pytest.mark.parametrize(("audit", "epsilon"), CASES)
def test_the_real_code_loses_what_it_claims(
    audit: Audit[DensityProduct], epsilon: Fraction
) -> None:
    examination = audit(SUITE.real, epsilon)
    full = isinstance(examination, Trial) and examination.tight
    finding = examination.examine(runs_needed(epsilon) if full else FEWER_RUNS)
    assert finding.passed, f"{finding.event}. {finding.reason}"


@pytest.mark.long
@pytest.mark.parametrize(("mutant", "epsilon"), MUTANTS)
def test_a_planted_mistake_is_caught_by_every_audit_made_for_it(
    mutant: Mutant[DensityProduct], epsilon: Fraction
) -> None:
    # Not `passed`: with so few runs an audit may also miss its share of the claim.
    finding = mutant.hunt(epsilon, FEWER_RUNS)
    made_for_it = [audit(mutant.product, epsilon).name for audit in mutant.audits]
    assert finding.by.split("; ") == made_for_it


@pytest.mark.long
def test_a_budget_that_was_not_split_shows_in_all_questions_together() -> None:
    # Each question for the price of all moves by 1.33 standard deviations instead of 0.67, and all
    # of them by 2.66 instead of 1.33; chance explains 0.7 of it, and a miss lies seven standard
    # errors away.
    product = DensityProduct(mechanism=unsplit, budget=lambda _unit, _spend: BlindBudget())
    assert not density_whole.all_questions(product, Fraction(4)).examine(FEWER_RUNS).passed
