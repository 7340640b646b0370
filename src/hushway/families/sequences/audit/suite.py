"""The audits of the sequences family, and the proof that they can fail."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial

from hushway.audit.finding import Finding, MutantFinding, Progress, quiet
from hushway.audit.harness import Examination
from hushway.audit.hunt import hunt_all
from hushway.audit.suite import EPSILONS, checked_claims, examine_all
from hushway.families.sequences.audit import files as sequences_files
from hushway.families.sequences.audit import gaussian as sequences_gaussian
from hushway.families.sequences.audit import measured as sequences_measured
from hushway.families.sequences.audit import published as sequences_published
from hushway.families.sequences.audit import timed as sequences_timed
from hushway.families.sequences.audit.forms import GROUPED, HYBRID, STOPS
from hushway.families.sequences.audit.mutants import SEQUENCE_MUTANTS
from hushway.families.sequences.audit.product import REAL_SEQUENCES, SequenceProduct

SequenceAudit = Callable[[SequenceProduct, Fraction], Examination]

SEQUENCE_AUDITS: tuple[SequenceAudit, ...] = (
    sequences_measured.first_step,
    partial(sequences_measured.one_record, GROUPED),
    partial(sequences_measured.one_record, STOPS),
    partial(sequences_measured.one_record, HYBRID),
    sequences_measured.long_record,
    sequences_measured.many_records,
    sequences_measured.many_branches,
    sequences_measured.two_groups,
    sequences_measured.at_the_threshold,
    sequences_measured.busy_group,
    sequences_measured.step_less_another,
    sequences_timed.one_record,
    sequences_timed.two_periods,
    sequences_timed.unseen_prefix,
    sequences_gaussian.one_record,
    sequences_gaussian.many_records,
    sequences_gaussian.empty_group,
    sequences_files.many_days,
    partial(sequences_published.unseen_prefix, GROUPED),
    partial(sequences_published.unseen_prefix, STOPS),
    sequences_published.many_records,
    sequences_published.one_step_enumerated,
    sequences_published.tree_enumerated,
    sequences_published.next_questions,
)


def audit_sequences(
    *, runs: int, epsilons: Sequence[Fraction | int] = EPSILONS, progress: Progress | None = None
) -> list[Finding]:
    """Audits the code that makes releases of sequences, with the real source of noise.

    Args:
        runs: Runs on each side of an audit of ordinary effort.
        epsilons: The claims to audit.
        progress: Told what is being audited.

    Raises:
        AuditError: There are too few runs for one of the epsilons.
    """
    claims = checked_claims(runs, epsilons)
    builders = [
        partial(audit, REAL_SEQUENCES, epsilon) for epsilon in claims for audit in SEQUENCE_AUDITS
    ]
    return examine_all(builders, runs, progress or quiet)


def audit_sequence_mutants(
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
    return hunt_all(SEQUENCE_MUTANTS, claims, runs, progress or quiet)
