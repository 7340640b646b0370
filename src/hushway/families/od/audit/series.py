"""What twelve steps of a series must not give away together, and what must be caught of it.

A person who travels in every step may lose the budget of a span. Each step is a release of its own:
with its own counter, key, curator and budget, a twelfth of the span's. Somebody may go by what was
published before, and ask the next step otherwise.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property, partial

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.auditing.cases import Case, Shifts, cases_of, never_differs
from hushway.auditing.harness import Sampler, as_many, evidence, in_thousandths
from hushway.auditing.mutant_curators import Meddler, exactly
from hushway.auditing.product import blind, remade
from hushway.auditing.suite import mutant
from hushway.families.od.audit.fitted import (
    EVIDENCE,
    FITTED_TOY,
    LEARNED,
    all_counts,
    both_features,
)
from hushway.families.od.audit.stage import ODProduct, ODStage, Part, Scene, staged
from hushway.families.od.files.others import noisy_answers
from hushway.families.od.fit.learning.series import NoisyStep
from hushway.families.od.fit.table import ODTable
from hushway.families.od.mechanism.learned import Learned, od_learned
from hushway.families.od.public.cells import ODCells
from hushway.families.od.public.features import Feature
from hushway.privacy.curator import Curator
from hushway.privacy.loss import Loss, loss_of
from hushway.privacy.measured import Measured
from hushway.release.mechanism import Measurements
from hushway.release.others import OtherStep

STEPS = 12
OpenStep = Callable[[], Curator]


@dataclass(frozen=True, kw_only=True)
class SeriesStage(ODStage):
    """Steps with the same rows, which spend the budget of a span together."""

    @property
    def reserved(self) -> Loss:
        """What one step spends."""
        return loss_of(self.spend.measure, self.spend.amount / STEPS)

    def made(self) -> Learned:
        """Returns the mechanism of a step."""
        return od_learned(self.universe, both_features(self.universe), budget=self.reserved)

    @cached_property
    def questions(self) -> tuple[Learned, Learned]:
        """What a step may ask: for one of two sums, and for the cells."""
        one, other = (
            self.product.mechanism(od_learned(self.universe, (sums,), budget=self.reserved))
            for sums in both_features(self.universe)
        )
        return one, other

    def sampler(self, scene: Scene, look: Callable[..., IntArray]) -> Sampler:
        """Returns a way to run a scene: as many series as it takes."""
        rows = self.play(scene)
        return lambda runs: as_many(lambda: look(self, lambda: self._opened(rows)), runs)


def evidence_of_steps(stage: SeriesStage, open_step: OpenStep) -> IntArray:
    """Returns how much all steps of a corner speak for a trip in each.

    What a corner is asked depends on that so far. All of them are asked both, and the answer to the
    other question is not looked at, as if it had not been given.
    """
    ratio = np.zeros(stage.toy.corners)
    for _ in range(STEPS):
        one, other = (_evidence(stage, asked, open_step()) for asked in stage.questions)
        ratio += np.where(ratio > 0, one, other)
    return in_thousandths(ratio)


def _evidence(stage: SeriesStage, asked: Learned, curator: Curator) -> FloatArray:
    """Returns how much one step speaks for a trip in the first cell of each corner."""
    first = np.arange(stage.toy.corners)
    ratio = np.zeros(len(first))
    cells, sums = asked.measure(curator, stage.universe)
    for answer, element in ((cells, first), (sums, asked.features[0].of(first))):
        assert isinstance(answer, Measured)  # noqa: S101  a toy is never lazy
        ratio += evidence(answer.values[element], answer.event, 1)
    return ratio


@dataclass(frozen=True)
class Differences:
    """Which corners of a step change if it is fitted by the real mechanism, from the same answers.

    Attributes:
        step: Which one is fitted; it learns from all steps but itself that have been published.
        published: How many there are.
    """

    step: int
    published: int

    def __call__(self, stage: SeriesStage, open_step: OpenStep) -> IntArray:
        """Returns how many counts of each corner change."""
        real, universe = stage.made(), stage.universe
        steps = [stage.mechanism.measure(open_step(), universe) for _ in range(self.published)]
        others = tuple(
            OtherStep(
                stated={"release": f"{at}", "seal": "", "steps_away": self.step - at},
                answers=partial(noisy_answers, real, answers),
            )
            for at, answers in enumerate(steps)
        )
        once, again = (
            all_counts(replace(mechanism, others=others).fit(steps[self.step], universe))
            for mechanism in (stage.mechanism, real)
        )
        return np.asarray(stage.toy.by_corner((once != again).astype(np.int64)).sum(axis=0))


_WORDS = f"{LEARNED.words}, twelve steps"
TWELVE_STEPS = Case(
    f"{_WORDS}, asked by what was published before: a trip in each or none",
    EVIDENCE,
    stage=partial(staged, toy=FITTED_TOY, kind=SeriesStage, gaussian=True),
    look=evidence_of_steps,
    one=(Part(),),
    words=("the person", "nobody"),
    claim=Shifts(tight=True),
    effort=Fraction(1, 2),
)
LEARNT_STEP = Case(
    f"{_WORDS}, the last one published: the same table from the same noisy answers",
    "tables fitted twice",
    stage=partial(staged, toy=FITTED_TOY, kind=SeriesStage, gaussian=True),
    look=Differences(step=STEPS - 1, published=STEPS),
    one=(Part(),),
    claim=never_differs,
    effort=Fraction(1, 50),
)
REVISED_STEP = Case(
    f"{_WORDS}, the first one revised: the same table from the same noisy answers",
    "tables fitted twice",
    stage=partial(staged, toy=FITTED_TOY, kind=SeriesStage, gaussian=True),
    look=Differences(step=0, published=STEPS),
    one=(Part(),),
    claim=never_differs,
    effort=Fraction(1, 50),
)

AUDITS = cases_of(globals())


class MeasuredTwice(Learned):
    """Steps that are charged once and measured twice."""

    def measure(self, curator: Curator, geography: ODCells) -> Measurements:
        """Returns the mean of two answers to each question."""
        twice = (super(MeasuredTwice, self).measure(curator, geography) for _ in range(2))
        return tuple(
            replace(one, values=(one.values + other.values) // 2)
            for one, other in zip(*twice, strict=True)
            if isinstance(one, Measured) and isinstance(other, Measured)
        )


@dataclass(frozen=True, kw_only=True)
class _Keeper(Learned):
    """Steps that keep exact counts for later; those of all steps are the same here."""

    kept: list[Measured] = field(default_factory=list)

    def measure(self, curator: Curator, geography: ODCells) -> Measurements:
        """Measures what is to be measured, and looks at the exact counts of all cells."""
        measured = super().measure(curator, geography)
        self.kept.append(exactly(curator, measured[0]))
        return measured


class Rereader(_Keeper):
    """Steps that learn from the rows of other steps, not from what these have published."""

    def fit(self, measured: Measurements, geography: ODCells) -> ODTable:
        """Fits with cells of other steps that have no noise."""
        others = tuple(replace(one, answers=partial(self._reread, one)) for one in self.others)
        return Learned.fit(replace(self, others=others), measured, geography)

    def _reread(
        self, other: OtherStep, universe: ODCells, features: tuple[Feature, ...]
    ) -> NoisyStep:
        assert other.answers is not None  # noqa: S101  the audit has all of them
        step: NoisyStep = other.answers(universe, features)
        return replace(step, cells=self.kept[0].values.reshape(step.cells.shape))


class Reviser(_Keeper):
    """Steps whose revisions look at rows again."""

    def fit(self, measured: Measurements, geography: ODCells) -> ODTable:
        """Fits with cells that have no noise, once later steps are out."""
        later = any(other.stated["steps_away"] < 0 for other in self.others)
        return super().fit((self.kept[0], *measured[1:]) if later else measured, geography)


MUTANTS = (
    mutant(
        "a step that is charged once and measured twice",
        ODProduct(mechanism=remade(MeasuredTwice), budget=blind),
        TWELVE_STEPS,
    ),
    mutant(
        "learning from the rows of other steps",
        ODProduct(curator=Meddler, mechanism=remade(Rereader)),
        LEARNT_STEP,
    ),
    mutant(
        "a revision that reads rows",
        ODProduct(curator=Meddler, mechanism=remade(Reviser)),
        REVISED_STEP,
    ),
)
