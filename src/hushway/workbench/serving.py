"""How both servers, the steward's and the readers', are run."""

from functools import partial
from typing import Any, Final

import uvicorn
from starlette.types import ASGIApp

from hushway.workbench.addresses import Address
from hushway.workbench.connections import LimitedConnection, UnknownConnections
from hushway.workbench.guard import Access, Guard

# Connections that are taken at once, before any of them can be closed again.
BACKLOG: Final = 128


def server_of(
    app: ASGIApp, *, address: Address, access: Access, goodbye_seconds: int
) -> uvicorn.Server:
    """Returns a server that is guarded, and that logs nothing.

    Args:
        app: What it serves.
        address: Where it listens.
        access: Who is let in.
        goodbye_seconds: How long it waits for answers that are on their way when it ends.
    """
    connection: Any = partial(LimitedConnection, access=access, unknown=UnknownConnections())
    config = uvicorn.Config(
        Guard(app, address=address, access=access),
        http=connection,
        backlog=BACKLOG,
        access_log=False,
        # Errors are answered; a log could quote a row or a token.
        log_config=None,
        log_level="critical",
        lifespan="off",
        server_header=False,
        timeout_graceful_shutdown=goodbye_seconds,
        ws="none",
    )
    return uvicorn.Server(config)
