"""The verb `recommend`: what to put into a plan for a guessed crowd."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from tomllib import loads
from typing import Any

from hushway.errors import PlanError
from hushway.families.registry import family_named
from hushway.progress import Progress, quiet
from hushway.release.folder.new_file import refuse_taken, write_new
from hushway.release.forecast.advice import Advice
from hushway.release.forecast.crowd import ExpectedPopulation
from hushway.steward.jobs import PlanLike, job_of
from hushway.steward.worth import Proposal, Worth, propose, worth_of
from hushway.steward.year import Year, year_of


@dataclass(frozen=True, kw_only=True)
class Recommendation(Advice):
    """What is recommended for a plan and a guessed crowd.

    Attributes:
        release_type: The release type of the plan.
        guess: What was guessed, by name: trips, records, visits or links travelled, and people.
        worth: What would be known of the plan as it is.
        proposal: Coarser places and periods, if that is little and they would do.
        year: What a year would tell, if the plan is a series.
    """

    release_type: str
    guess: Mapping[str, int]
    worth: Worth
    proposal: Proposal | None
    year: Year | None = None

    @property
    def changes(self) -> Mapping[str, Any]:
        """What to change in the plan, by option: what is proposed, or else what is recommended."""
        return dict(_options(loads(self.lines))) if self.proposal is None else self.proposal.changes


def _options(facts: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in facts.items():
        if isinstance(value, Mapping):
            yield from _options(value, f"{above}{name}.")
        else:
            yield f"{above}{name}", value


def recommend(
    plan: PlanLike,
    *,
    trips: int,
    people: int,
    runs: int = 1,
    write: Path | None = None,
    progress: Progress = quiet,
    step: str | None = None,
) -> Recommendation:
    """Says what to put into a plan for a guessed crowd, and whether the data are enough.

    Where less than half would be sure, it proposes the finest public places and periods of which
    more would be.

    Privacy:
        Reads the plan and public files; neither rows nor budget are touched. The answer is as
        public as the two guesses: a number that was counted from rows is not.

    Args:
        plan: A plan's file, a plan, or a prepared job.
        trips: A public guess of what is counted: trips, records, visits or links travelled.
        people: A public guess of the people behind it.
        runs: How often each choice is tried.
        write: Where to write the plan, a file, with what is proposed, or else recommended.
        progress: Told in a few words what is being done.
        step: Of a series, the step; the plan's own if left out.

    Raises:
        PlanError: The guesses make no sense, or the plan to write from is not a file.

    Example:
        >>> advice = hushway.recommend("plan.toml", trips=5_000, people=2_000)
        >>> advice.lines.splitlines()[0]
        '[privacy]'
        >>> advice.enough[0]
        '...'
    """
    if people > trips:
        raise PlanError(
            "The guess has more people than they have trips between them.",
            advice="Give at least one for each of the people.",
        )
    text = None if write is None else _text(plan, write)
    job = job_of(plan, step=step)
    family = family_named(job.plan.release_type)
    crowd = ExpectedPopulation(trips=trips, people=people)
    advice = family.recommend(job, crowd, runs=runs, progress=progress)
    worth = worth_of(job, crowd, progress=progress)
    found = Recommendation(
        **vars(advice),
        release_type=family.name,
        guess={family.guessed: trips, "people": people},
        worth=worth,
        proposal=propose(job, crowd, progress=progress) if worth.little else None,
        year=year_of(job, crowd, progress=progress),
    )
    if write is not None and text is not None:
        from hushway.steward.plan_edit import with_changes

        write_new(write, with_changes(text, found.changes).encode())
    return found


def _text(plan: PlanLike, write: Path) -> str:
    refuse_taken(write)
    if find_spec("tomlkit") is None:
        raise PlanError(
            "The library that edits plans is not installed: tomlkit.",
            advice="Install it: pip install 'hushway[serve]'",
        )
    if not isinstance(plan, str | Path) or write.parent.resolve() != Path(plan).parent.resolve():
        raise PlanError(
            "The new plan is written from the file of the old one, beside it.",
            advice="Name a new file in the folder of the plan: paths in it are relative.",
        )
    return Path(plan).read_text(encoding="utf-8")
