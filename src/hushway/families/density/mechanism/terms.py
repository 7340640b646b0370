"""Densities by name, and what their certificates say: from public facts alone."""

from collections.abc import Mapping
from typing import Any

from hushway.arrays import IntArray
from hushway.families.density.fit.table import Denoise
from hushway.families.density.mechanism.recommended import (
    Shares,
    Spends,
    recommended_cluster_error,
    recommended_shares,
    spends_of,
)
from hushway.families.density.mechanism.series import DensitySeries
from hushway.families.density.public.visits import PERSON_PARTS, DensityUniverse, VisitLimits
from hushway.privacy.bound import Bound, Unit
from hushway.privacy.certificate import (
    Certificate,
    Contribution,
    MechanismRecord,
    Terms,
)
from hushway.privacy.loss import Loss, ZCDPLoss
from hushway.release.terms import listed, rebuilt, stated_loss, terms_of
from hushway.release.wording import check_unit, plural

FAMILY = "density"
UNITS = (Unit.PERSON, Unit.DEVICE)

_ASSUMED_PUBLIC = (
    "The areas, and the list of towers with their positions if events name towers.",
    "The window of days, its periods and the time zone.",
    "The mechanism, its parameters, the contribution bounds and the guesses that the plan states.",
)
_BEYOND = (
    "How many events a {unit} has beyond the bounds does not show; that the published counts are "
    "scaled to the noisy number of all visits does."
)


def density_terms(mechanism: DensitySeries, universe: DensityUniverse, *, unit: Unit) -> Terms:
    """Returns the terms of a release before it is measured.

    Raises:
        PrivacyError: The unit is not one that densities protect.
    """
    check_unit(unit, *UNITS)
    limits = mechanism.limits
    visits = min(limits.max_visits, universe.bins)
    errors = mechanism.forecast(universe, Bound.of_records(visits))
    return terms_of(
        mechanism,
        universe,
        Bound.of_records(visits),
        release_type=FAMILY,
        unit=unit,
        contribution=Contribution(
            words=f"At most one visit of a {unit} in a period and {plural(visits, 'visit')} in the "
            f"window are counted, chosen uniformly at random; besides, the {unit} once, shared "
            f"among the sites of all visits in {PERSON_PARTS:,} whole parts, by how many visits "
            f"there are, the {unit} once by that number's class, and the number itself up to "
            f"{limits.max_visits_in_total:,}.",
            limits={
                "visits": visits,
                "visits_of_a_bin": 1,
                "in_the_total": limits.max_visits_in_total,
            },
        ),
        assumed_public=_ASSUMED_PUBLIC,
        beyond=(_BEYOND.format(unit=unit),),
        error="Standard deviations of the noise: "
        + listed(errors)
        + ". Published counts come with standard errors of their own.",
    )


def stated_terms(certificate: Certificate, universe: DensityUniverse, cluster: IntArray) -> Terms:
    """Returns the terms that follow from what a certificate says was run, for some clusters.

    Raises:
        ReleaseError: It was nothing that this version runs.
    """
    mechanism = stated_series(certificate.terms.mechanism)
    terms = density_terms(mechanism, universe, unit=certificate.terms.unit)
    return terms.measured([query.cells.size for query in mechanism.queries(universe, cluster)])


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
            max_visits=parameters["max_visits"],
            max_visits_in_total=parameters["max_visits_in_total"],
        ),
        spends=Spends(
            series=series,
            histogram=stated_loss(parameters, "histogram"),
            activity=stated_loss(parameters, "activity"),
            total=stated_loss(parameters, "total"),
            clusters=stated_loss(parameters, "clusters"),
            cuts=cuts,
        ),
        denoise=parameters["denoise"],
        night=parameters["night"],
        cluster_error=parameters["cluster_error"],
        quanta=parameters["quanta"],
    )


def density_series(  # noqa: PLR0913  one argument for each public choice
    limits: VisitLimits,
    *,
    budget: Loss,
    shares: Shares | None = None,
    denoise: Denoise = "patterns",
    clustering: bool = True,
    scaling: bool = True,
    night: bool = False,
    cluster_error: float | None = None,
) -> DensitySeries:
    """Returns a density by noisy series; without shares, the recommended ones.

    Privacy:
        All questions together cost exactly `budget`.

    Args:
        limits: How much of one person counts.
        budget: What the release may cost; its currency decides on the noise.
        shares: The share of each question; those of questions that are not asked must be 0.
        denoise: What becomes of the noise in a series.
        clustering: Whether small cells are merged before they are measured.
        scaling: Whether series are scaled to totals that were measured apart.
        night: Whether the night is replaced by exponential curves.
        cluster_error: Noise that a cluster's series may have, as a share of its total; without it,
            as recommended.
    """
    usual = recommended_shares(
        limits, scaling=scaling, clustering=clustering, cuts=denoise == "cuts"
    )
    return DensitySeries(
        limits=limits,
        spends=spends_of(budget, usual if shares is None else shares),
        denoise=denoise,
        night=night,
        cluster_error=recommended_cluster_error(denoise)
        if cluster_error is None
        else cluster_error,
    )


def naive_laplace(limits: VisitLimits, *, budget: Loss) -> DensitySeries:
    """Returns the naive baseline: noise on every count, and nothing done about it."""
    return density_series(limits, budget=budget, denoise="none", clustering=False, scaling=False)
