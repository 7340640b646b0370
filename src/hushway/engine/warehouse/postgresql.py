"""What must be so for PostgreSQL to count: room of its own, and texts told apart as here."""

from typing import Final

from hushway.engine.warehouse.connection import Connection, quietly_there
from hushway.tables.layout import Layout

# A copy that only follows another server, and a user who may only read, make no tables.
_HAS_ROOM: Final = """
    SELECT has_database_privilege(current_database(), 'TEMP') AND NOT pg_is_in_recovery()
    AND current_setting('transaction_read_only') = 'off'
"""
# Text with a length that is filled up with blanks, and a collation for which "a" is "A", compare
# other than the engine that reads files. Only plain texts with the collation of the database, which
# is never such a one, compare alike.
_PLAIN: Final = """
    SELECT a.attname
    FROM pg_attribute AS a
    JOIN pg_type AS t ON t.oid = a.atttypid
    JOIN pg_collation AS c ON c.oid = a.attcollation
    WHERE a.attrelid = to_regclass(%s)
    AND t.typname IN ('text', 'varchar') AND t.typtype = 'b' AND c.collname = 'default'
"""


def can_count(connection: Connection, layout: Layout) -> bool:
    """Says whether PostgreSQL can count a table, and compares all its ids exactly.

    Privacy:
        Two people who share a limit are not bounded one by one.

    Raises:
        DataError: The warehouse does not say.
    """
    schema = connection.table(layout.files.table).schema()
    texts = {name for name in layout.names.values() if schema[name].is_string()}
    table = ".".join('"' + part.replace('"', '""') + '"' for part in layout.files.table.split("."))

    def ask() -> bool:
        with connection.backend.con.cursor() as cursor:
            plain = {column for (column,) in cursor.execute(_PLAIN, (table,)).fetchall()}
            return bool(cursor.execute(_HAS_ROOM).fetchone()[0]) and texts <= plain

    return quietly_there(ask)
