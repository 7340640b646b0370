"""What would be known of a release: said before anything is spent, from public knowledge alone."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Final

from hushway.errors import HushwayError
from hushway.families.load import prepare
from hushway.families.registry import family_named
from hushway.progress import Progress, quiet
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
# In a city a hundredth of the cells holds most of the trips.
_TIMES_MEAN: Final = 100
_THERE_AND_BACK: Final = 2
# Of more rows more is known, and to invent them would take long.
_MOST_INVENTED: Final = 200_000
# Sums that tell nothing of places, and are close wherever there are many rows.
_NO_PLACES: Final = ("total", "period")


@dataclass(frozen=True, kw_only=True)
class Worth:
    """What would be known of a release.

    Attributes:
        sentence: It in words.
        known: How much of the release of a guessed crowd is known; None if none was guessed, or
            none can be invented.
        is_sparse: Whether even cells of many times the mean would not be sure, where it cannot be
            tried how much is known.
    """

    sentence: str
    known: Known | None = None
    is_sparse: bool = False

    @property
    def little(self) -> bool:
        """Whether so little would be known that something coarser is better."""
        return self.is_sparse if self.known is None else self.known.sure < ENOUGH

    @property
    def nothing(self) -> bool:
        """Whether next to nothing would be known: hardly a cell, and no sums of places."""
        if self.known is None:
            return self.is_sparse
        sums = [one.within for one in self.known.sums if one.title not in _NO_PLACES]
        return self.known.sure < SOMETHING and max(sums, default=0.0) < ENOUGH


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
    forecasts = job.mechanism.forecast(job.geography, job.bound)
    noise = _by_noise(forecasts, job.wording.counted)
    if crowd is None:
        return Worth(sentence=noise)
    try:
        known = family_named(job.plan.release_type).foreseen(job, crowd, progress=progress)
    except HushwayError as reason:
        many = _TIMES_MEAN * crowd.trips / job.geography.size
        is_sparse = many < SURE * forecasts[0].standard_error
        return Worth(sentence=f"{reason} {noise}", is_sparse=is_sparse)
    return Worth(sentence=noise if known is None else known.foreseen, known=known)


def worth_of_rows(job: Job, checked: RowsChecked, *, progress: Progress = quiet) -> Worth:
    """Says what would be known of a release of as many rows as there are.

    Privacy:
        It is told the number of rows that can be counted, exactly: what it says is for the
        steward's own screen, and none of it is released. Invented rows are published, not these.
    """
    found = checked.found
    if found is None or found.kept == 0:
        return worth_of(job, None)
    people = found.kept
    if job.plan.privacy.unit.has_many_records:
        # Where nobody has counted people, the guess is rather too good than too bad.
        people = found.kept // _THERE_AND_BACK if found.people is None else found.people.people
    rows = min(found.kept, _MOST_INVENTED)
    people = min(max(people * rows // found.kept, 1), rows)
    foreseen = worth_of(job, ExpectedPopulation(trips=rows, people=people), progress=progress)
    if rows == found.kept:
        return foreseen
    return replace(foreseen, sentence=f"Of {rows:,} rows alone: {foreseen.sentence}")


def propose(job: Job, crowd: ExpectedPopulation, *, progress: Progress = quiet) -> Proposal | None:
    """Returns the finest public grouping of which enough would be known; None if none is.

    Privacy:
        Reads no row and spends nothing. What is proposed is as public as the guess.
    """
    coarser = family_named(job.plan.release_type).coarser(job.plan)
    plans = sorted(_sized(coarser), key=lambda one: -one[0])
    found: dict[int, Worth] = {}

    def is_enough(number: int) -> bool:
        _, one = plans[number]
        # Halving asks about as often as the number of plans has digits.
        progress(f"Trying {one.words}", len(found) / len(plans).bit_length())
        found[number] = worth_of(prepare(one.plan), crowd, progress=progress)
        return found[number].known is not None and not found[number].little

    # The fewer cells, the more of them is known: halving finds the first that is enough.
    first = bisect_left(range(len(plans)), True, key=is_enough)
    if first == len(plans):
        return None
    chosen = plans[first][1]
    return Proposal(words=chosen.words, changes=chosen.changes, worth=found[first])


def _sized(coarser: Iterable[Coarser]) -> Iterator[tuple[int, Coarser]]:
    """Yields plans with their numbers of cells; jobs are not kept, for they are large."""
    for one in coarser:
        # Totals that a plan names may come to the same in coarser cells, which is refused.
        with suppress(HushwayError):
            yield prepare(one.plan).geography.size, one


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
