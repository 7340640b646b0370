"""Code that DuckDB could load into itself while protected rows are open, and does not."""

from typing import Final

# For every DuckDB that sees rows. An extension sees all of them, so none is fetched, none is loaded
# because a query happens to need it, and those of communities and strangers are refused. What is
# left is LOAD of an extension that DuckDB's own makers have signed; only `spilling` does that.
NO_FOREIGN_CODE: Final = {
    "allow_community_extensions": False,
    "allow_unsigned_extensions": False,
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
}
