"""What the published tree must not give away, and that every public candidate was in the draw."""

from dataclasses import replace
from fractions import Fraction

import numpy as np

from hushway.audit.agreement import AlwaysSame, SameLaw
from hushway.audit.harness import Examination, Trial, World
from hushway.families.sequences.audit.forms import GROUPED, PAIRED, SMALL
from hushway.families.sequences.audit.looks import FirstStep, PublishedPath
from hushway.families.sequences.audit.measured import MAX_RECORDS
from hushway.families.sequences.audit.product import SequenceProduct, TreeForm, TreeStage
from hushway.families.sequences.audit.replay import NextQuestions
from hushway.families.sequences.audit.toy import NO_WALKS, Walk
from hushway.privacy.bound import Bound
from hushway.privacy.query import Counter, ExactCounts, Query
from hushway.privacy.unit import Unit

_COUNTS = "1 plus the published counts along its path (0 if it is not published)"
_BRIEF, _SLOW = Fraction(1, 4), Fraction(1, 20)


def unseen_prefix(form: TreeForm, product: SequenceProduct, epsilon: Fraction) -> Examination:
    """A prefix that one record took against one that nobody took: both must be published often."""
    stage = TreeStage(product=product, form=form, epsilon=epsilon)
    path = (0, 1)[: form.height]
    look = PublishedPath(stage=stage, path=path)
    return Trial(
        name=f"{form.words}, published: a prefix with one record or one that nobody took",
        statistic=_COUNTS,
        epsilon=epsilon,
        worlds=(
            World(words="the record", sample=stage.sampler((Walk(stops=path),), look.seen)),
            World(words="no record", sample=stage.sampler(NO_WALKS, look.seen)),
        ),
        effort=Fraction(1) if form.height == 1 else _BRIEF,
    )


def many_records(product: SequenceProduct, epsilon: Fraction) -> Examination:
    """Ten identical records of one person against none, in the published tree."""
    stage = TreeStage(product=product, form=GROUPED, epsilon=epsilon, max_records=MAX_RECORDS)
    look = PublishedPath(stage=stage, path=(0,))
    return Trial(
        name=f"{GROUPED.words}, published: ten records of one person or none",
        statistic=_COUNTS,
        epsilon=epsilon,
        worlds=(
            World(
                words="the person", sample=stage.sampler((Walk(stops=(0,), times=10),), look.seen)
            ),
            World(words="nobody", sample=stage.sampler(NO_WALKS, look.seen)),
        ),
    )


def one_step_enumerated(product: SequenceProduct, epsilon: Fraction) -> Examination:
    """One step, with empty candidates drawn together and one by one: the same law."""
    short = TreeStage(product=product, form=PAIRED, epsilon=epsilon)
    whole = TreeStage(product=enumerated(product), form=PAIRED, epsilon=epsilon)
    scene = (Walk(stops=(0,)), Walk(stops=(0,), person=1))
    places = 0, PAIRED.village.places
    return SameLaw(
        name="first step: candidates drawn together or one by one",
        statistic="the noisy counts of a group with two records and of an empty one",
        worlds=(
            World(
                words="a shortcut",
                sample=short.sampler(scene, FirstStep(stage=short, places=places).packed),
            ),
            World(
                words="enumeration",
                sample=whole.sampler(scene, FirstStep(stage=whole, places=places).packed),
            ),
        ),
    )


def tree_enumerated(product: SequenceProduct, epsilon: Fraction) -> Examination:
    """The published tree of two steps, drawn together and one by one: the same law."""
    short = TreeStage(product=product, form=SMALL, epsilon=epsilon)
    whole = TreeStage(product=enumerated(product), form=SMALL, epsilon=epsilon)
    scene = (Walk(stops=(0, 1)), Walk(stops=(0, 1), person=1), Walk(stops=(0,), person=2))
    path = 0, 1
    return SameLaw(
        name=f"{SMALL.words}, published: candidates drawn together or one by one",
        statistic="the number of nodes of a corner together with the counts along a path",
        worlds=(
            World(
                words="a shortcut",
                sample=short.sampler(scene, PublishedPath(stage=short, path=path).packed),
            ),
            World(
                words="enumeration",
                sample=whole.sampler(scene, PublishedPath(stage=whole, path=path).packed),
            ),
        ),
        effort=_BRIEF,
    )


def next_questions(product: SequenceProduct, epsilon: Fraction) -> Examination:
    """The same noisy answers with and without records: the tree must ask the same next."""
    stage = TreeStage(product=product, form=SMALL, epsilon=epsilon)
    look = NextQuestions(stage=stage, others=NO_WALKS)
    return AlwaysSame(
        name=f"{SMALL.words}: the same answers, the same next questions",
        statistic="questions about the candidates of a corner, with records and without",
        epsilon=epsilon,
        sample=stage.sampler((Walk(stops=(0, 1)),), look.differ),
        effort=_SLOW,
    )


def enumerated(product: SequenceProduct) -> SequenceProduct:
    """Returns a product that draws every candidate by itself, as theory has it."""
    return replace(
        product,
        counter=lambda rows, terms, source: EveryCandidate(product.counter(rows, terms, source)),
    )


class EveryCandidate:
    """A counter that names all candidates, so that no noise is drawn for several together."""

    def __init__(self, counter: Counter) -> None:
        self._counter = counter

    @property
    def unit(self) -> Unit:
        """Who is protected."""
        return self._counter.unit

    def bound(self, query: Query) -> Bound:
        """Returns the bound of the counter."""
        return self._counter.bound(query)

    def count(self, query: Query) -> ExactCounts:
        """Returns the counts of all candidates, 0 where there are no records."""
        exact = self._counter.count(query)
        values = np.zeros(query.cells.size, dtype=np.int64)
        values[exact.cells] = exact.values
        return ExactCounts(cells=np.arange(query.cells.size), values=values)
