"""What would be known of a release: said before anything is spent, from public knowledge alone."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from hushway.errors import HushwayError
from hushway.families.load import prepare
from hushway.families.registry import family_named
from hushway.progress import Progress, quiet
from hushway.release.contribution.crowd import USUAL_RECORDS
from hushway.release.forecast.advice import rounded_up
from hushway.release.forecast.coarser import Coarser
from hushway.release.forecast.crowd import ExpectedPopulation
from hushway.release.forecast.known import ERRORS_95, SURE, WITHIN, Known
from hushway.release.job import Job
from hushway.release.mechanism import Forecast
from hushway.tables.check import RowsChecked

# A table in which less than this is sure is hardly worth its budget.
ENOUGH: Final = 0.5
# One in which less than this is sure tells next to nothing.
SOMETHING: Final = 0.02
# Sums that tell nothing of places, and are close wherever there are many rows.
_NO_PLACES: Final = ("total", "period")


@dataclass(frozen=True, kw_only=True)
class Worth:
    """What would be known of a release.

    Attributes:
        sentence: It in words.
        known: How much of the release of a guessed crowd is known; None if none was guessed, or
            none can be invented.
    """

    sentence: str
    known: Known | None = None

    @property
    def little(self) -> bool:
        """Whether so little would be known that something coarser is better."""
        return self.known is not None and self.known.sure < ENOUGH

    @property
    def nothing(self) -> bool:
        """Whether next to nothing would be known: hardly a cell, and no sums of places."""
        return (
            self.known is not None
            and self.known.sure < SOMETHING
            and all(one.within < ENOUGH for one in self.known.sums if one.title not in _NO_PLACES)
        )


@dataclass(frozen=True, kw_only=True)
class Proposal:
    """The finest places and periods of which enough would be known.

    Attributes:
        words: What they are, such as "places by zone, periods of 4 hours".
        changes: What a plan says otherwise, by option; None takes an option out.
        worth: What would be known then.
    """

    words: str
    changes: Mapping[str, Any]
    worth: Worth

    @property
    def sentence(self) -> str:
        """The proposal in words."""
        return f"The finest that the budget supports: {self.words}. {self.worth.sentence}"


def worth_of(job: Job, crowd: ExpectedPopulation | None, *, progress: Progress = quiet) -> Worth:
    """Says what would be known of a release.

    With a guess of the crowd, invented rows are published as the plan says. Without one, it says
    how large numbers must be.

    Privacy:
        Reads no row and spends nothing. What it says is as public as the guess.
    """
    noise = _by_noise(job.mechanism.forecast(job.geography, job.bound), job.wording.counted)
    if crowd is None:
        return Worth(sentence=noise)
    try:
        known = family_named(job.plan.release_type).foreseen(job, crowd, progress=progress)
    except HushwayError as reason:
        return Worth(sentence=f"{reason} {noise}")
    return Worth(sentence=noise if known is None else known.foreseen, known=known)


def worth_of_rows(job: Job, checked: RowsChecked, *, progress: Progress = quiet) -> Worth:
    """Says what would be known of a release of as many rows as there are.

    Privacy:
        It is told the number of rows that can be counted, exactly: what it says is for the
        steward's own screen, and none of it is released. Invented rows are published, not these.
    """
    rows = 0 if checked.found is None else checked.found.kept
    people = rows // USUAL_RECORDS if job.plan.privacy.unit.has_many_records else rows
    crowd = ExpectedPopulation(trips=rows, people=max(people, 1)) if rows else None
    return worth_of(job, crowd, progress=progress)


def propose(job: Job, crowd: ExpectedPopulation, *, progress: Progress = quiet) -> Proposal | None:
    """Returns the finest public grouping of which enough would be known; None if none is.

    Privacy:
        Reads no row and spends nothing. What is proposed is as public as the guess.
    """
    coarser = family_named(job.plan.release_type).coarser(job.plan)
    jobs = sorted(_prepared(coarser), key=lambda one: -one[0].geography.size)
    found: dict[int, Worth] = {}

    def is_enough(number: int) -> bool:
        tried, one = jobs[number]
        # Halving asks about as often as the number of plans has digits.
        progress(f"Trying {one.words}", len(found) / len(jobs).bit_length())
        found[number] = worth_of(tried, crowd, progress=progress)
        return found[number].known is not None and not found[number].little

    # The fewer cells, the more of them is known: halving finds the first that is enough.
    first = bisect_left(range(len(jobs)), True, key=is_enough)
    if first == len(jobs):
        return None
    chosen = jobs[first][1]
    return Proposal(words=chosen.words, changes=chosen.changes, worth=found[first])


def _prepared(coarser: Iterable[Coarser]) -> Iterator[tuple[Job, Coarser]]:
    for one in coarser:
        # Totals that a plan names may come to the same in coarser cells, which is refused.
        with suppress(HushwayError):
            yield prepare(one.plan), one


def _by_noise(forecasts: Sequence[Forecast], counted: str) -> str:
    """Says from which size on figures are known, where nothing but their noise is."""
    one, *_ = forecasts
    close = ", ".join(
        f"{each.figure} from {rounded_up(each.standard_error * ERRORS_95 / WITHIN)}"
        for each in forecasts
    )
    return (
        f"By noise alone, {one.figure} is sure (twice its error) from "
        f"{rounded_up(SURE * one.standard_error)} {counted} on; sure within {WITHIN:.0%} are: "
        f"{close} {counted} on."
    )
