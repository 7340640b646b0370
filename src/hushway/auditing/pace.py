"""How long audits take on this machine, told by a few runs of each.

Time of the processor is measured, since a moment in which others have it would be multiplied by
thousands of runs. How much longer everything takes because of others is measured over all runs.
"""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from time import perf_counter, process_time
from typing import TypeVar

from hushway.auditing.harness import Examination, Sampler, enough

# Long enough to be told from nothing.
_SECONDS = 0.05
# Long enough for a pause of the machine not to matter.
_MANY_SECONDS = 1
_MORE = 4
_MINUTE = 60
# From here on minutes are said, and seconds no more.
_FEW_SECONDS = 100


Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True, kw_only=True)
class Pace:
    """How long one audit takes.

    Attributes:
        first: Seconds until the first run of each world is done.
        each: Seconds that one more run of all worlds takes.
        effort: How many times the runs that are asked for the audit takes.
    """

    first: float
    each: float
    effort: Fraction

    def seconds(self, runs: int) -> float:
        """Returns how long an audit with so many runs takes, roughly."""
        return self.first + self.each * enough(runs, self.effort)


def pace_of(examination: Examination, runs: int) -> Pace:
    """Runs an audit's code a few times, more often as long as that is too quick to tell.

    Args:
        runs: The runs that will be asked for; no more are tried.
    """
    effort = getattr(examination, "effort", Fraction(1))
    samplers = _samplers(examination)
    if not samplers:
        return Pace(first=0.0, each=0.0, effort=effort)
    # Worlds are neighbours: one takes as long as the other.
    first, each = _grown(samplers[0], enough(runs, effort))
    return Pace(first=first * len(samplers), each=each * len(samplers), effort=effort)


def paces_of(audits: Iterable[tuple[Key, Examination]], runs: int) -> dict[Key, Pace]:
    """Times several audits, on a machine that may be busy with other things.

    Args:
        audits: Each audit, and what to call it.
    """
    began, computed = perf_counter(), process_time()
    found = {key: pace_of(examination, runs) for key, examination in audits}
    busy = (perf_counter() - began) / max(process_time() - computed, _SECONDS)
    return {
        key: replace(pace, first=busy * pace.first, each=busy * pace.each)
        for key, pace in found.items()
    }


def in_words(seconds: float) -> str:
    """Says roughly how long something takes."""
    if seconds < 1:
        return "about a second"
    if seconds < _FEW_SECONDS:
        return f"about {_rounded(seconds)} seconds"
    return f"about {_rounded(seconds / _MINUTE)} minutes"


def _samplers(examination: Examination) -> Sequence[Sampler]:
    """Returns what runs the audited code: nothing, where nothing is left to chance."""
    worlds = getattr(examination, "worlds", ())
    alone = getattr(examination, "sample", None)
    return [world.sample for world in worlds] if alone is None else [alone]


def _grown(sampler: Sampler, most: int) -> tuple[float, float]:
    """Returns how long a first run takes, and how long each further one."""
    # The first time of all machine code is loaded.
    sampler(1)
    first = last = _timed(sampler, 1)
    runs, telling = 1, max(_SECONDS, 2 * first)
    while runs < most and last < telling:
        runs = min(_MORE * runs, most)
        last = _timed(sampler, runs)
        if telling <= last < _MANY_SECONDS:
            # Once more: what happened to take long must not be multiplied either.
            last = min(last, _timed(sampler, runs))
    return first, max(last - first, 0.0) / max(runs - 1, 1)


def _timed(sampler: Sampler, runs: int) -> float:
    began = process_time()
    sampler(runs)
    return process_time() - began


def _rounded(number: float) -> int:
    """Returns a number to one digit, or two if it begins with a small one: 1, 2, 15, 30."""
    whole = max(1, round(number))
    return whole if whole < 20 else round(whole, -1)  # noqa: PLR2004  "about 23 minutes" is too exact
