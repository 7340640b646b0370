"""The verb `audit`: black-box attacks on the claims of a release type."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hushway.auditing.runs import QUICK_RUNS, runs_asked
from hushway.errors import AuditError
from hushway.families.registry import suite_of
from hushway.progress import Progress, quiet

if TYPE_CHECKING:
    from hushway.auditing.harness import Finding, MutantFinding


@dataclass(frozen=True, kw_only=True)
class AuditReport:
    """What audits found.

    An audit that passes has found nothing; what it could have found is `epsilon_provable` and
    `epsilon_detected` of each finding.

    Attributes:
        findings: What each audit found.
        mutants: Whether each planted bug was caught; none if they were not planted.
        quick: Whether there were fewer runs than a whole audit needs.
        power: How much loss so many runs can show, as a sentence.
    """

    findings: "Sequence[Finding]"
    mutants: "Sequence[MutantFinding]"
    quick: bool
    power: str

    @property
    def sound(self) -> bool:
        """Whether every audit passed and every planted bug was caught."""
        return all(f.passed for f in self.findings) and all(m.caught for m in self.mutants)


def audit(
    release_type: str,
    *,
    runs: int | None = None,
    quick: bool = False,
    mutants: bool = False,
    progress: Progress = quiet,
    announce: Callable[[str], None] | None = None,
) -> AuditReport:
    """Runs the black-box privacy audits of a release type against the real code.

    Args:
        release_type: Such as "od"; "noise" for what all of them draw.
        runs: Runs of each end-to-end audit: at least 68,282, and 100,000 if left out. If quick, at
            least 1,000, and 10,000 if left out.
        quick: Whether fewer runs will do. They find less, and are not enough to tell whether there
            is more noise than the claim needs.
        mutants: Whether known bugs are planted too, which must be caught.
        progress: Told in a few words what is being done and how long the rest takes, by a few runs
            of each audit beforehand.
        announce: Told beforehand how long all of it takes.

    Raises:
        AuditError: There is no such release type, or there are too few runs.

    Example:
        >>> import hushway
        >>> hushway.audit("nothing")
        Traceback (most recent call last):
        hushway.errors.AuditError: There are no audits of 'nothing'.
    """
    from hushway.auditing.bounds import power_in_words
    from hushway.auditing.suite import EPSILONS

    if quick and mutants:
        raise AuditError(
            "A quick audit may miss planted bugs, which must all be caught.",
            advice="Leave out --quick or --mutants.",
        )
    suite: Any = suite_of(release_type)
    number = runs_asked(runs, quick=quick)
    paces = None
    if announce is not None or progress is not quiet:
        paces = suite.paces(runs=number, quick=quick, progress=progress)
    if announce is not None:
        announce(_duration(suite, paces, runs=number, quick=quick, mutants=mutants))
    return AuditReport(
        findings=suite.audit(runs=number, quick=quick, paces=paces, progress=progress),
        mutants=suite.hunt(runs=number, paces=paces, progress=progress) if mutants else [],
        quick=quick,
        power=power_in_words(number, EPSILONS),
    )


def _duration(suite: Any, paces: Any, *, runs: int, quick: bool, mutants: bool) -> str:
    from hushway.auditing.pace import in_words

    words = in_words(suite.seconds(paces, runs=runs, mutants=mutants))
    sooner = in_words(suite.seconds(paces, runs=QUICK_RUNS))
    return f"{runs:,} runs of each audit take {words} on this machine, as busy as it is now." + (
        "" if quick else f" With --quick they take {sooner} and find less."
    )
