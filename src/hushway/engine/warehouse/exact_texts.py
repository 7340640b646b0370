"""Whether a warehouse tells texts apart that differ: two people must not become one."""

from typing import Final

from hushway.engine.warehouse.connection import Connection, quietly_there
from hushway.tables.layout import Layout

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


def compares_exactly(connection: Connection, layout: Layout) -> bool:
    """Says whether all ids of a table are such that PostgreSQL compares them exactly.

    Privacy:
        Two people who share a limit are not bounded one by one.

    Raises:
        DataError: The warehouse does not say.
    """
    schema = connection.table(layout.files.table).schema()
    texts = {name for name in layout.names.values() if schema[name].is_string()}
    name = ".".join('"' + part.replace('"', '""') + '"' for part in layout.files.table.split("."))

    def plain() -> set[str]:
        with connection.backend.con.cursor() as cursor:
            return {column for (column,) in cursor.execute(_PLAIN, (name,)).fetchall()}

    return texts <= quietly_there(plain)
