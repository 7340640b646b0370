"""Tasks: each is a worker process, and its events are kept for every page that asks."""

import asyncio
import json
import os
import secrets
import signal
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from hushway.exit_messages import ErrorMessage
from hushway.workbench.responses import RefusalError, error_facts
from hushway.workbench.worker import PUBLISH

# -P: modules in the current folder must not be imported.
COMMAND: Final = (sys.executable, "-P", "-m", "hushway.workbench.worker")
_MOST_RUNNING: Final = 6
_MOST_KEPT: Final = 100
_LAST: Final = ("result", "failed")
_ENDED: Final = ErrorMessage(
    message="The task ended without an answer: something stopped its process.",
    advice="Try again, perhaps with more memory. Look at the ledger first if it was to publish.",
)
_ENDED_PUBLISHING: Final = (
    "What was reserved stays spent: hushway ledger settle PLAN puts it in order."
)


class State(StrEnum):
    """The state of a task."""

    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    INTERRUPTED = "interrupted"


@dataclass(frozen=True)
class Event:
    """An event of a task: its kind and its data."""

    name: str
    data: Any


class Task:
    """A worker process.

    Args:
        kind: What it does.
        plan: The id of the plan that it is about.
        question: What is sent to the process.
        at_end: Called when it has ended.
    """

    def __init__(
        self, kind: str, plan: str, question: Mapping[str, Any], at_end: Callable[["Task"], None]
    ) -> None:
        self.id = secrets.token_hex(8)
        self.kind = kind
        self.plan = plan
        self.events: list[Event] = []
        self._interrupted = False
        self._at_end = at_end
        self._listeners: set[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = set()
        self._lock = threading.Lock()
        self._process = subprocess.Popen(  # noqa: S603  our own module
            COMMAND,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            # Warnings of libraries may quote a row.
            stderr=subprocess.DEVNULL,
            # Ctrl-C in the terminal goes to the server alone, which interrupts its tasks.
            start_new_session=True,
        )
        self._over = threading.Event()
        threading.Thread(
            target=self._listen, args=(json.dumps(question).encode(),), daemon=True
        ).start()

    @property
    def state(self) -> State:
        """Its state."""
        if not self.is_over:
            return State.RUNNING
        if self.events[-1].name == "result":
            return State.DONE
        return State.INTERRUPTED if self._interrupted else State.FAILED

    @property
    def is_over(self) -> bool:
        """Whether its last event has come."""
        return bool(self.events) and self.events[-1].name in _LAST

    def interrupt(self) -> None:
        """Interrupts it, as Ctrl-C does."""
        if not self.is_over:
            self._interrupted = True
            self._process.send_signal(signal.SIGINT)

    def wait(self, seconds: float | None = None) -> None:
        """Waits until it is over."""
        # Not by joining its thread: after Ctrl-C Python takes an interrupted join for its end.
        self._over.wait(seconds)

    async def stream(self, after: int = 0) -> AsyncIterator[tuple[int, Event] | None]:
        """Yields its events with their numbers, up to the last; None while it is silent."""
        listener = asyncio.get_running_loop(), asyncio.Event()
        with self._lock:
            self._listeners.add(listener)
        try:
            position = after
            while True:
                listener[1].clear()
                while position < len(self.events):
                    position += 1
                    yield position, self.events[position - 1]
                if self.is_over and position >= len(self.events):
                    return
                try:
                    await asyncio.wait_for(listener[1].wait(), _SECONDS_OF_SILENCE)
                except TimeoutError:
                    yield None
        finally:
            with self._lock:
                self._listeners.discard(listener)

    def _listen(self, question: bytes) -> None:
        process = self._process
        assert process.stdin is not None and process.stdout is not None  # noqa: S101, PT018  pipes
        try:
            process.stdin.write(question)
            process.stdin.close()
        except OSError:
            pass
        for line in process.stdout:
            message = json.loads(line)
            event = Event(message["event"], message["data"])
            if event.name in _LAST:
                # A task ends with its process.
                process.wait()
            self._add(event)
        process.stdout.close()
        process.wait()
        if not self.is_over:
            notes = (_ENDED_PUBLISHING,) if self.kind == PUBLISH else ()
            error = ErrorMessage(message=_ENDED.message, advice=_ENDED.advice, notes=notes)
            self._add(Event("failed", error_facts(error)))

    def _add(self, event: Event) -> None:
        if event.name in _LAST:
            self._at_end(self)
        with self._lock:
            self.events.append(event)
            listeners = tuple(self._listeners)
        if self.is_over:
            self._over.set()
        for loop, heard in listeners:
            try:
                loop.call_soon_threadsafe(heard.set)
            except RuntimeError:  # the server has ended meanwhile
                continue


_SECONDS_OF_SILENCE: Final = 15.0


class TaskList:
    """All tasks of a server.

    Args:
        at_end: Called with every task when it has ended, before its last event is sent.
    """

    def __init__(self, at_end: Callable[[Task], None]) -> None:
        self._tasks: dict[str, Task] = {}
        self._at_end = at_end

    def start(self, kind: str, plan: str, file: Path, options: Mapping[str, Any]) -> Task:
        """Starts a task.

        Raises:
            RefusalError: Too many are running.
        """
        if len(self.running) >= _MOST_RUNNING:
            raise RefusalError(
                429, "Too many tasks are at work.", advice="Wait for one, or interrupt one."
            )
        question = {"kind": kind, "plan": os.fspath(file), "options": dict(options)}
        task = Task(kind, plan, question, self._at_end)
        self._tasks[task.id] = task
        for old in [one.id for one in self._tasks.values() if one.is_over][:-_MOST_KEPT]:
            del self._tasks[old]
        return task

    def task(self, task_id: str) -> Task:
        """Returns a task by its id.

        Raises:
            RefusalError: There is no such task.
        """
        if task_id not in self._tasks:
            raise RefusalError(404, "There is no such task.", advice="Start it again.")
        return self._tasks[task_id]

    @property
    def all(self) -> list[Task]:
        """All tasks that are kept, the oldest first."""
        return list(self._tasks.values())

    @property
    def running(self) -> list[Task]:
        """The tasks that are running."""
        return [task for task in self.all if not task.is_over]
