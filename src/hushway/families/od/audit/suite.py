"""The audits of the OD family, and the proof that they can fail."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial

from hushway.audit.finding import Finding, MutantFinding, Progress, quiet
from hushway.audit.harness import Examination
from hushway.audit.hunt import hunt_all
from hushway.audit.suite import EPSILONS, checked_claims, examine_all
from hushway.families.od.audit import dense as od_dense
from hushway.families.od.audit import feature_laws as od_feature_laws
from hushway.families.od.audit import files as od_files
from hushway.families.od.audit import laws as od_laws
from hushway.families.od.audit import lazy as od_lazy
from hushway.families.od.audit import measured as od_measured
from hushway.families.od.audit import published as od_published
from hushway.families.od.audit import rounding as od_rounding
from hushway.families.od.audit import sparse as od_sparse
from hushway.families.od.audit.fitted import FLAT, FORMS, LAZY, TREE
from hushway.families.od.audit.mutants import MUTANTS
from hushway.families.od.audit.product import REAL, Product

Audit = Callable[[Product, Fraction], Examination]

PLAIN: tuple[Audit, ...] = (
    od_dense.one_trip,
    od_dense.many_trips,
    od_dense.many_trips_spread,
    od_dense.twins,
    od_dense.one_more_trip,
    od_dense.stray_trips,
    od_dense.measured_twice,
    od_dense.total_and_part,
    od_laws.fresh_noise,
    od_laws.own_noise,
    od_laws.whole_numbers,
    od_sparse.unvisited_cell,
    od_sparse.at_the_threshold,
    od_sparse.busy_neighbours,
    od_sparse.sparse_or_dense,
    od_files.many_trips,
)
FITTED: tuple[Audit, ...] = (
    *(partial(od_measured.one_trip, form) for form in FORMS),
    *(partial(od_measured.many_trips, form) for form in (FLAT, TREE)),
    partial(od_measured.many_trips_spread, FLAT),
    *(partial(od_measured.one_trip_gaussian, form) for form in (FLAT, LAZY)),
    od_measured.gaussian_noise,
    od_feature_laws.fresh_noise,
    od_feature_laws.one_less_another,
    od_feature_laws.whole_numbers,
    od_lazy.two_looks,
    *(partial(od_published.one_trip, form) for form in FORMS),
    *(partial(od_published.many_trips, form) for form in (FLAT, TREE)),
    *(partial(od_published.same_table, form) for form in FORMS),
    od_published.one_by_one,
    od_published.lazy_or_dense,
    od_rounding.measured_total,
    od_rounding.whole_total,
    od_rounding.same_table,
)
AUDITS = PLAIN + FITTED


def audit_od(
    *, runs: int, epsilons: Sequence[Fraction | int] = EPSILONS, progress: Progress | None = None
) -> list[Finding]:
    """Audits the code that makes OD releases, on towns of its own, with the real source of noise.

    Args:
        runs: Runs on each side of every audit.
        epsilons: The claims to audit.
        progress: Told what is being audited.

    Raises:
        AuditError: There are too few runs for one of the epsilons.
    """
    claims = checked_claims(runs, epsilons)
    builders = [partial(audit, REAL, epsilon) for epsilon in claims for audit in AUDITS]
    return examine_all(builders, runs, progress or quiet)


def audit_mutants(
    *, runs: int, epsilons: Sequence[Fraction | int] = EPSILONS, progress: Progress | None = None
) -> list[MutantFinding]:
    """Runs the audits on code with a planted mistake; every mistake should be caught.

    Args:
        runs: Runs on each side of every audit.
        epsilons: The claims that the mutants make.
        progress: Told which mistake is being looked for.

    Raises:
        AuditError: There are too few runs for one of the epsilons.
    """
    claims = checked_claims(runs, epsilons)
    return hunt_all(MUTANTS, claims, runs, progress or quiet)
