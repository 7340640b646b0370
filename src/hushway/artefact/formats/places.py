"""The public lists of a release as small CSV files that can be read back exactly."""

import csv
import io
import re
from collections.abc import Iterable, Sequence
from datetime import date

from hushway.errors import ReleaseError
from hushway.geography.locations import Location, Locations
from hushway.geography.periods import Periods

LOCATION_COLUMNS = ("id", "name", "lat", "lon", "zone")
PERIOD_COLUMNS = ("period", "starts", "ends", "first_day", "last_day", "time_zone")

_WHOLE = re.compile(r"-?\d+")


def locations_csv(locations: Locations) -> bytes:
    """Returns the public places as CSV, in index order."""
    rows = ((p.id, p.name, repr(p.lat), repr(p.lon), p.zone) for p in locations.places)
    return csv_bytes(LOCATION_COLUMNS, rows)


def periods_csv(periods: Periods) -> bytes:
    """Returns the public periods as CSV, in index order, each row with the window of days."""
    window = (periods.first_day.isoformat(), periods.last_day.isoformat(), periods.zone)
    rows = ((label, *label.split("-"), *window) for label in periods.labels)
    return csv_bytes(PERIOD_COLUMNS, rows)


def read_locations(data: bytes) -> Locations:
    """Reads the public places back.

    Raises:
        ReleaseError: The bytes are not what `locations_csv` writes.
    """
    locations = Locations(
        tuple(
            Location(id=key, name=name, lat=_degrees(lat), lon=_degrees(lon), zone=zone)
            for key, name, lat, lon, zone in _rows(data, LOCATION_COLUMNS)
        )
    )
    if locations_csv(locations) != data:
        raise _rewritten("locations.csv")
    return locations


def read_periods(data: bytes) -> Periods:
    """Reads the public periods back.

    Raises:
        ReleaseError: The bytes are not what `periods_csv` writes.
    """
    rows = _rows(data, PERIOD_COLUMNS)
    if not rows:
        raise _rewritten("periods.csv")
    _, starts, ends, first_day, last_day, zone = rows[0]
    periods = Periods(
        zone=zone,
        first_day=date.fromisoformat(first_day),
        last_day=date.fromisoformat(last_day),
        opens=_minutes(starts),
        closes=_minutes(rows[-1][2]),
        minutes=_minutes(ends) - _minutes(starts),
    )
    if periods_csv(periods) != data:
        raise _rewritten("periods.csv")
    return periods


def csv_bytes(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> bytes:
    """Returns a small table as CSV with a header and plain newlines."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return text.getvalue().encode()


def _rows(data: bytes, columns: Sequence[str]) -> list[list[str]]:
    header, *rows = csv.reader(io.StringIO(data.decode(), newline=""), strict=True)
    if tuple(header) != tuple(columns):
        raise _rewritten("a public list")
    return rows


def _degrees(text: str) -> float:
    # A whole number stays whole: the digest of the places tells 5 from 5.0.
    return int(text) if _WHOLE.fullmatch(text) else float(text)


def _minutes(clock: str) -> int:
    hours, minutes = clock.split(":")
    return int(hours) * 60 + int(minutes)


def _rewritten(name: str) -> ReleaseError:
    return ReleaseError(
        f"{name} is not as hushway writes it.", advice="The list was edited or rewritten."
    )
