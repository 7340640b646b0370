"""People on road links by noise on every link, and a fit that knows what a road network is.

DP-ANI moves the ends of trips and publishes exact counts, which protects nobody who drives where
few do. Here every link of the public map gets noise, whether anyone drove there or not; then what
is known of any traffic is put back: nothing is negative, what comes into a node leaves it, and
streets of one kind carry traffic of one order.
"""

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final

from hushway.errors import PlanError, PrivacyError
from hushway.families.links.fit.answers import told_apart
from hushway.families.links.fit.missing_shares import Expected
from hushway.families.links.fit.publication import FALSE_DISCOVERY_RATE
from hushway.families.links.fit.table import LinkTable, fit_links
from hushway.families.links.public.universe import (
    ClassZones,
    LeftOutCells,
    LeftOutClasses,
    LinkUniverse,
    MovementCells,
    MovementLimits,
    MovementQueryCells,
    SpeedSums,
    bound_within,
)
from hushway.privacy.accounting import rho_for
from hushway.privacy.bound import Bound
from hushway.privacy.calibration import noise_for
from hushway.privacy.loss import Loss, PureLoss, ZCDPLoss, loss_of
from hushway.privacy.query import PartitionQuery, Query
from hushway.release.mechanism import FixedQuestions, Forecast, Measurements, Question
from hushway.release.others import OtherStep, answers_of, learnt_words, stated_others
from hushway.release.terms import amounts_of

# How positions become the trips that are counted: public numbers, recorded with the mechanism.
#
# The engine does it, to each person's own positions, before anything is measured. A certificate
# names the numbers, because what a release says of the ends of trips follows from them.


@dataclass(frozen=True, kw_only=True)
class NoisyEnds:
    """Noise at the ends of trips, in addition to the noise on every count.

    Attributes:
        epsilon: What one end loses when it moves by `radius`.
        radius: Metres.
        step: Metres between the points of the grid that ends are put onto.
    """

    epsilon: Fraction
    radius: int
    step: int
    max_trips: int

    @property
    def parameters(self) -> dict[str, Any]:
        """The numbers as plain values."""
        return {**vars(self), "epsilon": str(self.epsilon)}


@dataclass(frozen=True, kw_only=True)
class Preparation:
    """How positions become trips.

    Attributes:
        gap_s: A silence of more than so many seconds ends a trip.
        most_speed: Nobody is faster than so many metres a second.
    """

    gap_s: float = 300.0
    most_speed: float = 70.0
    ends: NoisyEnds | None = None

    @property
    def parameters(self) -> dict[str, Any]:
        """The numbers as plain values."""
        return {
            "gap_s": self.gap_s,
            "most_speed": self.most_speed,
            "ends": None if self.ends is None else self.ends.parameters,
        }


USUAL: Final = Preparation()


@dataclass(frozen=True, kw_only=True)
class Spends:
    """The price of each question; None for those that are not asked.

    Attributes:
        links: Persons on links, and beginnings and ends of trips.
        classes: Persons by zone and class.
        left_out: The same as links, of items beyond the bound.
        left_out_sums: Persons beyond the bound, by class.
        speeds: Steps from the usual speed.
    """

    links: Loss
    classes: Loss | None = None
    left_out: Loss | None = None
    left_out_sums: Loss | None = None
    speeds: Loss | None = None

    def __post_init__(self) -> None:
        if (self.left_out is None) != (self.left_out_sums is None):
            raise PrivacyError(
                "What is left out is asked for by link and by class, or not at all.",
                advice="Give both a spend, or none of them.",
            )

    @property
    def losses(self) -> tuple[Loss, ...]:
        """The prices in the order in which they are spent."""
        asked = (self.links, self.classes, self.left_out, self.left_out_sums, self.speeds)
        return tuple(loss for loss in asked if loss is not None)


# Of the share of what is left out. Sums need little, and tell most where people are few.
_OF_SUMS: Final = Fraction(1, 3)


