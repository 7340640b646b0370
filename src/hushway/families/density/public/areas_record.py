"""Areas as a file gives them, before anybody has checked them."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import shapely

from hushway.errors import GeographyError

DEFAULT_NAME: Final = "name"


@dataclass(frozen=True, kw_only=True)
class AreaColumns:
    """Which column or property holds what.

    `name` may be None. A file without a column called `name` is fine; any other name was chosen on
    purpose and must be there.
    """

    id: str = "id"
    name: str | None = DEFAULT_NAME

    @property
    def demanded(self) -> tuple[str, ...]:
        """The columns that must be there."""
        chosen = self.name is not None and self.name != DEFAULT_NAME
        return (self.id, self.name) if chosen and self.name is not None else (self.id,)


@dataclass(frozen=True, kw_only=True, eq=False)
class AreaRecord:
    """One area as written.

    Attributes:
        where: Its place in the file, for messages.
        id: Its id; "" if it has none.
        name: Its name; "" if it has none.
        shape: What the file draws, in the coordinates of the file; None if nothing.
    """

    where: str
    id: str
    name: str
    shape: shapely.Geometry | None


@dataclass(frozen=True, kw_only=True, eq=False)
class AreaRecords:
    """All areas of a file.

    Attributes:
        records: The areas, in the order of the file.
        crs: What the file says its coordinates mean, in any form that pyproj reads; None if it
            does not say.
    """

    records: tuple[AreaRecord, ...]
    crs: Any


def check_columns(file: Path, found: list[str], columns: AreaColumns) -> None:
    """Refuses a file that lacks a column.

    Raises:
        GeographyError: A column is missing; the advice lists those that are there.
    """
    missing = [column for column in columns.demanded if column not in found]
    if missing:
        raise GeographyError(
            f"The areas file {file.name} has no column {', '.join(map(repr, missing))}.",
            advice=f"Its columns are: {', '.join(found) or 'none'}. Name the one with the ids.",
        )


def id_text(file: Path, value: Any, where: str) -> str:
    """Returns an id or a name as text.

    Raises:
        GeographyError: It is neither text nor a whole number.
    """
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    raise GeographyError(
        f"The {where} of {file.name} has an id or name that is neither text nor a whole number.",
        advice='Write 7 or "7", not 7.0: ids are compared as text.',
    )


def damaged_file(file: Path) -> GeographyError:
    """Returns the error for a file that is not what its ending says."""
    return GeographyError(
        f"The areas file {file.name} is damaged, or not of the format that its ending says.",
        advice="Check that it is whole; open it with any map viewer.",
    )
