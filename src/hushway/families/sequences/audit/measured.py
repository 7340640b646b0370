"""What the noisy answers of a prefix tree must not give away: one step, all, or with times."""

import math
from fractions import Fraction

from hushway.audit.bounds import runs_needed
from hushway.audit.harness import Examination, Trial, World
from hushway.audit.law import ChanceCheck, gaussian_tail
from hushway.audit.product import Look
from hushway.audit.shift import DELTA, ShiftCheck, gaussian_trial, most_of_rho, rho_of
from hushway.families.sequences.audit.looks import (
    CornerTotal,
    FirstStep,
    PathEvidence,
    PathLoss,
    PublishedPath,
)
from hushway.families.sequences.audit.product import (
    BRANCHED,
    CROWDED,
    GROUPED,
    HOURS,
    HYBRID,
    NO_WALKS,
    PAIRED,
    STOPS,
    TIMED,
    SequenceProduct,
    TreeForm,
    TreeStage,
    Walk,
)
from hushway.privacy.loss import PureLoss

_EVIDENCE = "the evidence of all steps together, in thousandths,"
MAX_RECORDS = 3
# Fewer runs where a release has few corners and the claim is not meant to be all but reached.
_BRIEF, _SLOW = Fraction(1, 2), Fraction(1, 5)
_BRANCHES = 50
# So many that no noise of these audits hides a path.
_MANY_PEOPLE = 40


def first_step(product: SequenceProduct, epsilon: Fraction) -> Examination:
    """One record against none, seen in the first step alone: it gets its share and no more."""
    stage = TreeStage(product=product, form=GROUPED, spend=PureLoss(epsilon))
    look = FirstStep(stage=stage, places=(0, 1))
    share = epsilon / GROUPED.steps
    return Trial(
        name="first step: one record or none",
        statistic="the noisy count of its first group (0 if it is not kept)",
        epsilon=share,
        worlds=stage.worlds(look.first, ("the person", (Walk(stops=(0,)),))),
        tight=True,
        effort=_effort(epsilon, share, 1 / (1 + math.exp(-share))),
    )


def one_record(form: TreeForm, product: SequenceProduct, epsilon: Fraction) -> Examination:
    """One record against none: what all steps give away must add up to epsilon, no more."""
    stage = TreeStage(product=product, form=form, spend=PureLoss(epsilon))
    path = (0, 1)[: form.height]
    look = PathEvidence(stage=stage, path=path)
    tight = form is not HYBRID
    return Trial(
        name=f"{form.words}: one record or none",
        statistic=_EVIDENCE,
        epsilon=epsilon,
        worlds=stage.worlds(look.seen, ("the person", (Walk(stops=path),))),
        tight=tight,
        effort=for_all_steps(form, epsilon, 1) if tight else _SLOW,
    )


def long_record(product: SequenceProduct, epsilon: Fraction) -> Examination:
    """A record five times as long as the tree is high: only its first stops may count."""
    stage = TreeStage(product=product, form=STOPS, spend=PureLoss(epsilon))
    look = PathEvidence(stage=stage, path=(0, 1))
    return Trial(
        name=f"{STOPS.words}: a record of {5 * STOPS.height} stops or none",
        statistic=_EVIDENCE,
        epsilon=epsilon,
        worlds=stage.worlds(look.seen, ("the person", (Walk(stops=(0, 1) * 5),))),
        effort=_BRIEF,
    )


def many_records(product: SequenceProduct, epsilon: Fraction) -> Examination:
    """Ten identical records of one person against none: the limit, and noise for all it leaves."""
    stage = TreeStage(
        product=product, form=GROUPED, spend=PureLoss(epsilon), max_records=MAX_RECORDS
    )
    look = PathEvidence(stage=stage, path=(0,), records=MAX_RECORDS)
    return Trial(
        name=f"{GROUPED.words}: ten records of one person or none",
        statistic=_EVIDENCE,
        epsilon=epsilon,
        worlds=stage.worlds(look.seen, ("the person", (Walk(stops=(0,), times=10),))),
        tight=True,
        effort=for_all_steps(GROUPED, epsilon, MAX_RECORDS),
    )


