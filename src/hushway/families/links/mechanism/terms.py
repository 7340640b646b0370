"""What the certificate of link counts says, from public facts alone."""

from hushway.families.links.mechanism.catalogue import MECHANISMS
from hushway.families.links.mechanism.counts import LinkCounts, NoisyEnds
from hushway.families.links.mechanism.people import LinkPeople
from hushway.families.links.public.universe import LinkUniverse
from hushway.privacy.bound import Bound, Unit
from hushway.privacy.certificate import Certificate, Contribution, MechanismRecord, Terms
from hushway.release.terms import listed, terms_of
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
_CHOSEN_WORDS = (
    " That limit was chosen by how many items people have, in noisy numbers: a {unit} is in one of "
    "them."
)

LinksMechanism = LinkCounts | LinkPeople


def links_terms(mechanism: LinksMechanism, universe: LinkUniverse, *, unit: Unit) -> Terms:
    """Returns the terms of a release.

    Raises:
        PrivacyError: The unit is not one that links protect.
    """
    check_unit(unit, *UNITS)
    counts = mechanism.chosen if isinstance(mechanism, LinkPeople) else mechanism
    most, beyond = counts.limits.max_items, counts.spends.left_out is not None
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
            + (_LEFT_OUT_WORDS if beyond else "")
            + ("" if counts is mechanism else _CHOSEN_WORDS.format(unit=unit)),
            limits={
                "items": most,
                "speed_steps": counts.limits.speed_steps,
                "items_left_out": most if beyond else 0,
            },
        ),
        counted=universe.counted,
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


def stated_counts(record: MechanismRecord) -> LinksMechanism:
    """Returns the mechanism of a certificate.

    Raises:
        ReleaseError: It is not one of this version.
    """
    mechanism: LinksMechanism = MECHANISMS.certified(record)
    return mechanism
