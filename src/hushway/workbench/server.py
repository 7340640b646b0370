"""Starts the workbench, and ends it in order."""

import signal
import threading
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

from hushway.workbench.addresses import LOOPBACK, LOOPBACK_NAME, Address
from hushway.workbench.app import Workbench, workbench_app
from hushway.workbench.child import PUBLISH
from hushway.workbench.entry import Entry
from hushway.workbench.listening import listen
from hushway.workbench.reader_process import ReaderProcess
from hushway.workbench.serving import server_of
from hushway.workbench.shelf import Shelf
from hushway.workbench.tasks import Task, TaskBoard

_SECONDS_TO_SAY_GOODBYE = 2


def serve(
    places: Sequence[Path],
    *,
    host: str,
    port: int,
    announce: Callable[[str], None],
    notice: Callable[[str], None],
) -> None:
    """Serves the workbench until it is interrupted.

    A publish that is at work then is waited for: its budget is spent, and should come to something.
    A second Ctrl-C interrupts it as `hushway publish` would be.

    Args:
        places: Plans, and folders in which plans lie.
        host: Where to listen.
        port: Which port; 0 for any that is free.
        announce: Told the address that lets a browser in, once.
        notice: Told what a person at the terminal should know.

    Raises:
        HushwayError: The port is taken, or there are no such plans.
    """
    shelf = Shelf(places)
    with ExitStack() as stack:
        # A name of two numbers, of which only one is listened on, would be announced.
        host = LOOPBACK if host == LOOPBACK_NAME else host
        listener = stack.enter_context(listen(host, port))
        address = Address(host=host, port=listener.getsockname()[1])
        if not address.is_loopback:
            notice(
                f"Others on the network can reach {address.url}, and nothing that is sent is "
                "encrypted: whoever listens can take your place. Use this in a network that you "
                "trust, or leave --host out."
            )
        # Others on the network could not reach the readers' pages: those stay on this machine.
        reader = stack.enter_context(ReaderProcess()) if address.is_loopback else None
        board = TaskBoard(_showing(shelf, reader))
        bench = Workbench(shelf=shelf, board=board, reader=reader)
        entry = Entry()
        server = server_of(
            workbench_app(bench, entry),
            address=address,
            access=entry,
            goodbye_seconds=_SECONDS_TO_SAY_GOODBYE,
        )
        announce(entry.address(address.url))
        try:
            with suppress(KeyboardInterrupt):
                server.run(sockets=[listener])
        finally:
            _end(board, notice)


def _showing(shelf: Shelf, reader: ReaderProcess | None) -> Callable[[Task], None]:
    """Shows all releases to readers, and returns what shows them again after a publish."""

    def show() -> None:
        if reader is not None:
            reader.show(shelf.releases())

    def at_end(task: Task) -> None:
        if task.kind == PUBLISH:
            threading.Thread(target=show, daemon=True).start()

    threading.Thread(target=show, daemon=True).start()
    return at_end


def _end(board: TaskBoard, notice: Callable[[str], None]) -> None:
    """Waits for what spends, and stops all else."""
    publishing = [task for task in board.running if task.kind == PUBLISH]
    for task in board.running:
        if task not in publishing:
            task.interrupt()
    if not publishing:
        return
    # A shell that starts something in the background lets it ignore Ctrl-C, and the server has put
    # that back. Who could send the first can send a second.
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
