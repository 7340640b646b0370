"""Audits as rows of a table: where they take place, who is there, what is seen and what is claimed.

A `Case` is an audit of the suite. Its stage is made for a product and an epsilon, so that the same
row examines the real product and every planted mistake.
"""

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from typing import Any

from hushway.auditing.agreement import AlwaysSame, SameLaw
from hushway.auditing.bounds import runs_needed
from hushway.auditing.harness import Examination, Sampler, Trial, World
from hushway.auditing.law import ChanceCheck, Moments, ParityCheck, VarianceCheck
from hushway.auditing.product import Scene
from hushway.auditing.shift import DELTA, ShiftCheck, claim_of, most_of_gaussian, rounded_up
from hushway.privacy.accounting import best_epsilon
from hushway.privacy.bound import Bound
from hushway.privacy.calibration import counting_event
from hushway.privacy.loss import Loss, PureLoss, ZCDPLoss

PERSON = ("the person", "nobody")
OTHERS = ("the person", "the others")
ONE_OR_OTHER = ("the one", "the other")


@dataclass(frozen=True, eq=False)
class Case:
    """One audit.

    Attributes:
        statistic: What the whole number of a run is.
        look: What is seen of a release on that stage: a `Look`, or what else its sampler takes.
        claim: What is claimed about them; `Loses()` unless said.
        effort: How many times the runs that are asked for it takes; may depend on epsilon.
        other_stage: Makes the stage of the second world, if it is another one.
    """

    name: str
    statistic: str
    _: KW_ONLY
    stage: Callable[[Any, Fraction], Any]
    look: Any
    one: Scene = ()
    other: Scene = ()
    words: tuple[str, str] = PERSON
    claim: "Claim | None" = None
    effort: Fraction | Callable[[Fraction], Fraction] = Fraction(1)
    other_stage: Callable[[Any, Fraction], Any] | None = None

    def __call__(self, product: Any, epsilon: Fraction) -> Examination:
        """Returns what has to be examined of a product that claims an epsilon."""
        return (self.claim or Loses())(self.on(product, epsilon))

    def on(self, product: Any, epsilon: Fraction) -> "Staged":
        """Returns the case on its stage."""
        stage = self.stage(product, epsilon)
        other = stage if self.other_stage is None else self.other_stage(product, epsilon)
        effort = self.effort(epsilon) if callable(self.effort) else self.effort
        return Staged(case=self, epsilon=epsilon, stage=stage, other=other, effort=effort)


@dataclass(frozen=True, kw_only=True, eq=False)
class Staged:
    """A case on its stage."""

    case: Case
    epsilon: Fraction
    stage: Any
    other: Any
    effort: Fraction

    @property
    def terms(self) -> dict[str, Any]:
        """Name, statistic, claim and effort, as examinations take them."""
        return {
            "name": self.case.name,
            "statistic": self.case.statistic,
            "epsilon": self.epsilon,
            "delta": Fraction(0) if isinstance(self.stage.spend, PureLoss) else DELTA,
            "effort": self.effort,
        }

    @property
    def rho(self) -> Fraction:
        """The rho that the stage spends."""
        spend: Loss = self.stage.spend
        assert isinstance(spend, ZCDPLoss)  # noqa: S101  a claim about Gaussian noise
        return spend.rho

    @property
    def worlds(self) -> tuple[World, World]:
        """The two neighbouring inputs."""
        case, (one, other) = self.case, self.case.words
        return (
            World(words=one, sample=self.sample),
            World(words=other, sample=self.other.sampler(case.other, case.look)),
        )

    @property
    def sample(self) -> Sampler:
        """Runs the first world."""
        sampler: Sampler = self.stage.sampler(self.case.one, self.case.look)
        return sampler


Claim = Callable[[Staged], Examination]
"""Says what must hold for a case."""


