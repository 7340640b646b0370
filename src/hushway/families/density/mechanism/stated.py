"""Densities as certificates state them."""

from collections.abc import Mapping
from typing import Any

from hushway.families.density.mechanism.series import DensitySeries
from hushway.families.density.mechanism.spends import Spends
from hushway.families.density.public.visits import VisitLimits
from hushway.privacy.certificate import MechanismRecord
from hushway.privacy.loss import ZCDPLoss
from hushway.release.stated_mechanism import rebuilt, stated_loss


def stated_series(record: MechanismRecord) -> DensitySeries:
    """Returns the mechanism of a certificate.

    Raises:
        ReleaseError: It is not one of this version.
    """
    return rebuilt(record, _series)


def _series(parameters: Mapping[str, Any]) -> DensitySeries:
    series, cuts = stated_loss(parameters, "series"), stated_loss(parameters, "cuts")
    if series is None or not (cuts is None or isinstance(cuts, ZCDPLoss)):
        raise ValueError
    return DensitySeries(
        limits=VisitLimits(
            max_visits=parameters["max_visits"], most_counted=parameters["most_counted"]
        ),
        spends=Spends(
            series=series,
            histogram=stated_loss(parameters, "histogram"),
            total=stated_loss(parameters, "total"),
            clusters=stated_loss(parameters, "clusters"),
            cuts=cuts,
        ),
        denoise=parameters["denoise"],
        night=parameters["night"],
        cluster_error=parameters["cluster_error"],
        quanta=parameters["quanta"],
    )
