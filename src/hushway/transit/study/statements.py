"""What the transit study comes to, in sentences.

Errors of two mechanisms are compared run by run, since a run has the same seed with each: a pair is
told apart if the 95% interval of the mean difference does not hold 0.
"""

from collections.abc import Iterator, Sequence
from enum import StrEnum
from itertools import combinations

from hushway.study.interval import interval_of
from hushway.transit.study.numbers import ODMTSReproduction
from hushway.transit.study.published import ORDER
from hushway.transit.study.reproduce import DAY_OF_ALL_BUDGETS, LARGE_BUDGET, ONLY_AT_LARGE_BUDGET

_FEWEST_RUNS = 2


class Verdict(StrEnum):
    """Whether one mechanism has the smaller error of two."""

    COMES_OUT = "comes out"
    REVERSED = "comes out the other way round"
    UNTOLD = "cannot be told in so many runs"


def compared(found: ODMTSReproduction, day: str, better: str, worse: str) -> Verdict:
    """Says whether the first mechanism has the smaller error in the number of shuttles."""
    gain = found.errors(day, LARGE_BUDGET, worse, "shuttles") - found.errors(
        day, LARGE_BUDGET, better, "shuttles"
    )
    if len(gain) < _FEWEST_RUNS:
        return Verdict.UNTOLD
    interval = interval_of(gain)
    if abs(interval.mean) <= interval.half_width:
        return Verdict.UNTOLD
    return Verdict.COMES_OUT if interval.mean > 0 else Verdict.REVERSED


def statements(found: ODMTSReproduction) -> list[str]:
    """Returns the sentences."""
    lines: list[str] = []
    for day in found.days:
        run = found.mechanisms(day, LARGE_BUDGET)
        names = [name for name in ORDER if name in run]
        if len(names) == len(ORDER):
            lines += _extremes(found, day)
        if len(names) > 1:
            lines.append(_order(found, day, names))
        if {"default", "O5"} <= set(run):
            verdict = compared(found, day, "default", "O5")
            lines.append(
                f"On the {day}, that hushway's default is nearer to the true fleet than O5 "
                f"{verdict} ({_errors(found, day, ['default', 'O5'])})."
            )
    if len(found.epsilons(DAY_OF_ALL_BUDGETS)) > 1:
        lines.append(
            f"{_listed(sorted(ONLY_AT_LARGE_BUDGET))} are sized at ε = {LARGE_BUDGET} only: below, "
            "noise fills their tables with many times the trips, as hushway reproduce cbdp counts "
            "them. The paper found no fleets for them within 24 hours either."
        )
    return lines


def _extremes(found: ODMTSReproduction, day: str) -> Iterator[str]:
    """Yields whether O5 is the best of the seven, and Laplace the worst."""
    best, worst = ORDER[0], ORDER[-1]
    nearer = {name: compared(found, day, best, name) for name in ORDER[1:]}
    farther = {name: compared(found, day, name, worst) for name in ORDER[:-1]}
    yield f"On the {day}, that {best} is nearest to the true fleet of the seven {_all(nearer)}."
    yield f"On the {day}, that {worst} is farthest from it {_all(farther)}."


def _all(verdicts: dict[str, Verdict]) -> str:
    """Says whether all comparisons come out, and if not, which keep it from coming out."""
    for verdict in (Verdict.REVERSED, Verdict.UNTOLD):
        names = [name for name, found in verdicts.items() if found is verdict]
        if names:
            what = "does not come out" if verdict is Verdict.REVERSED else str(verdict)
            return f"{what} (because of {_listed(names)})"
    return str(Verdict.COMES_OUT)


def _order(found: ODMTSReproduction, day: str, names: Sequence[str]) -> str:
    """Says which pairs of the printed order come out."""
    pairs: dict[Verdict, list[str]] = {verdict: [] for verdict in Verdict}
    for better, worse in combinations(names, 2):
        pairs[compared(found, day, better, worse)].append(f"{better} < {worse}")
    count = sum(len(some) for some in pairs.values())
    told = [f"{len(pairs[Verdict.COMES_OUT])} as printed"]
    if other := pairs[Verdict.REVERSED]:
        told.append(f"{len(other)} the other way round ({_listed(other)})")
    if untold := pairs[Verdict.UNTOLD]:
        which = "" if len(untold) == count else f" ({_listed(untold)})"
        told.append(f"{len(untold)} not to be told in so many runs{which}")
    return (
        f"On the {day}, of the {count} pairs of the printed order {' < '.join(names)} in the error "
        f"of shuttles: {'; '.join(told)}. Errors: {_errors(found, day, names)}."
    )


def _errors(found: ODMTSReproduction, day: str, names: Sequence[str]) -> str:
    return ", ".join(
        f"{name} {found.error(day, LARGE_BUDGET, name, 'shuttles').mean:.3f}" for name in names
    )


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