def spends_of(
    budget: Loss, *, classes: Fraction, speeds: Fraction, left_out: Fraction = Fraction(0)
) -> Spends:
    """Splits a budget: what the other questions leave goes to the links.

    Privacy:
        All spends together cost exactly `budget`.

    Raises:
        PlanError: A share is negative, or nothing is left for the links.
    """
    shares = (classes, speeds, left_out)
    if min(shares) < 0 or sum(shares) >= 1:
        raise PlanError(
            "The shares of a budget must not be negative and must leave something for the links.",
            advice="Lower the shares until they sum to less than 1.",
        )

    def part(share: Fraction) -> Loss | None:
        return loss_of(budget.measure, budget.amount * share) if share else None

    return Spends(
        links=loss_of(budget.measure, budget.amount * (1 - sum(shares))),
        classes=part(classes),
        left_out=part(left_out * (1 - _OF_SUMS)),
        left_out_sums=part(left_out * _OF_SUMS),
        speeds=part(speeds),
    )


@dataclass(frozen=True, kw_only=True)
class LinkCounts(FixedQuestions[LinkUniverse]):
    """Publishes the links that stand out from the noise, with standard errors.

    Attributes:
        limits: How much of one person counts; the engine must enforce the same.
        spends: What each question costs; which are asked decides on class sums and speeds.
        publish_above_se: A link is published if its estimate is at least this many standard errors.
        shrink_to_class: Whether links are expected to be like others of their class and zone.
        conserve: Whether what comes into a node is made to leave it, but for ends of trips.
        preparation: How positions became trips, which the engine must have done.
        others: Other steps of the series that the fit learns from.
    """

    limits: MovementLimits
    spends: Spends
    publish_above_se: float = 2.0
    shrink_to_class: bool = True
    conserve: bool = True
    preparation: Preparation = USUAL
    others: tuple[OtherStep, ...] = ()
    name: str = "link_counts"

    def __post_init__(self) -> None:
        if not (math.isfinite(self.publish_above_se) and self.publish_above_se >= 0):
            raise PrivacyError(
                "Links are shown from a number of standard errors on, not below 0.",
                advice="Set publish_above_se = 2, or 0 for all links.",
            )
        if self.spends.left_out is not None and not self.limits.left_out:
            raise PrivacyError(
                "What is left out is spent on and not counted.",
                advice="Let the limits say left_out where there is a spend for it.",
            )

    @property
    def parameters(self) -> dict[str, Any]:
        """The public parameters as plain values."""
        return {
            "noise": self.spends.links.measure.noise,
            "max_items": self.limits.max_items,
            "speed_steps": self.limits.speed_steps,
            "spends": amounts_of(self.spends),
            "publish_above_se": self.publish_above_se,
            "shrink_to_class": self.shrink_to_class,
            "conserve": self.conserve,
            "trips": self.preparation.parameters,
            **stated_others(self.others),
        }

    @property
    def losses(self) -> tuple[Loss, ...]:
        """The price."""
        return self.spends.losses

    @property
    def post_processing(self) -> tuple[str, ...]:
        """What `fit` does."""
        words = ["Counts are the most plausible ones that are not negative, given their noise."]
        words.extend(learnt_words(self.others))
        if self.spends.left_out is not None:
            words.append(
                "What the contribution bound leaves out is put back, as far as noisy counts of it "
                "tell: by link where they are large, or else by class and zone."
            )
        if self.shrink_to_class:
            words.append(
                "A link is drawn towards the noisy mean of its class and zone, by as much as the "
                "noisy counts say that such links are alike."
            )
        if self.conserve:
            words.append(
                "What comes into a node is made to leave it, but for noisy beginnings and ends of "
                "trips, by as much as the noisy counts do so."
            )
        words.append(
            "The links of a class and zone come to what was measured of them together: what is "
            "added by cutting off negative counts is taken off again."
        )
        words.append(self._shown_words)
        return tuple(words)

    @property
    def _shown_words(self) -> str:
        summed = "what is fitted to the others is published as sums by class and zone."
        if self.publish_above_se == 0:
            return f"Links above 0 are published; {summed}"
        return (
            f"Links from {self.publish_above_se:g} standard errors on are published, unless "
            "noise alone may "
            f"well explain their noisy counts: it explains at most {FALSE_DISCOVERY_RATE:.0%} of "
            f"those that are as large; {summed}"
        )

    def forecast(self, geography: LinkUniverse, bound: Bound) -> tuple[Forecast, ...]:
        """Returns the noise in what is measured; what is published carries less."""
        figures = {
            MovementCells: "travellers on a link, before the fit",
            ClassZones: "travellers of a class and zone",
            LeftOutCells: "travellers on a link beyond the bound",
            LeftOutClasses: "travellers of a class beyond the bound",
        }
        return tuple(
            Forecast(
                figure=figures[type(query.cells)],
                standard_error=math.sqrt(noise_for(spend, self.bound_of(query, bound)).variance),
                bias=0.0,
            )
            for query, spend in self.questions(geography)
            if type(query.cells) in figures
        )

    def fit(self, measured: Measurements, geography: LinkUniverse) -> LinkTable:
        """Turns noisy counts into plausible ones, and leaves out what does not stand out."""
        return self.fit_people(measured, geography, None)

    def fit_people(
        self, measured: Measurements, geography: LinkUniverse, expected: Expected | None
    ) -> LinkTable:
        """Fits by what noisy people are expected to do beyond the limit, too."""
        return fit_links(
            told_apart(measured, expected, self.limits.max_items),
            geography,
            publish_above_se=self.publish_above_se,
            shrink_to_class=self.shrink_to_class,
            conserve=self.conserve,
            steps=list(answers_of(self.others, geography)),
        )

    def bound_of(self, query: Query | PartitionQuery, bound: Bound) -> Bound:
        """Returns how far one person moves the answer to a question."""
        if isinstance(query, PartitionQuery):
            return query.bound(self.bound_of(query.base, bound))
        cells = query.cells
        if not isinstance(cells, MovementQueryCells):
            raise PrivacyError(
                "Links are asked about movements only.", advice="Report this as a bug."
            )
        return bound_within(cells, self.limits)

    def questions(self, geography: LinkUniverse) -> tuple[Question, ...]:
        """What is asked: links, beginnings and ends, and all else that has a price."""
        most = self.limits.max_items if self.limits.choices else None
        links, beyond, speeds = (
            cells(universe=geography, most=most)
            for cells in (MovementCells, LeftOutCells, SpeedSums)
        )
        classes, sums = ClassZones(universe=geography), LeftOutClasses(universe=geography)
        base = Query(name=links.name, cells=links)
        left = Query(name=beyond.name, cells=beyond)
        asked: list[tuple[Query | PartitionQuery, Loss | None]] = [
            (base, self.spends.links),
            (PartitionQuery(name=classes.name, base=base, cells=classes), self.spends.classes),
            (left, self.spends.left_out),
            (PartitionQuery(name=sums.name, base=left, cells=sums), self.spends.left_out_sums),
            (Query(name=speeds.name, cells=speeds), self.spends.speeds),
        ]
        return tuple((query, spend) for query, spend in asked if spend is not None)


