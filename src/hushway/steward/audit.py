"""Black-box attacks on the claims of a release type."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from hushway.families.registry import suite_of
from hushway.progress import Progress, quiet

if TYPE_CHECKING:
    from hushway.audit.harness import Finding


def run_audit(
    release_type: str,
    *,
    runs: int | None = None,
    quick: bool = False,
    progress: Progress = quiet,
) -> "Sequence[Finding]":
    """Runs the black-box privacy audits of a release type against the real code.

    An audit that passes has found nothing; what it could have found is `epsilon_provable` and
    `epsilon_detected` of each finding.

    Args:
        release_type: Such as "od"; "noise" for what all of them draw.
        runs: Runs of each end-to-end audit: at least 68,282, and 100,000 if left out. If quick, at
            least 1,000, and 10,000 if left out.
        quick: Whether fewer runs will do. They find less, and are not enough to tell whether there
            is more noise than the claim needs.
        progress: Told in a few words what is being done and how long the rest takes, by a few runs
            of each audit beforehand.

    Raises:
        AuditError: There is no such release type, or there are too few runs.

    Example:
        >>> import hushway
        >>> hushway.run_audit("nothing")
        Traceback (most recent call last):
        hushway.errors.AuditError: There are no audits of 'nothing'.
    """
    from hushway.audit.runs import runs_asked

    suite: Any = suite_of(release_type)
    number = runs_asked(runs, quick=quick)
    paces = None if progress is quiet else suite.paces(runs=number, quick=quick, progress=progress)
    found: Sequence[Finding] = suite.audit(runs=number, quick=quick, paces=paces, progress=progress)
    return found
