"""The audits of the links family, and the proof that they can fail."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial

from hushway.audit.finding import Finding, MutantFinding, Progress, quiet
from hushway.audit.harness import Examination
from hushway.audit.hunt import hunt_all
from hushway.audit.suite import EPSILONS, checked_claims, examine_all
from hushway.families.links.audit import ends as links_ends
from hushway.families.links.audit import files as links_files
from hushway.families.links.audit import measured as links_measured
from hushway.families.links.audit import whole as links_whole
from hushway.families.links.audit.mutants import LINK_MUTANTS
from hushway.families.links.audit.product import REAL_LINKS, LinkProduct

LinkAudit = Callable[[LinkProduct, Fraction], Examination]

LINK_AUDITS: tuple[LinkAudit, ...] = (
    links_measured.lone_road,
    links_measured.lone_trip,
    links_measured.nine_items,
    links_measured.shift_of_nine,
    links_measured.long_drive,
    links_measured.long_drive_laplace,
    links_measured.one_home,
    links_measured.two_ends,
    links_measured.at_threshold,
    links_measured.one_tips_the_scale,
    links_measured.link_less_another,
    links_measured.fresh_links,
    links_measured.unused_road,
    links_whole.hundred_links,
    links_whole.four_of_a_class,
    links_whole.class_swap,
    links_whole.slow_driver,
    links_whole.fast_and_slow,
    links_whole.hundred_speeds,
    links_whole.all_questions,
    links_whole.published_lone,
    links_whole.same_table,
    links_files.same_way,
    links_ends.moved_home,
    links_ends.just_in_reach,
    links_ends.two_at_once,
)


def audit_links(
    *, runs: int, epsilons: Sequence[Fraction | int] = EPSILONS, progress: Progress | None = None
) -> list[Finding]:
    """Audits the code that makes releases of links, with the real source of noise.

    Args:
        runs: Runs on each side of an audit of ordinary effort.
        epsilons: The claims to audit; Gaussian noise claims them with a delta of 1/100.
        progress: Told what is being audited.

    Raises:
        AuditError: There are too few runs for one of the epsilons.
    """
    claims = checked_claims(runs, epsilons)
    builders = [partial(audit, REAL_LINKS, epsilon) for epsilon in claims for audit in LINK_AUDITS]
    return examine_all(builders, runs, progress or quiet)


def audit_link_mutants(
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
    return hunt_all(LINK_MUTANTS, claims, runs, progress or quiet)
