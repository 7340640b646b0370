"""What the command's verbs ask, as functions: recommend, evaluate and audit."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hushway.families.registry import family_named, suite_of
from hushway.progress import Progress, quiet
from hushway.release.crowd import ExpectedPopulation
from hushway.release.job import Job

if TYPE_CHECKING:
    from hushway.audit.harness import Finding
    from hushway.release.advice import Advice
    from hushway.transit.judging import FleetEvaluation


def recommend(
    job: Job, *, trips: int, people: int, runs: int = 1, progress: Progress = quiet
) -> "Advice":
    """Says what to put into a plan for a guessed crowd, and whether the data are enough.

    Privacy:
        Reads the plan and public files; neither rows nor budget are touched. The answer is as
        public as the two guesses: a number that was counted from rows is not.

    Args:
        job: The prepared plan.
        trips: A public guess of what is counted: trips, records, visits or links travelled.
        people: A public guess of the people behind it.
        runs: How often each choice is tried.
        progress: Told in a few words what is being done.

    Raises:
        PlanError: The guesses make no sense.

    Example:
        >>> job = hushway.prepare(hushway.load_plan("plan.toml"))
        >>> advice = hushway.recommend(job, trips=5_000, people=2_000)
        >>> advice.lines.splitlines()[0]
        '[privacy]'
        >>> advice.enough[0]
        '...'
    """
    crowd = ExpectedPopulation(trips=trips, people=people)
    family = family_named(job.plan.release_type)
    return family.recommend(job, crowd, runs=runs, progress=progress)


def evaluate(  # noqa: PLR0913
    release: Path | str,
    *,
    network: Path | str | None = None,
    gtfs: Path | str | None = None,
    plan: Path | str | None = None,
    draws: int = 20,
    day: str | None = None,
    hours: str | None = None,
    progress: Progress = quiet,
) -> "FleetEvaluation":
    """Sizes the fleet of an on-demand transit system by an OD release; costs no budget.

    Privacy:
        With a plan all exact trips are counted, without noise: the verdict is Internal then, for
        the steward's own eyes.

    Args:
        release: The folder of an OD release.
        network: A file with hubs and bus lines.
        gtfs: A feed to take them from instead.
        plan: The release's plan, to compare with the exact trips.
        draws: How many days are drawn.
        day: A weekday or a date, if the release tells them apart.
        hours: Such as "08:00-10:00"; the whole day unless said.
        progress: Told in a few words what is being done.

    Raises:
        HushwayError: Something was wrong; the message says what, and what to do.

    Example:
        >>> found = hushway.evaluate("release", draws=2)
        >>> found.verdict.value.sentence
        'fleet ... vehicles...'
    """
    from hushway.transit.day_demand import hours_of
    from hushway.transit.judging import FleetQuestion, evaluate_fleet

    question = FleetQuestion(
        network=None if network is None else Path(network),
        gtfs=None if gtfs is None else Path(gtfs),
        plan=None if plan is None else Path(plan),
        draws=draws,
        day=day,
        hours=None if hours is None else hours_of(hours),
    )
    return evaluate_fleet(Path(release), question, progress=progress)


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
        release_type: "od", "sequences", "density" or "links"; "noise" for what all of them draw.
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
