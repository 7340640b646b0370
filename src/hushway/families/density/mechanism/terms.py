"""What the certificate of a density says, from public facts alone."""

from dataclasses import replace

from hushway.arrays import IntArray
from hushway.families.density.mechanism.catalogue import MECHANISMS
from hushway.families.density.mechanism.people import DensityPeople
from hushway.families.density.mechanism.series import DensitySeries
from hushway.families.density.public.visits import PERSON_PARTS, DensityUniverse
from hushway.privacy.bound import Bound, Unit
from hushway.privacy.certificate import Certificate, Contribution, MechanismRecord, Terms
from hushway.release.mechanism import Measurements
from hushway.release.terms import listed, terms_of
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
_NO_MAP = (
    " By the noisy number of visits a mean area does not stand out from noise: this is no map of "
    "where people are, and what is known is sums over many areas or periods."
)

DensityMechanism = DensitySeries | DensityPeople


def density_terms(mechanism: DensityMechanism, universe: DensityUniverse, *, unit: Unit) -> Terms:
    """Returns the terms of a release before it is measured.

    Raises:
        PrivacyError: The unit is not one that densities protect.
    """
    check_unit(unit, *UNITS)
    visits = mechanism.limits.of_a_person(universe)
    errors = mechanism.forecast(universe, Bound.of_records(visits))
    terms = terms_of(
        mechanism,
        universe,
        Bound.of_records(visits),
        release_type=FAMILY,
        unit=unit,
        contribution=_contribution(mechanism, visits, unit),
        counted=universe.counted,
        assumed_public=_ASSUMED_PUBLIC,
        beyond=(_BEYOND.format(unit=unit),),
        error="Standard deviations of the noise: "
        + listed(errors)
        + ". Published counts come with standard errors of their own.",
    )
    if isinstance(mechanism, DensitySeries):
        return terms
    return replace(
        terms,
        post_processing=mechanism.series_of(universe).post_processing,
        error=terms.error if mechanism.stands_out(universe) else terms.error + _NO_MAP,
    )


def _contribution(mechanism: DensityMechanism, visits: int, unit: Unit) -> Contribution:
    limits = mechanism.limits
    completes = isinstance(mechanism, DensityPeople) or mechanism.spends.total is not None
    estimates = "Counts estimate all visits. " if completes else ""
    alone = "one in a period, " if limits.one_in_a_bin else ""
    return Contribution(
        words=f"{estimates}At most {plural(visits, 'visit')} of a {unit} are counted in the "
        f"series, {alone}chosen uniformly at random; besides, the {unit} once, shared among the "
        f"sites of all visits in {PERSON_PARTS:,} whole parts, by how many visits there are, the "
        f"{unit} once by that number's class, and up to {limits.max_visits_in_total:,} visits in "
        "one number and in sums of what the series leaves out.",
        limits={
            "visits": visits,
            "visits_of_a_bin": 1 if limits.one_in_a_bin else visits,
            "in_the_total": limits.max_visits_in_total,
        },
    )


def settled_terms(
    mechanism: DensityPeople, measured: Measurements, universe: DensityUniverse, unit: Unit
) -> Terms:
    """Returns the terms of a release once its limits are chosen and its clusters made."""
    terms = density_terms(mechanism.settled(measured), universe, unit=unit)
    return terms.measured([one.query.cells.size for one in measured])


def stated_terms(certificate: Certificate, universe: DensityUniverse, cluster: IntArray) -> Terms:
    """Returns the terms that follow from what a certificate says was run, for some clusters.

    Raises:
        ReleaseError: It was nothing that this version runs.
    """
    mechanism = stated_series(certificate.terms.mechanism)
    terms = density_terms(mechanism, universe, unit=certificate.terms.unit)
    return terms.measured([query.cells.size for query in mechanism.queries(universe, cluster)])


def stated_series(record: MechanismRecord) -> DensityMechanism:
    """Returns the mechanism of a certificate.

    Raises:
        ReleaseError: It is not one of this version.
    """
    mechanism: DensityMechanism = MECHANISMS.certified(record)
    return mechanism
