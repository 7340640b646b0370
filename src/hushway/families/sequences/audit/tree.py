"""What prefix trees must not give away: single steps, all of them, the published tree, files."""

import math
from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np

from hushway.auditing.cases import (
    OTHERS,
    Case,
    HasChance,
    Loses,
    Shifts,
    cases_of,
    never_differs,
    runs_for,
    same_law,
)
from hushway.auditing.law import gaussian_tail
from hushway.auditing.mutant_counters import WrongAnswers
from hushway.auditing.product import Product, exact_values
from hushway.auditing.shift import most_of_rho
from hushway.families.sequences.audit.stage import (
    BRANCHED,
    CROWDED,
    GROUPED,
    HOURS,
    HYBRID,
    PAIRED,
    SMALL,
    STOPS,
    TIMED,
    SequenceStage,
    TreeForm,
    Walk,
    Walks,
    staged,
)
from hushway.families.sequences.audit.tree_looks import (
    FirstStep,
    PathEvidence,
    PublishedPath,
    corner_total,
    lost_on_the_way,
    other_questions,
)
from hushway.privacy.query import ExactCounts

_EVIDENCE = "the evidence of all steps together, in thousandths,"
_COUNTS = "1 plus the published counts along its path (0 if it is not published)"
MAX_RECORDS = 3
# Fewer runs where a release has few corners and the claim is not meant to be all but reached.
_HALF, _BRIEF, _FIFTH, _SLOW = (Fraction(1, times) for times in (2, 4, 5, 20))
# So many that no noise of these audits hides a path.
_MANY_PEOPLE = 40


def enumerated(product: Product) -> Product:
    """Returns a product that names, and draws, every candidate by itself, as theory has it."""
    return replace(
        product,
        counter=lambda rows, stage, source: WrongAnswers(
            product.counter(rows, stage, source),
            lambda counter, query: ExactCounts(
                cells=np.arange(query.cells.size), values=exact_values(counter, query)
            ),
        ),
    )


def _enumerated(product: Product, epsilon: Fraction, *, form: TreeForm) -> SequenceStage:
    return staged(enumerated(product), epsilon, form=form)


def _each(form: TreeForm, epsilon: Fraction, records: int = 1) -> float:
    """Returns the chance that the noisy count of a step is at least what the records make it.

    It is 1/(1 + a), a = exp(-1/scale).
    """
    return 1 / (1 + math.exp(-epsilon / (form.steps * records)))


def _all(form: TreeForm, epsilon: Fraction, records: int = 1) -> float:
    """Returns the chance that all of epsilon shows: every step has such a count."""
    return _each(form, epsilon, records) ** form.steps


def _path(form: TreeForm) -> tuple[int, ...]:
    return (0, 1)[: form.height]


def _people(number: int, *stops: int) -> Walks:
    return tuple(Walk(stops=stops, person=1 + person) for person in range(number))


_RECORD = (Walk(stops=(0,)),)
_TEN = (Walk(stops=(0,), times=10),)
_SHARE = Fraction(1, GROUPED.steps)
_CROWD = tuple(Walk(stops=(0,), person=person) for person in range(_MANY_PEOPLE))
_grouped = partial(staged, form=GROUPED)
_several = partial(_grouped, max_records=MAX_RECORDS)

# One record against none, seen in the first step alone: it gets its share and no more.
FIRST_STEP = Case(
    "first step: one record or none",
    "the noisy count of its first group (0 if it is not kept)",
    stage=_grouped,
    look=FirstStep().first,
    one=_RECORD,
    claim=Loses(share=_SHARE, tight=True),
    effort=runs_for(partial(_each, GROUPED), _SHARE),
)


def _one_record(form: TreeForm, *, tight: bool = True) -> Case:
    """What all steps give away of one record must add up to epsilon, no more."""
    return Case(
        f"{form.words}: one record or none",
        _EVIDENCE,
        stage=partial(staged, form=form),
        look=PathEvidence(_path(form)),
        one=(Walk(stops=_path(form)),),
        claim=Loses(tight=tight),
        effort=runs_for(partial(_all, form)) if tight else _FIFTH,
    )


