"""Ledgers in a PostgreSQL database."""

from sqlalchemy import URL, Connection, NullPool, create_engine, event

from hushway.errors import LedgerError
from hushway.privacy.ledger.store import Store

_CONNECT_TIMEOUT_S = 10
# Any number would do, as long as every hushway uses the same one.
_CREATION_LOCK = 7_483_710_452
# The server's own settings stand unless they would let a ledger wait for ever or forget a commit.
_DURABLE = (
    "SELECT set_config('lock_timeout', '60s', true) WHERE current_setting('lock_timeout') = '0'",
    """SELECT set_config('synchronous_commit', 'on', true)
    WHERE current_setting('synchronous_commit') = 'off'""",
)
_CREATION = f"SELECT pg_advisory_xact_lock({_CREATION_LOCK})"


def open_database(url: URL) -> Store:
    """Opens a ledger in a database.

    Raises:
        LedgerError: The driver is not installed.
    """
    name = f"{url.host or 'local'}/{url.database or ''}"
    defaults = {"connect_timeout": _CONNECT_TIMEOUT_S, "client_encoding": "utf8"}
    try:
        engine = create_engine(
            url.set(drivername="postgresql+psycopg"),
            connect_args={k: v for k, v in defaults.items() if k not in url.query},
            poolclass=NullPool,
            hide_parameters=True,
        )
    except ImportError:
        raise LedgerError(
            "A ledger in PostgreSQL needs a driver that is not installed.",
            advice='Install it: pip install "hushway[postgres]"',
        ) from None
    # Under READ COMMITTED a writer that waited for the account row sees what the one before it
    # wrote.
    writer = engine.execution_options(isolation_level="READ COMMITTED")
    creator = writer.execution_options(hushway_creates=True)
    event.listen(engine, "begin", _begin)
    return Store(
        name=name,
        # Several SELECTs must see one moment, or a check would find fault with a ledger in use.
        reader=engine.execution_options(
            isolation_level="REPEATABLE READ", postgresql_readonly=True, hushway_reads=True
        ),
        writer=writer,
        creator=creator,
    )


def _begin(connection: Connection) -> None:
    options = connection.get_execution_options()
    if options.get("hushway_reads"):
        return
    for statement in _DURABLE:
        connection.exec_driver_sql(statement)
    if options.get("hushway_creates"):
        # CREATE TABLE IF NOT EXISTS is not safe when two sessions run it at once; a lock is.
        connection.exec_driver_sql(_CREATION)
