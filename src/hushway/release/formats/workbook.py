"""Layers as sheets of one workbook (Office Open XML), for spreadsheets.

Texts are written as texts, so no spreadsheet runs them. Libraries compress in different ways, so a
verifier compares what the parts of a file unpack to.
"""

import re
import struct
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final
from xml.sax.saxutils import escape

import pyarrow as pa

from hushway.errors import damaged
from hushway.release.formats.csv import in_short
from hushway.release.formats.geoparquet import GEOMETRY
from hushway.release.formats.layers import Layer
from hushway.release.untrusted.limits import open_plain

# Far above what the most rows take.
_MOST_BYTES: Final = 1 << 28
_MOST_LETTERS: Final = 32_767
_MOST_DIRECTORY: Final = 1 << 12
_DIRECTORY_END: Final = struct.Struct("<4s4H2LH")
_ROWS_AT_ONCE: Final = 1 << 14
# What XML cannot hold, and what would be read as an escape of it.
_ODD: Final = re.compile("[\x00-\x08\x0b\x0c\x0d\x0e-\x1f\ufffe\uffff]|_(?=x[0-9A-Fa-f]{4}_)")

_XML: Final = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_MAIN: Final = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_OFFICE: Final = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE: Final = "http://schemas.openxmlformats.org/package/2006"
_TYPE: Final = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_STYLES: Final = (
    f'{_XML}<styleSheet xmlns="{_MAIN}"><fonts count="2"><font><sz val="11"/><name val="Calibri"/>'
    '</font><font><b/><sz val="11"/><name val="Calibri"/></font></fonts><fills count="2"><fill>'
    '<patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill>'
    '</fills><borders count="1"><border><left/><right/><top/><bottom/></border></borders>'
    '<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>'
    '<cellXfs count="2"><xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/>'
    '<xf numFmtId="0" fontId="1" fillId="0" borderId="0" xfId="0" applyFont="1"/></cellXfs>'
    '<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles>'
    "</styleSheet>"
)
_HEAD: Final = (
    f'{_XML}<worksheet xmlns="{_MAIN}"><sheetViews><sheetView workbookViewId="0"><pane ySplit="1" '
    'topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews>'
    '<sheetFormatPr defaultRowHeight="15" baseColWidth="18"/><sheetData>'
)


def write_workbook(path: Path, layers: Sequence[Layer]) -> None:
    """Writes layers as sheets of a workbook."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, parts in _files(layers).items():
            # Without a time of its own a part has that of 1980.
            facts = zipfile.ZipInfo(name)
            facts.compress_type = zipfile.ZIP_DEFLATED
            with archive.open(facts, "w") as file:
                file.writelines(parts)


def check_workbook(path: Path, layers: Sequence[Layer]) -> None:
    """Makes sure that a workbook, which may be a stranger's, holds just these layers.

    Raises:
        ReleaseError: It holds something else.
    """
    files = _files(layers)
    with open_plain(path, _MOST_BYTES) as file:
        size = file.seek(0, 2)
        file.seek(max(0, size - _DIRECTORY_END.size))
        # A long directory would fill memory before anything is compared.
        *_, length, start, comment = _DIRECTORY_END.unpack(file.read())
        if comment or length > _MOST_DIRECTORY or start + length + _DIRECTORY_END.size != size:
            raise _other(path)
        with zipfile.ZipFile(file) as archive:
            if archive.namelist() != list(files) or not all(
                _holds(archive, name, parts) for name, parts in files.items()
            ):
                raise _other(path)


def _holds(archive: zipfile.ZipFile, name: str, parts: Iterable[bytes]) -> bool:
    with archive.open(name) as file:
        return all(file.read(len(part)) == part for part in parts) and not file.read(1)


def _other(path: Path) -> Exception:
    return damaged(f"{path.name} does not hold what the published tables say.")


def _files(layers: Sequence[Layer]) -> Mapping[str, Iterable[bytes]]:
    """Returns the files in a workbook by name, some bytes at a time."""
    numbers = range(1, len(layers) + 1)
    sheets = {
        f"xl/worksheets/sheet{number}.xml": _sheet(layer)
        for number, layer in zip(numbers, layers, strict=True)
    }
    named = "".join(
        f'<sheet name="{escape(layer.name)}" sheetId="{number}" r:id="rId{number}"/>'
        for number, layer in zip(numbers, layers, strict=True)
    )
    kinds = "".join(
        f'<Override PartName="/{name}" ContentType="{_TYPE}.worksheet+xml"/>' for name in sheets
    )
    related = "".join(
        _relation(number, "worksheet", f"worksheets/sheet{number}.xml") for number in numbers
    )
    texts = {
        "[Content_Types].xml": f'{_XML}<Types xmlns="{_PACKAGE}/content-types"><Default '
        f'Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{_TYPE}.sheet.main+xml"/>'
        f'<Override PartName="/xl/styles.xml" ContentType="{_TYPE}.styles+xml"/>{kinds}</Types>',
        "_rels/.rels": _relations(_relation(1, "officeDocument", "xl/workbook.xml")),
        "xl/workbook.xml": f'{_XML}<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><sheets>{named}'
        "</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": _relations(
            related + _relation(len(layers) + 1, "styles", "styles.xml")
        ),
        "xl/styles.xml": _STYLES,
    }
    return {**{name: [text.encode()] for name, text in texts.items()}, **sheets}


def _relations(inside: str) -> str:
    return f'{_XML}<Relationships xmlns="{_PACKAGE}/relationships">{inside}</Relationships>'


def _relation(number: int, kind: str, target: str) -> str:
    return f'<Relationship Id="rId{number}" Type="{_OFFICE}/{kind}" Target="{target}"/>'


def _sheet(layer: Layer) -> Iterator[bytes]:
    names = [name for name in layer.columns.names if name != GEOMETRY]
    head = "".join(_text(name).replace("<c ", '<c s="1" ', 1) for name in names)
    yield f"{_HEAD}<row>{head}</row>\n".encode()
    for batch in layer.batches():
        for start in range(0, len(batch), _ROWS_AT_ONCE):
            columns = batch.select(names).slice(start, _ROWS_AT_ONCE).columns
            rows = zip(*map(_cells, columns), strict=True)
            yield "".join(f"<row>{''.join(row)}</row>\n" for row in rows).encode()
    yield b"</sheetData></worksheet>\n"


def _cells(column: pa.Array) -> list[str]:
    """Returns a column as cells."""
    if pa.types.is_dictionary(column.type):
        cells = _cells(column.dictionary)
        return [cells[at] for at in column.indices.to_pylist()]
    is_text = pa.types.is_string(column.type)
    cell = _text if is_text else _number
    return ["<c/>" if value is None else cell(value) for value in in_short(column).to_pylist()]


def _number(value: float) -> str:
    return f"<c><v>{value!r}</v></c>"


def _text(text: str) -> str:
    plain = _ODD.sub(lambda found: f"_x{ord(found[0]):04X}_", text[:_MOST_LETTERS])
    return f'<c t="inlineStr"><is><t xml:space="preserve">{escape(plain)}</t></is></c>'
