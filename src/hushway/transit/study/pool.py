"""Runs tasks in several processes, and stops them at once when it is interrupted."""

import multiprocessing
import signal
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager

from hushway.errors import HushwayError
from hushway.privacy.internal import Internal
from hushway.transit.study.run import Outcome, Task, run_task


def outcomes_of(tasks: Sequence[Task], *, processes: int) -> Generator[Internal[Outcome]]:
    """Yields what comes out of each task, as soon as it is known.

    Tasks are begun in their order. Whoever stops early, by an error or by closing the iterator,
    ends the processes: tasks that are not done by then are lost.

    Args:
        tasks: What to run.
        processes: How many processes run them; with 1 it is this one.

    Raises:
        HushwayError: A process was ended from outside.
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