ONE_RECORD = _one_record(GROUPED)
ONE_RECORD_OF_STOPS = _one_record(STOPS)
ONE_RECORD_AS_PLANNED = _one_record(HYBRID, tight=False)
# Only the first stops may count.
LONG_RECORD = Case(
    f"{STOPS.words}: a record of {5 * STOPS.height} stops or none",
    _EVIDENCE,
    stage=partial(staged, form=STOPS),
    look=PathEvidence((0, 1)),
    one=(Walk(stops=(0, 1) * 5),),
    effort=_HALF,
)
# The limit, and noise for all it leaves.
MANY_RECORDS = Case(
    f"{GROUPED.words}: ten records of one person or none",
    _EVIDENCE,
    stage=_several,
    look=PathEvidence((0,), records=MAX_RECORDS),
    one=_TEN,
    claim=Loses(tight=True),
    effort=runs_for(partial(_all, GROUPED, records=MAX_RECORDS)),
)
# The limit holds over all branches together.
MANY_BRANCHES = Case(
    f"{BRANCHED.words}: fifty records of one person in different branches or none",
    "the sum of all noisy counts that are kept",
    stage=partial(staged, form=BRANCHED, max_records=MAX_RECORDS),
    look=corner_total,
    one=tuple(Walk(stops=(place,)) for place in range(50)),
)
# A record may count in one group only.
TWO_GROUPS = Case(
    "first step: a record in one of two groups or in none",
    "the smaller noisy count of two groups (0 unless both are kept)",
    stage=partial(staged, form=PAIRED),
    look=FirstStep((0, PAIRED.toy.places)).smaller,
    one=_RECORD,
    claim=Loses(share=Fraction(1, PAIRED.steps)),
)
# One more person in a group whose exact count then reaches the threshold.
AT_THE_THRESHOLD = replace(
    FIRST_STEP,
    name="first step: one more person at the threshold",
    statistic="the noisy count of the group (0 if it is not kept)",
    stage=partial(staged, form=CROWDED),
    one=_CROWD[: CROWDED.threshold],
    other=_CROWD[1 : CROWDED.threshold],
    words=("the person", "one person fewer"),
)
# Where many people are, they need noise as well.
BUSY_GROUP = replace(
    FIRST_STEP,
    name=f"first step: {_MANY_PEOPLE} people or one fewer",
    statistic="the noisy count of their group",
    one=_CROWD,
    other=_CROWD[1:],
    words=("all", "one fewer"),
)
# Somebody who ends where all others go on: a step less the next is as noisy as both.
STEP_LESS_ANOTHER = Case(
    f"{STOPS.words}: one step less another",
    "how many fewer are noisily counted at the second stop than at the first",
    stage=partial(staged, form=STOPS),
    look=lost_on_the_way,
    one=(*_people(_MANY_PEOPLE, 0, 1), Walk(stops=(0,))),
    other=_people(_MANY_PEOPLE, 0, 1),
    words=OTHERS,
    effort=_HALF,
)
# With times, a stop is a place and an hour, and no stop of a record is before the one before it.
_TIMED = (Walk(stops=(0, 1), periods=(1, 2)),)
ONE_TIMED_RECORD = Case(
    f"{TIMED.words}: one record or none",
    _EVIDENCE,
    stage=partial(staged, form=TIMED),
    look=PathEvidence((0, 1), periods=(1, 2)),
    one=_TIMED,
    claim=Loses(tight=True),
    effort=runs_for(partial(_all, TIMED)),
)
# A record may count at one hour only.
TWO_PERIODS = Case(
    f"{HOURS.words}: a record at one of two hours or at none",
    "the smaller noisy count of two hours (0 unless both are kept)",
    stage=partial(staged, form=HOURS),
    look=FirstStep((0, 0), periods=(1, 2)).smaller,
    one=(Walk(stops=(0,), periods=(1,)),),
)
UNSEEN_TIMED_PREFIX = Case(
    f"{TIMED.words}, published: a prefix with one record or one that nobody took",
    _COUNTS,
    stage=partial(staged, form=TIMED),
    look=PublishedPath((0, 1), periods=(1, 2)),
    one=_TIMED,
    effort=_BRIEF,
)
# All steps together are worth what the accountant derives.
ONE_GAUSSIAN_RECORD = Case(
    f"Gaussian, {GROUPED.words}: one record or none",
    _EVIDENCE,
    stage=partial(_grouped, gaussian=True),
    look=PathEvidence((0,)),
    one=_RECORD,
)
# All that count may fall into one candidate. Below the threshold all counts are alike, so the
# evidence is no sum of Gaussian numbers.
MANY_GAUSSIAN_RECORDS = Case(
    f"Gaussian, {GROUPED.words}: ten records of one person fit rho",
    _EVIDENCE,
    stage=partial(_several, gaussian=True),
    look=PathEvidence((0,), records=MAX_RECORDS),
    one=_TEN,
    claim=Shifts(most=most_of_rho),
)
# It is kept as often as the noise of its step says.
EMPTY_GROUP = Case(
    "Gaussian, first step: a group that nobody is in",
    "it is kept",
    stage=partial(_several, gaussian=True),
    look=FirstStep().first,
    claim=HasChance(
        lambda stage: gaussian_tail(
            MAX_RECORDS**2 * GROUPED.steps / (2 * stage.spend.rho), GROUPED.threshold
        )
    ),
)
# Two days in each of five files: three days count.
MANY_DAYS = Case(
    "files: ten days of one person in five files or none",
    "the noisy count of the first group (0 if it is not kept)",
    stage=partial(_several, in_files=True),
    look=FirstStep().first,
    one=_TEN,
    claim=Loses(share=_SHARE, tight=True),
    effort=runs_for(0.5, _SHARE),
)


