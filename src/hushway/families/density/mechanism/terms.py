"""What the certificate of a density says, from public facts alone."""

from hushway.arrays import IntArray
from hushway.families.density.mechanism.catalogue import MECHANISMS
from hushway.families.density.mechanism.series import DensitySeries
from hushway.families.density.public.visits import PERSON_PARTS, DensityUniverse
from hushway.privacy.bound import Bound, Unit
from hushway.privacy.certificate import Certificate, Contribution, MechanismRecord, Terms
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
        counted=universe.counted,
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
    mechanism: DensitySeries = MECHANISMS.certified(record)
    return mechanism
