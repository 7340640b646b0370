"""A workbench that listens on a real port, in a thread of the test."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from hushway.workbench.addresses import LOOPBACK, Address
from hushway.workbench.app import Workbench, workbench_app
from hushway.workbench.http_server import listen, uvicorn_server
from hushway.workbench.login import Login
from hushway.workbench.plan_folder import PlanFolders
from hushway.workbench.tasks import TaskList


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
    login = Login()
    bench = Workbench(plans=PlanFolders([folder]), tasks=TaskList(lambda _task: None))
    with listen(LOOPBACK, 0) as listener:
        address = Address(host=LOOPBACK, port=listener.getsockname()[1])
        server = uvicorn_server(
            workbench_app(bench, login), address=address, access=login, goodbye_seconds=1
        )
        thread = threading.Thread(target=server.run, args=([listener],))
        thread.start()
        try:
            yield Served(address=address, printed=login.link(address.url))
        finally:
            server.should_exit = True
            thread.join()
