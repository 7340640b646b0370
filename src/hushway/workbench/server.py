"""Runs the workbench, and shuts it down in order."""

import signal
import threading
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

from hushway.workbench.addresses import LOOPBACK, LOOPBACK_NAME, Address
from hushway.workbench.app import Workbench, workbench_app
from hushway.workbench.http_server import listen, uvicorn_server
from hushway.workbench.login import Login
from hushway.workbench.plan_folder import PlanFolders
from hushway.workbench.reader_process import ReaderProcess
from hushway.workbench.tasks import Task, TaskList
from hushway.workbench.worker import PUBLISH

_SHUTDOWN_SECONDS = 2


def run_workbench(
    places: Sequence[Path],
    *,
    host: str,
    port: int,
    announce: Callable[[str], None],
    notice: Callable[[str], None],
) -> None:
    """Serves the workbench until it is interrupted.

    It then waits for a publish that is running, because its budget is spent already. A second
    Ctrl-C interrupts that as well.

    Args:
        places: Plans, and folders with plans.
        host: Where to listen.
        port: Which port; 0 for any that is free.
        announce: Told the one-time login link.
        notice: Told what a person at the terminal should know.

    Raises:
        HushwayError: The port is taken, or there are no such plans.
    """
    plans = PlanFolders(places)
    with ExitStack() as stack:
        # localhost has two addresses, of which only one would be listened on.
        host = LOOPBACK if host == LOOPBACK_NAME else host
        listener = stack.enter_context(listen(host, port))
        address = Address(host=host, port=listener.getsockname()[1])
        if not address.is_loopback:
            notice(
                f"Others on the network can reach {address.url}, and nothing is encrypted: "
                "anyone who can read the traffic can act as you. Use this in a network that you "
                "trust, or leave --host out."
            )
        # The readers' pages are on a loopback address only.
        reader = stack.enter_context(ReaderProcess()) if address.is_loopback else None
        tasks = TaskList(_showing(plans, reader))
        bench = Workbench(plans=plans, tasks=tasks, reader=reader)
        login = Login()
        server = uvicorn_server(
            workbench_app(bench, login),
            address=address,
            access=login,
            goodbye_seconds=_SHUTDOWN_SECONDS,
        )
        announce(login.link(address.url))
        try:
            with suppress(KeyboardInterrupt):
                server.run(sockets=[listener])
        finally:
            _end(tasks, notice)


def _showing(plans: PlanFolders, reader: ReaderProcess | None) -> Callable[[Task], None]:
    """Shows all releases to readers, and returns what shows them again after a publish."""

    def show() -> None:
        if reader is not None:
            reader.show(plans.releases())

    def at_end(task: Task) -> None:
        if task.kind == PUBLISH:
            threading.Thread(target=show, daemon=True).start()

    threading.Thread(target=show, daemon=True).start()
    return at_end


def _end(tasks: TaskList, notice: Callable[[str], None]) -> None:
    """Waits for publishes, and interrupts all other tasks."""
    publishing = [task for task in tasks.running if task.kind == PUBLISH]
    for task in tasks.running:
        if task not in publishing:
            task.interrupt()
    if not publishing:
        return
    # A shell lets background jobs ignore Ctrl-C, and uvicorn has restored that. Whoever sent the
    # first Ctrl-C can send a second.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        notice("A release is being published: waiting for it. Ctrl-C once more interrupts it.")
        for task in publishing:
            task.wait()
    except KeyboardInterrupt:
        for task in publishing:
            task.interrupt()
        for task in publishing:
            task.wait()
    for task in publishing:
        last = task.events[-1]
        words = (
            ["It is published."]
            if last.name == "result"
            else [last.data["message"], *last.data["notes"]]
        )
        notice(" ".join(words))
