"""Areas from a shapefile: a .shp beside its .dbf, .prj and .cpg, or all of them in a .zip."""

import codecs
import struct
import warnings
import zlib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from glob import escape
from io import BytesIO
from pathlib import Path
from typing import Any, Final, NamedTuple
from zipfile import BadZipFile, ZipFile

import shapefile
import shapely

from hushway.errors import GeographyError
from hushway.escaping import some_of
from hushway.tables.geojson import id_text
from hushway.tables.unpacking import read_part, refuse_unfit_archive

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


class AreaRecord(NamedTuple):
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


# The areas in the order of the file, and what it says its coordinates mean, in any form that pyproj
# reads; None if it does not say.
AreaRecords = tuple[list[AreaRecord], Any]


def check_columns(file: Path, found: list[str], columns: AreaColumns) -> None:
    """Refuses a file that lacks a column."""
    missing = [column for column in columns.demanded if column not in found]
    if missing:
        raise GeographyError(
            f"The areas file {file.name} has no column {', '.join(map(repr, missing))}.",
            advice=f"Its columns are: {some_of(found) or 'none'}. Name the one with the ids.",
        )


def damaged_file(file: Path, noun: str = "areas") -> GeographyError:
    """Returns the error for a file that is not what its ending says."""
    return GeographyError(
        f"The {noun} file {file.name} is damaged, or not of the format that its ending says.",
        advice="Check that it is whole; open it with any map viewer.",
    )


# Rings drawn the wrong way round are common and are read as meant: no reason to write to logs.
shapefile.VERBOSE = False

_PARTS = (".shp", ".dbf", ".shx", ".prj", ".cpg")
_HEADER = 100
_KEPT = "surrogateescape"
_NUMBERED = {"65001": "utf-8", "88591": "latin-1"}
_DAMAGED = (shapefile.ShapefileException, struct.error, IndexError, KeyError, TypeError, ValueError)


def shapefile_areas(file: Path, columns: AreaColumns) -> AreaRecords:
    """Returns one record for each shape.

    Raises:
        GeographyError: The file is damaged, a part of it is missing, or it lacks a column.
        OSError: The file cannot be read.
    """
    parts = _parts(file)
    if not parts[".shp"]:
        return [], None
    if ".dbf" not in parts:
        raise GeographyError(
            f"The shapefile {file.name} has no .dbf part, where the ids are.",
            advice="Keep the .shp, .dbf, .prj and .cpg together, or give them as one .zip.",
        )
    if _is_cut_off(parts[".shp"]):
        raise damaged_file(file)
    encoding = _encoding(file, parts.get(".cpg"))
    try:
        with warnings.catch_warnings():
            # Some versions of pyshp warn of headers that others read without a word.
            warnings.simplefilter("ignore")
            records = _records(file, parts, encoding, columns)
    except _DAMAGED:
        raise damaged_file(file) from None
    _check_texts(file, records, encoding)
    return records, _crs(parts)


def shapefile_shapes(file: Path) -> tuple[list[tuple[dict[str, Any], shapely.Geometry]], Any]:
    """Returns what a shapefile draws, each with its columns if it has a .dbf, and the CRS.

    Raises:
        GeographyError: The file is damaged.
        OSError: The file cannot be read.
    """
    parts = _parts(file)
    encoding = _encoding(file, parts.get(".cpg"))
    if _is_cut_off(parts[".shp"]):
        raise damaged_file(file, "ground")
    try:
        with warnings.catch_warnings(), _opened(parts, encoding) as reader:
            warnings.simplefilter("ignore")
            tags = [one.as_dict() for one in reader.iterRecords()] if ".dbf" in parts else None
            shapes = [_shape(one) for one in reader.iterShapes()]
            pairs = zip(tags or [{}] * len(shapes), shapes, strict=True)
            return [(tag, shape) for tag, shape in pairs if shape is not None], _crs(parts)
    except _DAMAGED:
        raise damaged_file(file, "ground") from None


def _parts(file: Path) -> dict[str, bytes]:
    return _zipped(file) if file.suffix.lower() == ".zip" else _beside(file)


def _crs(parts: Mapping[str, bytes]) -> str | None:
    return parts.get(".prj", b"").decode("utf-8", errors="replace").strip() or None


