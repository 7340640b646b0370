"""Link counts as certificates state them."""

from collections.abc import Mapping
from typing import Any

from hushway.families.links.mechanism.counts import LinkCounts
from hushway.families.links.mechanism.preparation import NoisyEnds, Preparation
from hushway.families.links.mechanism.spends import Spends
from hushway.families.links.public.universe import MovementLimits
from hushway.privacy.certificate import MechanismRecord
from hushway.privacy.loss import exact
from hushway.release.stated_mechanism import rebuilt, stated_loss


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
            max_items=parameters["max_items"], speed_steps=parameters["speed_steps"]
        ),
        spends=Spends(
            links=links,
            classes=stated_loss(parameters, "classes"),
            speeds=stated_loss(parameters, "speeds"),
        ),
        shown=parameters["shown"],
        expect=parameters["expect"],
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
