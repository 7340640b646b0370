"""A suite of audits, and the hunt for planted mistakes that proves that they can fail.

An audit that passes proves little unless the same audit fails on code that is known to be wrong.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Generic, TypeVar

from hushway.auditing.bounds import runs_needed
from hushway.auditing.harness import Examination, Finding, MutantFinding, Trial
from hushway.auditing.pace import Pace, in_words, paces_of
from hushway.auditing.runs import FEWEST_RUNS
from hushway.errors import AuditError
from hushway.progress import Progress, quiet

AnyProduct = TypeVar("AnyProduct")

Audit = Callable[[AnyProduct, Fraction], Examination]
"""Puts a product to a test of what it claims at an epsilon."""

Paces = Mapping[Callable[..., Any], Pace]
"""How long each audit takes."""

EPSILONS = (Fraction(1), Fraction(4))
# Beyond it no affordable number of runs sees the rare event that a claim is about.
LARGEST_EPSILON = 10


@dataclass(frozen=True, kw_only=True)
class Mutant(Generic[AnyProduct]):
    """A mistake and the audits that must see it."""

    name: str
    product: AnyProduct
    audits: tuple[Audit[AnyProduct], ...]

    def hunt(self, epsilon: Fraction, runs: int) -> MutantFinding:
        """Looks for the mistake at one claim."""
        examinations = [audit(self.product, epsilon) for audit in self.audits]
        tried = [(examination, examination.examine(runs)) for examination in examinations]
        failed = [finding for examination, finding in tried if _convicts(examination, finding)]
        return MutantFinding(
            name=self.name,
            epsilon=float(epsilon),
            caught=bool(failed),
            by="; ".join(finding.name for finding in failed),
            epsilon_lower=max((finding.epsilon_lower for finding in failed), default=0.0),
        )


def mutant(name: str, product: AnyProduct, *audits: Audit[AnyProduct]) -> Mutant[AnyProduct]:
    """Returns a mistake by its name, the product that makes it, and the audits that must see it."""
    return Mutant(name=name, product=product, audits=audits)


@dataclass(frozen=True, kw_only=True)
class Suite(Generic[AnyProduct]):
    """The audits of one product.

    Attributes:
        audits: What it must pass, with the real source of noise.
        mutants: The same product with planted mistakes, each of which must be caught.
    """

    real: AnyProduct
    audits: tuple[Audit[AnyProduct], ...]
    mutants: tuple[Mutant[AnyProduct], ...] = ()

    def paces(self, *, runs: int, quick: bool = False, progress: Progress = quiet) -> Paces:
        """Tells how long each audit takes on this machine, by a few runs of it.

        Args:
            quick: Whether they may be fewer than a whole audit needs.

        Raises:
            AuditError: There are too few runs.
        """
        claim, *_ = _checked_claims(runs, EPSILONS, quick=quick)

        def examinations() -> Iterator[tuple[Audit[AnyProduct], Examination]]:
            for done, audit in enumerate(self.audits):
                progress("Timing a few runs of each audit", done / len(self.audits))
                yield audit, audit(self.real, claim)

        return paces_of(examinations(), runs)

    def audit(
        self,
        *,
        runs: int,
        epsilons: Sequence[Fraction | int] = EPSILONS,
        quick: bool = False,
        paces: Paces | None = None,
        progress: Progress = quiet,
    ) -> list[Finding]:
        """Audits the real code, claim after claim.

        Args:
            epsilons: The claims to audit; Gaussian noise claims them with a delta of 1/100.
            quick: Whether runs may be fewer than it takes to see what correct code loses. Then no
                audit fails because an event shows less than its share of the claim.
            paces: How long each audit takes, to say how long the rest will take.

        Raises:
            AuditError: There are too few runs for one of the epsilons.
        """
        claims = _checked_claims(runs, epsilons, quick=quick)
        cases = [(audit, epsilon) for epsilon in claims for audit in self.audits]
        ahead = _Ahead([_seconds((audit,), paces, runs) for audit, _ in cases], progress)
        findings = []
        for audit, epsilon in cases:
            # Made one at a time: some hold much.
            examination = audit(self.real, epsilon)
            ahead.begin(examination.name)
            findings.append((_untightened(examination) if quick else examination).examine(runs))
        ahead.end()
        return findings

    def hunt(
        self,
        *,
        runs: int,
        epsilons: Sequence[Fraction | int] = EPSILONS,
        paces: Paces | None = None,
        progress: Progress = quiet,
    ) -> list[MutantFinding]:
        """Runs the audits on code with a planted mistake; every mistake should be caught.

        Args:
            paces: How long each audit takes, to say how long the rest will take.

        Raises:
            AuditError: There are too few runs for one of the epsilons.
        """
        claims = _checked_claims(runs, epsilons)
        cases = [(planted, epsilon) for epsilon in claims for planted in self.mutants]
        ahead = _Ahead([_seconds(one.audits, paces, runs) for one, _ in cases], progress)
        findings = []
        for planted, epsilon in cases:
            ahead.begin(planted.name)
            findings.append(planted.hunt(epsilon, runs))
        ahead.end()
        return findings

    def seconds(self, paces: Paces, *, runs: int, mutants: bool = False) -> float:
        """Returns how long all audits take, roughly, and those of planted mistakes if asked."""
        hunted = [one.audits for one in self.mutants] if mutants else []
        every = [self.audits, *hunted]
        return len(EPSILONS) * sum(_seconds(audits, paces, runs) for audits in every)


class _Ahead:
    """Tells how far a row of cases is: by the time that they take, if it is known."""

    def __init__(self, seconds: Sequence[float], progress: Progress) -> None:
        self._seconds = seconds
        self._known = any(seconds)
        self._weights = seconds if self._known else [1.0] * len(seconds)
        self._progress = progress
        self._done = 0

    def begin(self, name: str) -> None:
        """Tells that the next case begins."""
        left = f" ({in_words(sum(self._seconds[self._done :]))} left)" if self._known else ""
        self._progress(name + left, sum(self._weights[: self._done]) / sum(self._weights))
        self._done += 1

    def end(self) -> None:
        """Tells that all are done."""
        self._progress("done", 1.0)


def _seconds(audits: Sequence[Callable[..., Any]], paces: Paces | None, runs: int) -> float:
    """Returns how long audits take together; those that were not timed are taken for usual ones."""
    if not paces:
        return 0.0
    known = {audit: pace.seconds(runs) for audit, pace in paces.items()}
    usual = sum(known.values()) / len(known)
    return sum(known.get(audit, usual) for audit in audits)


def _untightened(examination: Examination) -> Examination:
    """Returns a claim that few runs may prove nothing about; too much is still too much."""
    return replace(examination, tight=False) if isinstance(examination, Trial) else examination


def _convicts(examination: Examination, finding: Finding) -> bool:
    """Tells whether a finding shows a mistake: too much noise is not what mutants are guilty of."""
    if isinstance(examination, Trial):
        return finding.epsilon_lower > finding.epsilon
    return not finding.passed


def _checked_claims(
    runs: int, epsilons: Sequence[Fraction | int], *, quick: bool = False
) -> tuple[Fraction, ...]:
    """Returns the epsilons as fractions.

    Raises:
        AuditError: An epsilon is out of reach, or the runs are too few to see what correct code
            loses.
    """
    claims = tuple(Fraction(epsilon) for epsilon in epsilons)
    if not claims or not all(0 < epsilon <= LARGEST_EPSILON for epsilon in claims):
        raise AuditError(
            f"An audit needs claims above 0 and up to {LARGEST_EPSILON}.",
            advice="Give for example the epsilons 1 and 4.",
        )
    if quick:
        needed, kind, other = FEWEST_RUNS, "a quick audit", ""
    else:
        needed, kind = max(runs_needed(epsilon) for epsilon in claims), "an audit"
        other = ", or ask for a quick audit (--quick), which finds less and says how much"
    if runs < needed:
        raise AuditError(
            f"{runs:,} runs are too few for {kind} of these epsilons.",
            advice=f"Give at least {needed:,} runs{other}.",
        )
    return claims