def _opened(parts: Mapping[str, bytes], encoding: str) -> shapefile.Reader:
    streams = {part[1:]: BytesIO(parts[part]) for part in (".shp", ".dbf", ".shx") if part in parts}
    # Bytes that cannot be decoded are kept and found later: versions of pyshp raise other errors.
    return shapefile.Reader(**streams, encoding=encoding, encodingErrors=_KEPT)


def _is_cut_off(shp: bytes) -> bool:
    """Says whether the .shp part is shorter than its header says, in words of two bytes."""
    return len(shp) < _HEADER or len(shp) < 2 * int.from_bytes(shp[24:28], "big")


def _records(
    file: Path, parts: Mapping[str, bytes], encoding: str, columns: AreaColumns
) -> list[AreaRecord]:
    with _opened(parts, encoding) as reader:
        found = [field[0] for field in reader.fields if field[0] != "DeletionFlag"]
        check_columns(file, found, columns)
        return [
            _record(file, drawn, columns, f"shape {number}")
            for number, drawn in enumerate(reader.iterShapeRecords(), start=1)
        ]


def _check_texts(file: Path, records: list[AreaRecord], encoding: str) -> None:
    """Refuses texts with bytes that are not of the encoding."""
    for record in records:
        try:
            (record.id + record.name).encode()
        except UnicodeEncodeError:
            raise GeographyError(
                f"The texts of the shapefile {file.name} are not {encoding}.",
                advice="Add a .cpg part that names their encoding, such as ISO-8859-1.",
            ) from None


def _record(file: Path, drawn: Any, columns: AreaColumns, where: str) -> AreaRecord:
    values = drawn.record.as_dict()
    key = id_text(file, values[columns.id], where)
    name = id_text(file, values.get(columns.name or ""), where)
    return AreaRecord(where, key, name, _shape(drawn.shape))


def _shape(drawn: Any) -> shapely.Geometry | None:
    if drawn is None or drawn.shapeType == shapefile.NULL:
        return None
    return shapely.geometry.shape(drawn.__geo_interface__)


def _beside(file: Path) -> dict[str, bytes]:
    """Returns the parts of a shapefile that lie in one folder."""
    parts = {file.suffix.lower(): file.read_bytes()}
    for sibling in sorted(file.parent.glob(f"{escape(file.stem)}.*")):
        part = sibling.suffix.lower()
        if part in _PARTS and part not in parts and sibling.is_file():
            parts[part] = sibling.read_bytes()
    return parts


def _zipped(file: Path) -> dict[str, bytes]:
    """Returns the parts of the only shapefile in an archive."""
    refuse_unfit_archive(file)
    try:
        with ZipFile(file) as archive:
            names = [name for name in archive.namelist() if not name.startswith("__MACOSX/")]
            shapes = [name for name in names if name.lower().endswith(".shp")]
            if len(shapes) != 1:
                raise GeographyError(
                    f"The archive {file.name} holds {len(shapes)} shapefiles.",
                    advice="Give an archive with exactly one .shp.",
                )
            stem = shapes[0][: -len(".shp")]
            return {
                part: read_part(archive, name)
                for name in names
                for part in _PARTS
                if name.lower() == stem.lower() + part
            }
    except (BadZipFile, EOFError, NotImplementedError, RuntimeError, zlib.error):
        raise damaged_file(file) from None


def _encoding(file: Path, cpg: bytes | None) -> str:
    """Returns the encoding of the texts; a .cpg names it in one of many ways."""
    if cpg is None:
        return "utf-8"
    name = cpg.decode("ascii", errors="replace").strip()
    bare = name.upper().removeprefix("ANSI").removeprefix("ISO").strip(" -_")
    for candidate in (name, _NUMBERED.get(bare, bare), f"cp{bare}"):
        # Decoding a blank refuses codecs that are not of texts, such as hex.
        with suppress(LookupError, ValueError):
            b" ".decode(candidate)
            return codecs.lookup(candidate).name
    raise GeographyError(
        f"The .cpg part of {file.name} names an unknown encoding: {name[:40]!r}.",
        advice="Write UTF-8 or ISO-8859-1 into it.",
    )