@dataclass(frozen=True, kw_only=True)
class Loses:
    """At most a share of epsilon, or what rho is worth at the audits' delta.

    Attributes:
        share: The share that the statistic can see; 0 claims that nothing tells the worlds apart.
        tight: Whether correct code all but reaches it; then showing less is a mistake too.
    """

    share: Fraction = Fraction(1)
    tight: bool = False

    def __call__(self, on: Staged) -> Trial:
        """Returns the claim about two worlds."""
        spend = on.stage.spend
        epsilon = claim_of(spend) if isinstance(spend, ZCDPLoss) else on.epsilon
        terms = on.terms | {"epsilon": self.share * epsilon}
        return Trial(**terms, worlds=on.worlds, tight=self.tight)


@dataclass(frozen=True)
class Accounted:
    """What the accountant derives for so many equal shares of rho, at the audits' delta.

    It follows from what was charged for, not from what a mechanism says it does.

    Attributes:
        bound: How far a person moves each measurement on a stage; by 1 unless said.
    """

    measurements: int = 1
    bound: Callable[[Any], Bound] = lambda _stage: Bound(cells=1, each=1, total=1)

    def __call__(self, on: Staged) -> Trial:
        """Returns the claim about two worlds."""
        share = ZCDPLoss(on.rho / self.measurements)
        event = counting_event("audit", 1, share, self.bound(on.stage))
        claim = rounded_up(best_epsilon([event] * self.measurements, DELTA).epsilon)
        return Trial(**on.terms | {"epsilon": claim}, worlds=on.worlds)


@dataclass(frozen=True, kw_only=True)
class Shifts:
    """A statistic moves by no more standard deviations than rho allows.

    Attributes:
        rhos: How many times the rho of one person, if the worlds differ by more or less.
        tight: Whether it moves as far, but for a fixed share.
        most: How many standard deviations a rho allows; a sum of Gaussian numbers unless said.
    """

    rhos: Fraction = Fraction(1)
    tight: bool = False
    most: Callable[[Fraction], float] = most_of_gaussian

    def __call__(self, on: Staged) -> ShiftCheck:
        """Returns the claim about two worlds."""
        most = self.most(self.rhos * on.rho)
        return ShiftCheck(**on.terms, worlds=on.worlds, most=most, tight=self.tight)


def never_differs(on: Staged) -> AlwaysSame:
    """Claims that what is seen, a number of differences, is always 0."""
    return AlwaysSame(**on.terms | {"delta": Fraction(0)}, sample=on.sample)


def same_law(on: Staged) -> SameLaw:
    """Claims that both worlds have one law."""
    return SameLaw(**on.terms | {"epsilon": Fraction(0)}, worlds=on.worlds)


@dataclass(frozen=True)
class HasVariance:
    """The statistic has mean 0 and the moments of a law that follows from the stage."""

    law: Callable[[Any], Moments]

    def __call__(self, on: Staged) -> VarianceCheck:
        """Returns the claim about the first world."""
        return VarianceCheck(**on.terms, law=self.law(on.stage), sample=on.sample)


@dataclass(frozen=True)
class HasChance:
    """The statistic is not 0 with a probability that follows from the stage."""

    chance: Callable[[Any], float]

    def __call__(self, on: Staged) -> ChanceCheck:
        """Returns the claim about the first world."""
        return ChanceCheck(**on.terms, chance=self.chance(on.stage), sample=on.sample)


@dataclass(frozen=True)
class IsWhole:
    """The statistic is a whole number, odd as often as Laplace noise for a share of epsilon."""

    share: Fraction = Fraction(1)

    def __call__(self, on: Staged) -> ParityCheck:
        """Returns the claim about the first world."""
        return ParityCheck(**on.terms, scale=1 / (self.share * on.epsilon), sample=on.sample)


def runs_for(
    likely: float | Callable[[Fraction], float], share: Fraction = Fraction(1)
) -> Callable[[Fraction], Fraction]:
    """Returns the effort of showing a share of epsilon by an event of some probability."""

    def effort(epsilon: Fraction) -> Fraction:
        chance = likely(epsilon) if callable(likely) else likely
        return Fraction(runs_needed(share * epsilon, chance), runs_needed(epsilon))

    return effort


def cases_of(module: Mapping[str, Any]) -> tuple[Case, ...]:
    """Returns every audit that a module has defined, in their order."""
    return tuple(value for value in module.values() if isinstance(value, Case))