def many_branches(product: SequenceProduct, epsilon: Fraction) -> Examination:
    """Fifty records of one person in as many branches: the limit holds over all together."""
    stage = TreeStage(
        product=product, form=BRANCHED, spend=PureLoss(epsilon), max_records=MAX_RECORDS
    )
    look = CornerTotal(stage=stage)
    scene = tuple(Walk(stops=(place,)) for place in range(_BRANCHES))
    return Trial(
        name=f"{BRANCHED.words}: fifty records of one person in different branches or none",
        statistic="the sum of all noisy counts that are kept",
        epsilon=epsilon,
        worlds=stage.worlds(look.seen, ("the person", scene)),
    )


def two_groups(product: SequenceProduct, epsilon: Fraction) -> Examination:
    """One record against none, looked for in two groups: it may count in one of them only."""
    stage = TreeStage(product=product, form=PAIRED, spend=PureLoss(epsilon))
    look = FirstStep(stage=stage, places=(0, PAIRED.toy.places))
    return Trial(
        name="first step: a record in one of two groups or in none",
        statistic="the smaller noisy count of two groups (0 unless both are kept)",
        epsilon=epsilon / PAIRED.steps,
        worlds=stage.worlds(look.smaller, ("the person", (Walk(stops=(0,)),))),
    )


def at_the_threshold(product: SequenceProduct, epsilon: Fraction) -> Examination:
    """One more person in a group whose exact count then reaches the threshold."""
    stage = TreeStage(product=product, form=CROWDED, spend=PureLoss(epsilon))
    look = FirstStep(stage=stage, places=(0, 1))
    crowd = tuple(Walk(stops=(0,), person=person) for person in range(CROWDED.threshold))
    share = epsilon / CROWDED.steps
    return Trial(
        name="first step: one more person at the threshold",
        statistic="the noisy count of the group (0 if it is not kept)",
        epsilon=share,
        worlds=stage.worlds(look.first, ("the person", crowd), ("one person fewer", crowd[1:])),
        tight=True,
        effort=_effort(epsilon, share, 1 / (1 + math.exp(-share))),
    )


def busy_group(product: SequenceProduct, epsilon: Fraction) -> Examination:
    """One more person in a group that many are in: they need noise as well."""
    stage = TreeStage(product=product, form=GROUPED, spend=PureLoss(epsilon))
    look = FirstStep(stage=stage, places=(0, 1))
    crowd = tuple(Walk(stops=(0,), person=person) for person in range(_MANY_PEOPLE))
    share = epsilon / GROUPED.steps
    return Trial(
        name=f"first step: {_MANY_PEOPLE} people or one fewer",
        statistic="the noisy count of their group",
        epsilon=share,
        worlds=stage.worlds(look.first, ("all", crowd), ("one fewer", crowd[1:])),
        tight=True,
        effort=_effort(epsilon, share, 1 / (1 + math.exp(-share))),
    )


def step_less_another(product: SequenceProduct, epsilon: Fraction) -> Examination:
    """Somebody who ends where all others go on: a step less the next is as noisy as both."""
    stage = TreeStage(product=product, form=STOPS, spend=PureLoss(epsilon))
    look = PathLoss(stage=stage, path=(0, 1))
    crowd = tuple(Walk(stops=(0, 1), person=1 + person) for person in range(_MANY_PEOPLE))
    return Trial(
        name=f"{STOPS.words}: one step less another",
        statistic="how many fewer are noisily counted at the second stop than at the first",
        epsilon=epsilon,
        worlds=stage.worlds(
            look.seen, ("the person", (*crowd, Walk(stops=(0,)))), ("the others", crowd)
        ),
        effort=_BRIEF,
    )


def for_all_steps(form: TreeForm, epsilon: Fraction, records: int) -> Fraction:
    """Returns the effort of showing all steps together.

    All of epsilon shows only if every noisy count is at least what the records make it; with them,
    each is so with probability 1/(1 + a), a = exp(-1/scale).
    """
    once = 1 / (1 + math.exp(-epsilon / (form.steps * records)))
    return _effort(epsilon, epsilon, once**form.steps)


def _effort(epsilon: Fraction, claim: Fraction, likely: float) -> Fraction:
    """Returns how many times the runs of one measurement of epsilon a claim needs."""
    return Fraction(runs_needed(claim, likely), runs_needed(epsilon))


