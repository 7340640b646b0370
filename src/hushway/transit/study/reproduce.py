"""Runs the transit study of the CBDP paper: how well private tables plan a city's shuttles."""

import hashlib
import json
import multiprocessing
import os
import signal
from collections.abc import Generator, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, contextmanager
from dataclasses import asdict
from io import FileIO
from pathlib import Path
from typing import Any, Final

import hushway
from hushway.errors import HushwayError, PlanError
from hushway.families.od.city.places import Day
from hushway.geography.transit import network_toml
from hushway.privacy.measured import Internal
from hushway.progress import Progress
from hushway.transit.study.run import (
    CITY_SEED,
    COSTS,
    DAYS,
    MECHANISMS,
    RULES,
    TARGET_S,
    TRUTH,
    WINDOW_S,
    ODMTSReproduction,
    Outcome,
    Task,
    run_task,
    study_day,
)

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


def fingerprint() -> dict[str, Any]:
    """Returns everything that decides the numbers of a run, as plain values."""
    return {
        "hushway": hushway.__version__,
        "code": code_digest(Path(hushway.__file__).parent),
        "city_seed": CITY_SEED,
        "rules": asdict(RULES),
        "mean_wait_s": TARGET_S,
        "window_s": list(WINDOW_S),
        "rider_costs": asdict(COSTS),
        "days": {day: _day_digest(day) for day in DAYS},
    }


def code_digest(package: Path) -> str:
    """Returns a digest of all code: a version does not tell apart what is being worked on."""
    digest = hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        digest.update(path.relative_to(package).as_posix().encode() + b"\0")
        digest.update(path.read_bytes() + b"\0")
    return digest.hexdigest()


def _day_digest(day: Day) -> str:
    """Returns a digest of the places, the network over them and the trips of the window."""
    here = study_day(day)
    digest = hashlib.sha256(here.scene.cells.digest.encode())
    digest.update(network_toml(here.routes.network).encode())
    trips = here.operated
    for column in (trips.depart_s, trips.origin, trips.destination):
        digest.update(column.astype("<i8").tobytes())
    return digest.hexdigest()


def outcomes_of(tasks: Sequence[Task], *, processes: int) -> Generator[Internal[Outcome]]:
    """Yields what comes out of each task, as soon as it is known.

    Tasks are begun in their order. Whoever stops early, by an error or by closing the iterator,
    ends the processes: tasks that are not done by then are lost.
    """
    # More processes than tasks would start for nothing.
    processes = min(processes, len(tasks))
    if processes <= 1:
        yield from map(run_task, tasks)
        return
    with _pool(processes) as pool:
        begun = [pool.submit(run_task, task) for task in tasks]
        try:
            for future in as_completed(begun):
                yield future.result()
        except BrokenProcessPool:
            raise HushwayError(
                "A process of the study was ended from outside.",
                advice="Run it again: it goes on where it stopped. If memory ran out, give it "
                "fewer processes.",
            ) from None


@contextmanager
def _pool(processes: int) -> Iterator[ProcessPoolExecutor]:
    strangers = multiprocessing.active_children()
    pool = ProcessPoolExecutor(
        processes, mp_context=multiprocessing.get_context("spawn"), initializer=_die_quietly
    )
    try:
        yield pool
    except BaseException:
        # A task may take half a minute; nobody who interrupts the study waits for it. Without its
        # processes the pool gives up the tasks that are left.
        for child in multiprocessing.active_children():
            if child not in strangers:
                child.terminate()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _die_quietly() -> None:
    """Lets Ctrl-C end a process without a traceback: the one that started it says what happened."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


# A file of finished runs, one a line, so that a long study can be interrupted and go on.
#
# The first line says what the numbers depend on. A run is on the disk before the next is waited
# for. Only the last line can be half-written, if the machine went down; it is dropped.


class Journal:
    """The finished runs of a study."""

    def __init__(self, file: FileIO, done: Mapping[Task, dict[str, float]]) -> None:
        self.done = dict(done)
        self._file = file

    def add(self, outcome: Outcome) -> None:
        """Keeps a run, on the disk when this returns."""
        _append(self._file, {**asdict(outcome.task), "figures": outcome.figures})
        self.done[outcome.task] = outcome.figures


@contextmanager
def opened_journal(path: Path, fingerprint: Mapping[str, Any]) -> Iterator[Journal]:
    """Opens a file of runs, or begins one.

    Raises:
        PlanError: The file holds runs that depend on other things, or is damaged.
    """
    # Appending writes at the end, also after the end was cut off.
    with path.open("ab+", buffering=0) as file:
        file.seek(0)
        lines, end = _whole_lines(file.readall(), path)
        file.truncate(end)
        if lines:
            _check(lines[0], fingerprint, path)
        else:
            _append(file, {"fingerprint": fingerprint})
        yield Journal(file, dict(_run_of(line, path) for line in lines[1:]))


def _append(file: FileIO, facts: Mapping[str, Any]) -> None:
    file.write(json.dumps(facts, ensure_ascii=False).encode() + b"\n")
    os.fsync(file.fileno())


def _whole_lines(content: bytes, path: Path) -> tuple[list[Any], int]:
    """Returns the lines that can be read, and where the last of them ends."""
    rows = content.splitlines(keepends=True)
    lines: list[Any] = []
    end = 0
    for number, row in enumerate(rows, start=1):
        try:
            line = json.loads(row) if row.endswith(b"\n") else None
        except ValueError:
            line = None
        if line is None and number < len(rows):
            raise _damaged(path, number)
        if line is not None:
            lines.append(line)
            end += len(row)
    return lines, end


def _check(first: Any, fingerprint: Mapping[str, Any], path: Path) -> None:
    # Through JSON and back, so that equal values are equal however they were made.
    if first != {"fingerprint": json.loads(json.dumps(fingerprint))}:
        raise PlanError(
            f"{path} holds runs of another city, other rules or another version of hushway.",
            advice="Name another folder, so that runs which do not belong together stay apart.",
        )


def _run_of(line: Any, path: Path) -> tuple[Task, dict[str, float]]:
    try:
        figures = {str(name): float(value) for name, value in line.pop("figures").items()}
        return Task(**line), figures
    except (AttributeError, KeyError, TypeError, ValueError):
        raise _damaged(path) from None


def _damaged(path: Path, number: int | None = None) -> PlanError:
    where = "" if number is None else f", line {number}"
    return PlanError(
        f"{path} cannot be read{where}: one finished run a line was expected.",
        advice="Take out the damaged line: the run will be done again. Or name another folder.",
    )
