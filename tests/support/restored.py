"""A ledger put back to an earlier day, in any database: what restoring a backup does."""

from typing import Any

from sqlalchemy import select

from hushway.privacy.ledger import Ledger
from hushway.privacy.ledger.schema import (
    account_table,
    entry_table,
    ledger_table,
    people_table,
)

Rows = dict[str, list[dict[str, Any]]]
# Accounts before their entries.
_TABLES = (ledger_table, account_table, entry_table, people_table)


def backed_up(ledger: Ledger) -> Rows:
    """Returns every row of a ledger."""
    with ledger._store.reading() as connection:
        return {
            table.name: [dict(row) for row in connection.execute(select(table)).mappings()]
            for table in _TABLES
        }


def put_back(ledger: Ledger, rows: Rows) -> None:
    """Replaces every row of a ledger by those of an earlier day."""
    with ledger._store.writing() as connection:
        for table in reversed(_TABLES):
            connection.execute(table.delete())
        for table in _TABLES:
            if rows[table.name]:
                connection.execute(table.insert(), rows[table.name])