CLASSES: Final = Fraction(1, 10)
LEFT_OUT: Final = Fraction(3, 20)


def link_counts(  # noqa: PLR0913  one argument for each public choice
    limits: MovementLimits,
    *,
    budget: Loss,
    classes: Fraction = CLASSES,
    left_out: Fraction = LEFT_OUT,
    speeds: Fraction = Fraction(0),
    publish_above_se: float = 2.0,
    shrink_to_class: bool = True,
    conserve: bool = True,
    preparation: Preparation = USUAL,
) -> LinkCounts:
    """Returns link counts.

    Privacy:
        All questions together cost exactly `budget`.

    Args:
        budget: What the release may cost; its currency decides on the noise.
        classes: Share of the sums by zone and class.
        left_out: Share of what the bound leaves out; the limits then count it.
        speeds: Share of the speeds.
        publish_above_se: A link is published from so many standard errors on.
        shrink_to_class: Whether links are expected to be like others of their class and zone.
        preparation: How positions become trips; as usual unless given.
    """
    return LinkCounts(
        limits=replace(limits, left_out=left_out > 0 or bool(limits.choices)),
        spends=spends_of(budget, classes=classes, speeds=speeds, left_out=left_out),
        publish_above_se=publish_above_se,
        shrink_to_class=shrink_to_class,
        conserve=conserve,
        preparation=preparation,
    )


def smaller_noise(epsilon: Fraction, delta: Fraction | None, limits: MovementLimits) -> Loss:
    """Returns the budget whose noise on a link is smaller: pure epsilon, or a rho if allowed.

    Discrete Laplace noise has a standard deviation of about sqrt(2) m / epsilon, discrete Gaussian
    noise one of sqrt(m / (2 rho)), for m items of a person.
    """
    pure = PureLoss(epsilon)
    if delta is None:
        return pure
    rho = rho_for(epsilon, delta)
    # m / (2 rho) < 2 m^2 / epsilon^2, exactly: a float would take a tiny epsilon for 0.
    return ZCDPLoss(rho) if epsilon**2 < 4 * limits.max_items * rho else pure
