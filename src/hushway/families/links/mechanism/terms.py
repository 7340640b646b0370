"""Link counts by name, and what their certificates say: from public facts alone."""

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any, Final

from hushway.families.links.mechanism.counts import (
    USUAL,
    LinkCounts,
    NoisyEnds,
    Preparation,
    Spends,
    spends_of,
)
from hushway.families.links.public.universe import LinkUniverse, MovementLimits
from hushway.privacy.accounting import rho_for
from hushway.privacy.bound import Bound, Unit
from hushway.privacy.certificate import (
    Certificate,
    Contribution,
    MechanismRecord,
    Terms,
)
from hushway.privacy.loss import Loss, PureLoss, ZCDPLoss, exact
from hushway.release.terms import listed, rebuilt, stated_loss, terms_of
from hushway.release.wording import check_unit, plural

FAMILY = "links"
UNITS = (Unit.PERSON, Unit.DEVICE)

_ASSUMED_PUBLIC = (
    "The road network: its links, nodes, classes, usual speeds and zones.",
    "The window of days, the periods and the time zone.",
    "The mechanism, its parameters, how trips are split, and the contribution bound.",
)


_LEFT_OUT_WORDS = (
    " As many of the others at most are counted besides, in counts of their own that are spent on."
)


def links_terms(mechanism: LinkCounts, universe: LinkUniverse, *, unit: Unit) -> Terms:
    """Returns the terms of a release.

    Raises:
        PrivacyError: The unit is not one that links protect.
    """
    check_unit(unit, *UNITS)
    most = mechanism.limits.max_items
    bound = Bound(cells=most, each=1, total=most)
    ends = mechanism.preparation.ends
    errors = mechanism.forecast(universe, bound)
    return terms_of(
        mechanism,
        universe,
        bound,
        release_type=FAMILY,
        unit=unit,
        contribution=Contribution(
            words=f"At most {plural(most, 'item')} of a {unit} in the whole window are counted, "
            f"chosen uniformly at random among the distinct links of each period that the {unit} "
            f"was on and the nodes at which the {unit}'s trips began and ended; each counts once."
            + (_LEFT_OUT_WORDS if mechanism.limits.left_out else ""),
            limits={
                "items": most,
                "speed_steps": mechanism.limits.speed_steps,
                "items_left_out": most if mechanism.limits.left_out else 0,
            },
        ),
        assumed_public=_ASSUMED_PUBLIC,
        beyond=(() if ends is None else (_ends(ends, unit),)),
        error="Standard deviations of the noise, in travellers: "
        + listed(errors)
        + ". Published counts come with standard errors of their own.",
    )


def stated_terms(certificate: Certificate, universe: LinkUniverse) -> Terms:
    """Returns the terms that follow from what a certificate says was run.

    Raises:
        ReleaseError: It was nothing that this version runs.
    """
    mechanism = stated_counts(certificate.terms.mechanism)
    return links_terms(mechanism, universe, unit=certificate.terms.unit)


def _ends(ends: NoisyEnds, unit: Unit) -> str:
    return (
        "Ends of trips were moved by noise before roads were found: "
        f"{ends.epsilon} for {ends.radius} m and each end, drawn afresh for at most "
        f"{plural(ends.max_trips, 'trip')} of a {unit}. That is besides the claim, which does not "
        "need it. It compares two places of one end inside the surroundings of the network, all "
        "other positions and all times being the same. These were used as they are, unless they "
        "were near the noisy ends, and may point at the true ones."
    )


def stated_counts(record: MechanismRecord) -> LinkCounts:
    """Returns the mechanism of a certificate.

    Raises:
        ReleaseError: It is not one of this version.
    """
    return rebuilt(record, _counts)


def _counts(parameters: Mapping[str, Any]) -> LinkCounts:
    links = stated_loss(parameters, "links")
    if links is None:
        raise ValueError
    return LinkCounts(
        limits=MovementLimits(
            max_items=parameters["max_items"],
            speed_steps=parameters["speed_steps"],
            left_out=stated_loss(parameters, "left_out") is not None,
        ),
        spends=Spends(
            links=links,
            classes=stated_loss(parameters, "classes"),
            left_out=stated_loss(parameters, "left_out"),
            left_out_sums=stated_loss(parameters, "left_out_sums"),
            speeds=stated_loss(parameters, "speeds"),
        ),
        publish_above_se=parameters["publish_above_se"],
        shrink_to_class=parameters["shrink_to_class"],
        conserve=parameters["conserve"],
        preparation=_preparation(parameters["trips"]),
    )


def _preparation(trips: Mapping[str, Any]) -> Preparation:
    ends = trips["ends"]
    return Preparation(
        gap_s=trips["gap_s"],
        most_speed=trips["most_speed"],
        ends=None if ends is None else NoisyEnds(**{**ends, "epsilon": exact(ends["epsilon"])}),
    )


CLASSES: Final = Fraction(1, 10)
LEFT_OUT: Final = Fraction(3, 20)
SPEEDS: Final = Fraction(1, 4)


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
        limits: How much of one person counts.
        budget: What the release may cost; its currency decides on the noise.
        classes: Share of the sums by zone and class.
        left_out: Share of what the bound leaves out; the limits then count it.
        speeds: Share of the speeds.
        publish_above_se: A link is published from so many standard errors on.
        shrink_to_class: Whether links are expected to be like others of their class and zone.
        conserve: Whether nodes are balanced.
        preparation: How positions become trips; as usual unless given.
    """
    return LinkCounts(
        limits=replace(limits, left_out=left_out > 0),
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
