"""The audits of the density family, and the proof that they can fail."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial

from hushway.audit.finding import Finding, MutantFinding, Progress, quiet
from hushway.audit.harness import Examination
from hushway.audit.hunt import hunt_all
from hushway.audit.suite import EPSILONS, checked_claims, examine_all
from hushway.families.density.audit import cover as density_cover
from hushway.families.density.audit import cuts as density_cuts
from hushway.families.density.audit import files as density_files
from hushway.families.density.audit import measured as density_measured
from hushway.families.density.audit import whole as density_whole
from hushway.families.density.audit.mutants import DENSITY_MUTANTS
from hushway.families.density.audit.product import REAL_DENSITY, DensityProduct

DensityAudit = Callable[[DensityProduct, Fraction], Examination]

DENSITY_AUDITS: tuple[DensityAudit, ...] = (
    density_cover.one_visit_is_one,
    density_measured.nine_visits,
    density_measured.shift_of_nine,
    density_measured.restless,
    density_measured.many_days,
    density_measured.crowded_bin,
    density_measured.shared_site,
    density_measured.cell_less_another,
    density_measured.bin_less_another,
    density_measured.fresh_cells,
    density_measured.fresh_bins,
    density_measured.naive_laplace,
    density_measured.one_drawn_visit,
    density_measured.one_more_person,
    density_measured.cut_off_total,
    density_measured.cell_totals,
    density_cuts.four_cells,
    density_whole.next_clusters,
    density_whole.people_and_series,
    density_whole.all_questions,
    density_whole.exact_divergence,
    density_whole.noise_of_questions,
    density_whole.published_area,
    density_whole.published_clusters,
    density_files.many_batches,
)


def audit_density(
    *, runs: int, epsilons: Sequence[Fraction | int] = EPSILONS, progress: Progress | None = None
) -> list[Finding]:
    """Audits the code that makes densities, with the real source of noise.

    Args:
        runs: Runs on each side of an audit of ordinary effort.
        epsilons: The claims to audit; Gaussian noise claims them with a delta of 1/100.
        progress: Told what is being audited.

    Raises:
        AuditError: There are too few runs for one of the epsilons.
    """
    claims = checked_claims(runs, epsilons)
    builders = [
        partial(audit, REAL_DENSITY, epsilon) for epsilon in claims for audit in DENSITY_AUDITS
    ]
    return examine_all(builders, runs, progress or quiet)


def audit_density_mutants(
    *, runs: int, epsilons: Sequence[Fraction | int] = EPSILONS, progress: Progress | None = None
) -> list[MutantFinding]:
    """Runs the audits on code with a planted mistake; every mistake should be caught.

    Args:
        runs: Runs on each side of an audit of ordinary effort.
        epsilons: The claims that the mutants make.
        progress: Told which mistake is being looked for.

    Raises:
        AuditError: There are too few runs for one of the epsilons.
    """
    claims = checked_claims(runs, epsilons)
    return hunt_all(DENSITY_MUTANTS, claims, runs, progress or quiet)
