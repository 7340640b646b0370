"""Runs the transit study of the CBDP paper: how well private tables plan a city's shuttles."""

import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Final

from hushway.families.od.city.figures import Day
from hushway.privacy.internal import Internal
from hushway.study.progress import Progress
from hushway.transit.study.day import DAYS, study_day
from hushway.transit.study.fingerprint import fingerprint
from hushway.transit.study.journal import opened_journal
from hushway.transit.study.numbers import ODMTSReproduction
from hushway.transit.study.pool import outcomes_of
from hushway.transit.study.run import MECHANISMS, TRUTH, Outcome, Task

RUNS: Final = 50
EPSILONS: Final = ("1", "0.1", "0.05", "0.01")
JOURNAL: Final = "odmts-runs.jsonl"

# Below the budget of table 1 noise fills their tables with 90,000 trips (H5 at 0.1) to 3.4 million
# (Laplace at 0.01). The paper could not size fleets for them within a day either.
LARGE_BUDGET: Final = "1"
ONLY_AT_LARGE_BUDGET: Final = frozenset({"Laplace", "H3", "H4", "H5"})
# The paper shows other budgets on the weekday only.
DAY_OF_ALL_BUDGETS: Final[Day] = "weekday"


def reproduce_odmts(
    folder: Path,
    *,
    runs: int = RUNS,
    processes: int | None = None,
    days: tuple[Day, ...] = DAYS,
    epsilons: tuple[str, ...] = EPSILONS,
    mechanisms: tuple[str, ...] = tuple(MECHANISMS),
    progress: Progress,
) -> Internal[ODMTSReproduction]:
    """Sizes fleets by private tables and operates them on the true trips.

    Run number r has the same seed with every mechanism, as in the comparison of tables. What is
    done is kept in the folder. A study that was interrupted goes on from there, with more runs too.

    Args:
        folder: Where finished runs are kept; made if it is missing.
        runs: Runs of each mechanism, day and budget.
        processes: Processes that share the work; as many as there are processors unless given.
        days: The days.
        epsilons: The budgets.
        mechanisms: The mechanisms; the truth always comes along.
        progress: Told where it is.

    Raises:
        PlanError: The folder holds runs of another study.
        HushwayError: A process was ended from outside.
    """
    tasks = list(tasks_of(runs=runs, days=days, epsilons=epsilons, mechanisms=mechanisms))
    folder.mkdir(parents=True, exist_ok=True)
    progress("Making the city")
    with opened_journal(folder / JOURNAL, fingerprint()) as journal:
        ahead = [task for task in tasks if task not in journal.done]
        finished = len(tasks) - len(ahead)
        progress("Starting processes", finished / len(tasks))
        with closing(outcomes_of(ahead, processes=processes or os.cpu_count() or 1)) as found:
            for outcome in found:
                journal.add(outcome.value)
                finished += 1
                progress(str(outcome.value.task), finished / len(tasks))
        outcomes = tuple(Outcome(task=task, figures=journal.done[task]) for task in tasks)
    return Internal(
        ODMTSReproduction(
            runs=runs, trips={day: len(study_day(day).operated) for day in days}, outcomes=outcomes
        )
    )


def tasks_of(
    *, runs: int, days: tuple[Day, ...], epsilons: tuple[str, ...], mechanisms: tuple[str, ...]
) -> Iterator[Task]:
    """Yields all tasks, run by run, so that what is done first has something of every mechanism."""
    for run in range(runs):
        for day in days:
            yield Task(day=day, epsilon=None, mechanism=TRUTH, run=run)
            for epsilon in epsilons:
                if epsilon != LARGE_BUDGET and day != DAY_OF_ALL_BUDGETS:
                    continue
                for name in mechanisms:
                    if epsilon == LARGE_BUDGET or name not in ONLY_AT_LARGE_BUDGET:
                        yield Task(day=day, epsilon=epsilon, mechanism=name, run=run)
