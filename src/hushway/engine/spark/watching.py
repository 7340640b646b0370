"""How far a cluster is with its work."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import TYPE_CHECKING, Final

from hushway.progress import ShareProgress

if TYPE_CHECKING:
    from pyspark import SparkContext

_POLL_S: Final = 0.5


@contextmanager
def watched(context: "SparkContext", progress: ShareProgress | None) -> Iterator[None]:
    """Tells how many of the tasks that are known are done, from 0 to 1, while work is done."""
    if progress is None:
        yield
        return
    done = Event()

    def watch() -> None:
        tracker, seen = context.statusTracker(), {}
        while not done.wait(_POLL_S):
            for stage in tracker.getActiveStageIds():
                info = tracker.getStageInfo(stage)
                if info is not None:
                    seen[stage] = (info.numCompletedTasks, info.numTasks)
            active = set(tracker.getActiveStageIds())
            tasks = sum(total for _, total in seen.values())
            ready = sum(
                completed if stage in active else total
                for stage, (completed, total) in seen.items()
            )
            if tasks:
                progress(ready / tasks)

    watcher = Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()
