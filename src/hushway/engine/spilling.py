"""Where rows go that do not fit into memory: a private folder of a run, encrypted if possible."""

import contextlib
import tempfile
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import duckdb

from hushway.errors import DataError
from hushway.numerics.folders import run_folder
from hushway.tables.check import Problem

# What a killed run leaves is encrypted if DuckDB can do that: with a key that only the memory of
# the dead process knew. The next run takes it away.

# DuckDB leaves the writing of encrypted files to OpenSSL, which its extension httpfs brings. It has
# a cipher of its own, but no safe random numbers for keys and nonces (duckdb/duckdb#20148): that is
# behind a setting named force_mbedtls_unsafe, and is not used here.
ENCRYPTION_EXTRA: Final = "hushway[encrypted-spills]"
# Loading what encrypts also brings ways into the network, which nobody needs here.
_NO_NETWORK = "SET disabled_filesystems = 'HTTPFileSystem,S3FileSystem,HuggingFaceFileSystem'"
_LIBRARY = "duckdb_extension_httpfs"


@contextlib.contextmanager
def spill_folder(parent: Path | str | None) -> Iterator[Path]:
    """Makes a folder for one run, which only this user can read, and removes it afterwards."""
    place = Path(tempfile.gettempdir() if parent is None else parent)
    with contextlib.ExitStack() as stack:
        try:
            folder = stack.enter_context(run_folder(place, "rows"))
        except OSError:
            raise DataError(
                "There is no folder for temporary files, it cannot be written to, or others could "
                "change what is in it.",
                advice="Set temp_folder to a folder with free space that only you may write to.",
            ) from None
        yield folder


def encrypt_spills(connection: duckdb.DuckDBPyConnection) -> None:
    """Lets a DuckDB encrypt what it writes to its temporary folder."""
    library = _encryption_library()
    if library is not None:
        try:
            connection.execute(f"LOAD '{str(library).replace(chr(39), chr(39) * 2)}'")
            connection.execute("SET temp_file_encryption = true")
            connection.execute(_NO_NETWORK)
        except duckdb.Error:
            pass
        else:
            return
    raise DataError(
        "Rows that do not fit into memory cannot be encrypted: DuckDB's library for that is "
        "missing, or belongs to another version.",
        advice=f'Install it on every machine that counts: pip install "{ENCRYPTION_EXTRA}"; or set '
        "encrypt_spills = false, and keep temp_folder on an encrypted disk.",
    )


def can_encrypt_spills() -> bool:
    """Whether the library that encrypts is there, for this very DuckDB."""
    return _encryption_library() is not None


def spills_are_encrypted(wanted: bool | None) -> bool:
    """Whether a DuckDB of this machine encrypts what it writes to its temporary folder."""
    return can_encrypt_spills() if wanted is None else wanted


def spill_notes(wanted: bool | None) -> tuple[Problem, ...]:
    """Returns what a steward should know who left encryption open on a machine that cannot."""
    if wanted is not None or can_encrypt_spills():
        return ()
    return (
        Problem(
            kind="unencrypted_spills",
            message="Rows that do not fit into memory go to disk unencrypted while counting: the "
            "library that encrypts them is not installed here.",
            count=None,
            advice=f'Install it with pip install "{ENCRYPTION_EXTRA}" or keep temp_folder on an '
            "encrypted disk, and set encrypt_spills = false in [engine].",
            severity="note",
        ),
    )


@cache
def _encryption_library() -> Path | None:
    found = find_spec(_LIBRARY)
    if found is None or found.origin is None:
        return None
    folder = Path(found.origin).parent / "extensions" / f"v{duckdb.__version__}"
    library = folder / "httpfs.duckdb_extension"
    return library if library.is_file() else None
