"""Files beside the plans: listed with the names of their columns, and taken from a browser.

Privacy:
    No row is read. A file that is taken is readable by its owner alone.
"""

import os
import re
import secrets
from collections.abc import AsyncIterable
from itertools import count
from pathlib import Path
from typing import Any, Final

from hushway.errors import ReleaseError
from hushway.families.first_plan import likely_type
from hushway.families.registry import FAMILIES
from hushway.release.folder.new_file import refuse_taken
from hushway.tables.column_names import column_names
from hushway.tables.header import Header
from hushway.workbench.middleware import MOST_FILE_BYTES, TOO_LARGE
from hushway.workbench.responses import RefusalError

_ENDINGS: Final = (".csv", ".csv.gz", ".txt", ".parquet", ".geojson", ".json", ".zip")
_NAME: Final = re.compile(r"[^\W_][\w .()+-]{0,120}")
_MOST_FILES: Final = 200


def data_files(folder: Path) -> list[dict[str, Any]]:
    """Returns the files of a folder that rows or public facts may be in, with their columns."""
    found = sorted(file for file in folder.iterdir() if _is_data(file))
    return [_facts(file) for file in found[:_MOST_FILES]]


def data_file(folder: Path, name: str) -> Path:
    """Returns a file of the folder by its name.

    Raises:
        RefusalError: There is no such file.
    """
    file = folder / name
    if not _NAME.fullmatch(name) or not _is_data(file):
        raise RefusalError(404, "There is no such file.", advice="It may have been moved away.")
    return file


def free_name(folder: Path, stem: str, ending: str) -> Path:
    """Returns a file that is not there yet: plan.toml, plan2.toml and so on."""
    names = (f"{stem}{number if number > 1 else ''}{ending}" for number in count(1))
    return next(folder / name for name in names if not (folder / name).exists())


async def take_file(folder: Path, name: str, pieces: AsyncIterable[bytes]) -> None:
    """Writes a new file, whole or not at all.

    Raises:
        RefusalError: The name is not allowed or taken, the file is too large, or the disk refuses.
    """
    if not _NAME.fullmatch(name) or not name.lower().endswith(_ENDINGS):
        raise RefusalError(
            422, "A file of this name is not taken.", advice=f"Its end must be {_listed()}."
        )
    partial = folder / f".{name}.partial-{secrets.token_hex(8)}"
    try:
        with os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            async for piece in pieces:
                file.write(piece)
                if file.tell() > MOST_FILE_BYTES:
                    raise RefusalError(413, TOO_LARGE.message, advice=TOO_LARGE.advice)
        refuse_taken(folder / name)
        partial.rename(folder / name)
    except ReleaseError as taken:
        raise RefusalError(409, str(taken), advice="Give it another name.") from None
    except OSError:
        raise RefusalError(
            403, f"{name} cannot be written.", advice="Look at the space on the disk."
        ) from None
    finally:
        partial.unlink(missing_ok=True)


def _listed() -> str:
    return f"{', '.join(_ENDINGS[:-1])} or {_ENDINGS[-1]}"


def _is_data(file: Path) -> bool:
    hidden = file.name.startswith(".")
    return not hidden and file.name.lower().endswith(_ENDINGS) and file.is_file()


def _facts(file: Path) -> dict[str, Any]:
    names = column_names(file) or ()
    kind = likely_type(Header(names=names, clocks={})) if names else None
    intake = None if kind is None else FAMILIES[kind].intake
    roles = {} if intake is None else intake.of(names).recognised(names)
    return {
        "name": file.name,
        "bytes": file.stat().st_size,
        "columns": names,
        "guess": None if kind is None else FAMILIES[kind].title,
        "roles": {column: role for role, column in roles.items()},
    }