def _unseen_prefix(form: TreeForm, effort: Fraction) -> Case:
    """Both the prefix that one record took and the one that nobody took must show often."""
    return Case(
        f"{form.words}, published: a prefix with one record or one that nobody took",
        _COUNTS,
        stage=partial(staged, form=form),
        look=PublishedPath(_path(form)),
        one=(Walk(stops=_path(form)),),
        words=("the record", "no record"),
        effort=effort,
    )


UNSEEN_GROUP = _unseen_prefix(GROUPED, Fraction(1))
UNSEEN_STOPS = _unseen_prefix(STOPS, _BRIEF)
PUBLISHED_RECORDS = Case(
    f"{GROUPED.words}, published: ten records of one person or none",
    _COUNTS,
    stage=_several,
    look=PublishedPath((0,)),
    one=_TEN,
)
# Drawing empty candidates together has the same law as drawing one by one.
ONE_STEP_ENUMERATED = Case(
    "first step: candidates drawn together or one by one",
    "the noisy counts of a group with two records and of an empty one",
    stage=partial(staged, form=PAIRED),
    other_stage=partial(_enumerated, form=PAIRED),
    look=FirstStep((0, PAIRED.toy.places)).packed,
    one=_CROWD[:2],
    other=_CROWD[:2],
    words=("a shortcut", "enumeration"),
    claim=same_law,
)
_THREE = (Walk(stops=(0, 1)), Walk(stops=(0, 1), person=1), Walk(stops=(0,), person=2))
TREE_ENUMERATED = Case(
    f"{SMALL.words}, published: candidates drawn together or one by one",
    "the number of nodes of a corner together with the counts along a path",
    stage=partial(staged, form=SMALL),
    other_stage=partial(_enumerated, form=SMALL),
    look=PublishedPath((0, 1)).packed,
    one=_THREE,
    other=_THREE,
    words=("a shortcut", "enumeration"),
    claim=same_law,
    effort=_BRIEF,
)
NEXT_QUESTIONS = Case(
    f"{SMALL.words}: the same answers, the same next questions",
    "questions about the candidates of a corner, with records and without",
    stage=partial(staged, form=SMALL),
    look=other_questions,
    one=(Walk(stops=(0, 1)),),
    claim=never_differs,
    effort=_SLOW,
)

AUDITS = cases_of(globals())