def one_gaussian_record(product: SequenceProduct, epsilon: Fraction) -> Examination:
    """One record against none: all steps together are worth what the accountant derives."""
    stage = _stage(product, epsilon)
    look = PathEvidence(stage=stage, path=(0,))
    return gaussian_trial(
        name=f"Gaussian, {GROUPED.words}: one record or none",
        statistic=_EVIDENCE,
        epsilon=epsilon,
        worlds=stage.worlds(look.seen, ("the person", (Walk(stops=(0,)),))),
    )


def many_gaussian_records(product: SequenceProduct, epsilon: Fraction) -> Examination:
    """Ten identical records of one person: all that count may fall into one candidate."""
    stage = _stage(product, epsilon, max_records=MAX_RECORDS)
    look = PathEvidence(stage=stage, path=(0,), records=MAX_RECORDS)
    return ShiftCheck(
        name=f"Gaussian, {GROUPED.words}: ten records of one person fit rho",
        statistic=_EVIDENCE,
        epsilon=epsilon,
        delta=DELTA,
        worlds=stage.worlds(look.seen, ("the person", (Walk(stops=(0,), times=10),))),
        # Below the threshold all counts are alike, so the evidence is no sum of Gaussian numbers.
        most=most_of_rho(rho_of(epsilon).rho),
    )


def empty_group(product: SequenceProduct, epsilon: Fraction) -> Examination:
    """A group that nobody is in is kept as often as the noise of its step says."""
    stage = _stage(product, epsilon, max_records=MAX_RECORDS)
    look = FirstStep(stage=stage, places=(0, 1)).first
    rho = rho_of(epsilon).rho / GROUPED.steps
    return ChanceCheck(
        name="Gaussian, first step: a group that nobody is in",
        statistic="it is kept",
        epsilon=epsilon,
        delta=DELTA,
        chance=gaussian_tail(MAX_RECORDS**2 / (2 * rho), GROUPED.threshold),
        sample=stage.sampler(NO_WALKS, look),
    )


def _stage(product: SequenceProduct, epsilon: Fraction, max_records: int = 1) -> TreeStage:
    return TreeStage(product=product, form=GROUPED, spend=rho_of(epsilon), max_records=max_records)


# What a tree whose stops keep their times must not give away.
#
# A stop is a place and an hour, and no stop of a record is before the one before it.

_PATH, _PERIODS = (0, 1), (1, 2)
_RECORD = Walk(stops=_PATH, periods=_PERIODS)
_TIMED_BRIEF = Fraction(1, 4)


def one_timed_record(product: SequenceProduct, epsilon: Fraction) -> Examination:
    """One record against none: what places and times give away must add up to epsilon, no more."""
    stage = TreeStage(product=product, form=TIMED, spend=PureLoss(epsilon))
    look = PathEvidence(stage=stage, path=_PATH, periods=_PERIODS)
    return Trial(
        name=f"{TIMED.words}: one record or none",
        statistic="the evidence of all steps together, in thousandths,",
        epsilon=epsilon,
        worlds=_against_none(stage, look.seen),
        tight=True,
        effort=for_all_steps(TIMED, epsilon, 1),
    )


def two_periods(product: SequenceProduct, epsilon: Fraction) -> Examination:
    """One record against none, looked for at two hours: it may count at one of them only."""
    stage = TreeStage(product=product, form=HOURS, spend=PureLoss(epsilon))
    look = FirstStep(stage=stage, places=(0, 0), periods=(1, 2))
    return Trial(
        name=f"{HOURS.words}: a record at one of two hours or at none",
        statistic="the smaller noisy count of two hours (0 unless both are kept)",
        epsilon=epsilon,
        worlds=_against_none(stage, look.smaller, Walk(stops=(0,), periods=(1,))),
    )


def unseen_prefix(product: SequenceProduct, epsilon: Fraction) -> Examination:
    """A prefix with one record against one that nobody took, published with their times."""
    stage = TreeStage(product=product, form=TIMED, spend=PureLoss(epsilon))
    look = PublishedPath(stage=stage, path=_PATH, periods=_PERIODS)
    return Trial(
        name=f"{TIMED.words}, published: a prefix with one record or one that nobody took",
        statistic="1 plus the published counts along its path (0 if it is not published)",
        epsilon=epsilon,
        worlds=_against_none(stage, look.seen),
        effort=_TIMED_BRIEF,
    )


def _against_none(stage: TreeStage, look: Look, record: Walk = _RECORD) -> tuple[World, World]:
    return stage.worlds(look, ("the person", (record,)))
