"""The files that the rows of a data set are in, by a name, a folder or a glob."""

from collections.abc import Iterable
from dataclasses import dataclass
from glob import glob, has_magic
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from hushway.errors import DataError
from hushway.tables.unpacking import refuse_unfit_rows

if TYPE_CHECKING:
    import pyarrow as pa

Format = Literal["csv", "parquet", "table"]

_ENDINGS: Final[dict[str, Format]] = {
    ".csv": "csv",
    ".csv.gz": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
}


@dataclass(frozen=True, kw_only=True)
class RowFiles:
    """The files of one data set, all of one format, in a fixed order; or a table of an engine."""

    format: Format
    paths: tuple[Path, ...] = ()
    table: str = ""


def find_files(path: Path | str, noun: str = "trips") -> RowFiles:
    """Returns the files of a file's name, a folder or a glob."""
    refuse_table(path, noun)
    found = _matches(Path(path))
    if not found:
        raise DataError(
            f"There are no {noun} at {path}.",
            advice="Name a .csv, .csv.gz, .parquet or .pq file, a folder of them, or a glob.",
        )
    for file in found:
        refuse_unfit_rows(file, noun)
    formats = {_format(file) for file in found}
    if None in formats or len(formats) > 1:
        raise DataError(
            f"The {noun} at {path} are neither all CSV nor all Parquet.",
            advice="Name files that all end in .csv or .csv.gz, or all in .parquet or .pq.",
        )
    only = next(iter(formats))
    return RowFiles(format=only or "csv", paths=tuple(sorted(found)))


def _matches(path: Path) -> list[Path]:
    if path.is_dir():
        return [file for file in path.rglob("*") if file.is_file() and _belongs(file, path)]
    if path.exists():
        return [path]
    if has_magic(str(path)):
        matches = (Path(name) for name in glob(str(path), recursive=True))  # noqa: PTH207  absolute globs too
        return [file for file in matches if file.is_file()]
    return []


def _belongs(file: Path, folder: Path) -> bool:
    """Whether a file in a folder is data; other engines leave notes such as _SUCCESS and .crc."""
    parts = file.relative_to(folder).parts
    return _format(file) is not None and not any(part.startswith((".", "_")) for part in parts)


def _format(file: Path) -> Format | None:
    return next((form for end, form in _ENDINGS.items() if file.name.endswith(end)), None)


@dataclass(frozen=True, kw_only=True)
class FoundFile:
    """A file, and its name from the folder that was searched."""

    path: Path
    inside: Path


def files_ending_in(path: Path | str, ending: str, noun: str) -> list[FoundFile]:
    """Returns a file, or the files of a folder and its subfolders, in a fixed order.

    Raises:
        DataError: There are none, or something among them is no file. Names of files are often
            people's, so none is told.
    """
    place = Path(path)
    if place.is_dir():
        inside = sorted(file.relative_to(place) for file in place.rglob(f"*{ending}"))
        visible = [file for file in inside if not any(p.startswith(".") for p in file.parts)]
        found = [FoundFile(path=place / file, inside=file) for file in visible]
    else:
        found = [FoundFile(path=place, inside=Path(place.name))] if place.exists() else []
    if not all(file.path.is_file() for file in found):
        # A pipe would be waited for, perhaps for ever.
        raise DataError(
            f"Something at {path} that ends in {ending} is not a file.",
            advice="Leave nothing but files and folders of files there.",
        )
    if not found:
        raise DataError(
            f"There are no {noun} at {path}.",
            advice=f"Name a {ending} file, or a folder of them.",
        )
    return found


def table_of_rows(schema: "pa.Schema", rows: Iterable[tuple[Any, ...]]) -> "pa.Table":
    """Returns rows as a table, with a column for each value."""
    # Plans are read by the workbench, too, which has no rows of its own.
    import pyarrow as pa

    columns = list(zip(*rows, strict=True)) or [()] * len(schema)
    arrays = [pa.array(column, one.type) for column, one in zip(columns, schema, strict=True)]
    return pa.Table.from_arrays(arrays, schema=schema)


def id_or_none(value: object) -> str | None:
    """Returns what was written for an id, as text; None if it is missing or made of blanks."""
    text = "" if value is None else str(value)
    return text if text.strip() else None


_TABLE: Final = "table:"


def table_of(path: Path | str) -> str | None:
    """Returns the name of a table, such as "schema.trips"; None for files."""
    name = str(path)
    return name.removeprefix(_TABLE).strip() if name.startswith(_TABLE) else None


def refuse_table(path: Path | str, noun: str) -> None:
    """Refuses a table where files are read."""
    if table_of(path) is not None:
        raise DataError(
            f"The {noun} are a table of a warehouse or a cluster, and this engine reads files.",
            advice='Set kind = "warehouse" and url in [engine], or kind = "spark"; or name a file.',
        )


def needed_table(path: Path | str, noun: str) -> str:
    """Returns the name of a table, where no files are read."""
    table = table_of(path)
    if not table:
        raise DataError(
            f"The engine is a warehouse, and the {noun} are not named as a table of it.",
            advice='Name them as "table:schema.name", or set kind = "duckdb" in [engine].',
        )
    return table
