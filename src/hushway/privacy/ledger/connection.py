"""From a path or an address to an open store."""

from pathlib import Path

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from hushway.errors import LedgerError
from hushway.privacy.ledger.postgresql import open_database
from hushway.privacy.ledger.sqlite import open_file
from hushway.privacy.ledger.store import Store

_ADVICE = "Give a file such as ledger.db, or an address such as postgresql://user@host/database."
_SQLITE = ("sqlite", "sqlite+pysqlite")
_POSTGRESQL = ("postgres", "postgresql", "postgresql+psycopg")


def open_store(url: str | Path, *, create: bool = True) -> Store:
    """Opens the store at a path, a sqlite:/// address or a postgresql:// address.

    A SQLite address takes two options: `mode=ro` to look only, `timeout` in seconds to wait for a
    lock.

    Raises:
        LedgerError: The address cannot be understood, or the store cannot be used.
    """
    if isinstance(url, Path) or "://" not in url:
        return open_file(_checked(str(url)), create=create)
    address = _parsed(url)
    if address.drivername in _SQLITE:
        return _open_sqlite(address, create=create)
    if address.drivername in _POSTGRESQL:
        return open_database(address)
    raise LedgerError("A ledger lives in SQLite or in PostgreSQL.", advice=_ADVICE)


def _open_sqlite(address: URL, *, create: bool) -> Store:
    options = dict(address.query)
    mode = options.pop("mode", "rw")
    timeout = str(options.pop("timeout", "60"))
    if (
        options
        or address.host
        or mode not in ("ro", "rw")
        or not timeout.replace(".", "", 1).isdigit()
    ):
        raise LedgerError("The address of the SQLite ledger cannot be understood.", advice=_ADVICE)
    path = _checked(address.database or "")
    return open_file(path, timeout_s=float(timeout), read_only=mode == "ro", create=create)


def _checked(path: str) -> Path:
    if not path or path == ":memory:" or "\0" in path:
        raise LedgerError(
            "A ledger needs a file: one in memory would forget what was spent.", advice=_ADVICE
        )
    return Path(path)


def _parsed(url: str) -> URL:
    try:
        return make_url(url)
    except (ArgumentError, ValueError):
        # The address may hold a password, so it is not repeated.
        raise LedgerError(
            "The address of the ledger cannot be understood.", advice=_ADVICE
        ) from None
