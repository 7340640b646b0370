"""Locations from CSV."""

import csv
import math
from pathlib import Path

from hushway.errors import GeographyError
from hushway.tables.csv_header import open_text, read_header
from hushway.tables.place_record import LocationColumns, PlaceRecord


def csv_records(file: Path, columns: LocationColumns) -> list[PlaceRecord]:
    """Returns one record for each row.

    Raises:
        GeographyError: A column is missing, or a row has the wrong number of fields.
        OSError: The file cannot be read.
        UnicodeDecodeError: The file is not UTF-8.
    """
    try:
        delimiter, header = read_header(file)
    except csv.Error:
        raise _damaged(file, 1) from None
    if not header:
        return []
    _check_header(file, header, columns)
    records = []
    with open_text(file) as text:
        reader = csv.reader(text, delimiter=delimiter, strict=True)
        try:
            next(reader)
            for row in reader:
                if not row:
                    continue
                if len(row) != len(header):
                    raise _damaged(file, reader.line_num)
                values = dict(zip(header, row, strict=True))
                records.append(_record(values, columns, f"line {reader.line_num}"))
        except csv.Error:
            raise _damaged(file, reader.line_num) from None
    return records


def _record(values: dict[str, str], columns: LocationColumns, where: str) -> PlaceRecord:
    return PlaceRecord(
        where=where,
        id=values[columns.id],
        name=values.get(columns.name or "", ""),
        lon=_number(values[columns.lon]),
        lat=_number(values[columns.lat]),
        zone=values.get(columns.zone or "", ""),
        labels=tuple(values[column] for column in columns.labels),
    )


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _check_header(file: Path, header: list[str], columns: LocationColumns) -> None:
    wanted = (columns.id, columns.lon, columns.lat, *columns.demanded_extras)
    missing = [column for column in wanted if column not in header]
    if missing:
        raise GeographyError(
            f"The locations file {file.name} has no column {', '.join(map(repr, missing))}.",
            advice=f"Its columns are: {', '.join(header)}.",
        )
    twice = [column for column in wanted if header.count(column) > 1]
    if twice:
        raise GeographyError(
            f"The locations file {file.name} has two columns {', '.join(map(repr, twice))}.",
            advice="Give every column a name of its own.",
        )


def _damaged(file: Path, line: int) -> GeographyError:
    return GeographyError(
        f"Line {line} of the locations file {file.name} does not have the fields of the first "
        "line, or a quote in it is not closed.",
        advice="Write one location per line, and put texts that hold the delimiter in quotes.",
    )
