"""The audits of the OD family, and the proof that they can fail."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial

from hushway.audit import (
    od_dense,
    od_feature_laws,
    od_files,
    od_laws,
    od_lazy,
    od_measured,
    od_published,
    od_rounding,
    od_sparse,
)
from hushway.audit.finding import Finding, MutantFinding, Progress, quiet
from hushway.audit.fitted import FLAT, FORMS, LAZY, TREE
from hushway.audit.harness import Examination
from hushway.audit.hunt import hunt_all
from hushway.audit.mutants import MUTANTS
from hushway.audit.product import REAL, Product
from hushway.audit.suite import EPSILONS, checked_claims, examine_all

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
