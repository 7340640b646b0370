"""A workbench that listens on a real port, in a thread of the test."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from hushway.workbench.addresses import LOOPBACK, Address
from hushway.workbench.app import Workbench, workbench_app
from hushway.workbench.entry import Entry
from hushway.workbench.listening import listen
from hushway.workbench.serving import server_of
from hushway.workbench.shelf import Shelf
from hushway.workbench.tasks import TaskBoard


@dataclass(frozen=True, kw_only=True)
class Served:
    """A running server.

    Attributes:
        address: Where it listens.
        printed: The address that lets a browser in.
    """

    address: Address
    printed: str


@contextmanager
def served(folder: Path) -> Iterator[Served]:
    """Serves the plans of a folder."""
    entry = Entry()
    bench = Workbench(shelf=Shelf([folder]), board=TaskBoard(lambda _task: None))
    with listen(LOOPBACK, 0) as listener:
        address = Address(host=LOOPBACK, port=listener.getsockname()[1])
        server = server_of(
            workbench_app(bench, entry), address=address, access=entry, goodbye_seconds=1
        )
        thread = threading.Thread(target=server.run, args=([listener],))
        thread.start()
        try:
            yield Served(address=address, printed=entry.address(address.url))
        finally:
            server.should_exit = True
            thread.join()
