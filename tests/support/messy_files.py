"""Eight files of rows as agencies send them, and what a steward says of each, typed or clicked.

They are about the little city. No two are written alike: times, separators, encodings, names of
columns and of places, blank lines, and columns that nobody needs.
"""

import csv
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from io import StringIO
from pathlib import Path
from typing import Final
from zipfile import ZipFile

from support.little_city import PLACES
from support.little_plans import write_little_files

_START: Final = datetime(2026, 3, 2, 6, tzinfo=UTC)
_ROWS: Final = 240
_PEOPLE: Final = 60
# As rows write the four places: shouted, without accents, of a platform, and misspelt.
STATIONS: Final = ("Évora", "São Bento", "Trindade", "Bolhão")
_WRITTEN: Final = ("ÉVORA", "Sao Bento", "P2", "Bolhao")
_WINDOW: Final = ("Europe/Lisbon", "2026-03-02", "2026-03-02")
_STATED: Final = ("City of Example", "Planning of lines", "A. Person")

# A number and a time make the fields of a row.
Fields = Callable[[int, datetime], tuple[object, ...]]


@dataclass(frozen=True, kw_only=True)
class Messy:
    """A file of rows that needs some words.

    Attributes:
        name: The file.
        header: Its first line, field by field.
        fields: The fields of a row.
        delimiter: Between them.
        codec: What it is encoded by.
        words: What `init` is told about it on the command line.
        columns: Answers to what is asked about its columns and times.
        files: Answers to what is asked about public files, by option of `init`.
        aliases: Whether places have other names in it.
    """

    name: str
    header: tuple[str, ...]
    fields: Fields
    delimiter: str = ","
    codec: str = "utf-8"
    words: tuple[str, ...]
    columns: tuple[str, ...]
    files: dict[str, str]
    aliases: bool = False

    @property
    def options(self) -> tuple[str, ...]:
        """Everything that `init` is told on the command line."""
        named = (word for option, file in self.files.items() for word in (f"--{option}", file))
        zone, first, last = _WINDOW
        window = ("--zone", zone, "--first-day", first, "--last-day", last)
        return (self.name, *self.words, *named, *window, "--epsilon", "4", "--yes")

    @property
    def answers(self) -> tuple[str, ...]:
        """Everything that is answered in a browser."""
        return (*self.columns, *self.files.values(), *_WINDOW, *_STATED)


def write_messy(folder: Path, messy: Messy) -> tuple[Path, ...]:
    """Writes a file of rows, and returns it with the public files that it needs."""
    write_little_files(folder)
    _write_feed(folder / "gtfs.zip")
    _write_stations(folder / "stations.csv")
    text = StringIO(newline="")
    writer = csv.writer(text, delimiter=messy.delimiter)
    writer.writerow(messy.header)
    for number, moment in enumerate(_moments()):
        if number % 50 == 7:
            text.write("\r\n")
        writer.writerow(messy.fields(number, moment))
    (folder / messy.name).write_bytes(text.getvalue().encode(messy.codec))
    return tuple(folder / name for name in (messy.name, *messy.files.values()))


def _moments() -> Iterator[datetime]:
    return (_START + timedelta(minutes=number * 3) for number in range(_ROWS))


def _write_feed(file: Path) -> None:
    stops = ["stop_id,stop_name,stop_lat,stop_lon,location_type,parent_station"]
    for number, (name, (_, lon, lat)) in enumerate(zip(STATIONS, PLACES, strict=True)):
        stops.append(f"S{number},{name},{lat},{lon},1,")
        stops.append(f"P{number},Platform,{lat},{lon},0,S{number}")
    with ZipFile(file, "w") as archive:
        archive.writestr("stops.txt", "\n".join(stops) + "\n")


def _write_stations(file: Path) -> None:
    """Writes places as a spreadsheet in Lisbon does: Windows-1252, decimal commas."""
    lines = ["Code;Station;Longitude;Latitude"]
    for name, (place, lon, lat) in zip(STATIONS, PLACES, strict=True):
        lines.append(f"{place};{name};{lon};{lat}".replace(".", ","))
    file.write_bytes("\r\n".join([*lines, ""]).encode("windows-1252"))


def _ends(number: int) -> tuple[int, int]:
    return number % 4, (number + 1 + number // 4 % 3) % 4


def _metro(number: int, moment: datetime) -> tuple[object, ...]:
    ends = (_WRITTEN[end] for end in _ends(number))
    return f"C{number % _PEOPLE}", "Adult; peak", *ends, f"{moment:%d/%m/%Y %H:%M}"


def _bikes(number: int, moment: datetime) -> tuple[object, ...]:
    ends = (PLACES[end][0] for end in _ends(number))
    return f"{moment.timestamp() * 1000:.0f}", *ends, f"u{number % _PEOPLE}", ""


def _gates(number: int, moment: datetime) -> tuple[object, ...]:
    card = f"{number % _PEOPLE:08d}"
    return card, f"{moment:%d.%m.%Y}", f"{moment:%H:%M}", STATIONS[number % 4], "Passe «Família»"


def _taps(number: int, moment: datetime) -> tuple[object, ...]:
    written = f"{moment:%m/%d/%Y %I:%M:%S %p}"
    return written, f"t{number % _PEOPLE}", PLACES[number % 4][0], 'Line "A", northbound'


def _calls(number: int, moment: datetime) -> tuple[object, ...]:
    return f"s{number % _PEOPLE}", PLACES[number % 4][0], f"{moment:%d-%b-%y %H:%M}", "voice"


def _phones(number: int, moment: datetime) -> tuple[object, ...]:
    _, lon, lat = PLACES[number % 4]
    comma = (f"{degrees}".replace(".", ",") for degrees in (lat, lon))
    return f"d{number % _PEOPLE}", f"{moment.timestamp():.0f}", *comma


def _on_the_road(number: int) -> tuple[float, float]:
    return round(-8.6 + 0.001 * (number % 8), 6), 41.10


def _taxis(number: int, moment: datetime) -> tuple[object, ...]:
    seconds = moment.timestamp() + number % 8 * 10
    return f"v{number // 8 % _PEOPLE}", f"{seconds:.0f}", *_on_the_road(number), "São João, 12"


def _scooters(number: int, moment: datetime) -> tuple[object, ...]:
    place = _on_the_road(number)
    return f"{moment:%d-%b-%y}", f"{moment:%I:%M %p}", f"r{number // 8 % _PEOPLE}", *place, "Évora"


MESSY: Final = (
    Messy(
        name="metro.csv",
        header=("Card Ref", "Fare", "From", "To", "Start Time"),
        fields=_metro,
        delimiter=";",
        codec="utf-8-sig",
        words=("--time-format", "%d/%m/%Y %H:%M"),
        columns=("device", "16/11/2009 07:45"),
        files={"places": "gtfs.zip"},
        aliases=True,
    ),
    Messy(
        name="bikes.csv",
        header=("Began (ms)", "Start Station Id", "End Station Id", "User ID", "Nota de avaria"),
        fields=_bikes,
        delimiter="\t",
        codec="utf-16",
        words=("--time", "Began (ms)", "--time-format", "epoch_ms"),
        columns=("Began (ms)", "person", "1258357500000", "utf-16"),
        files={"places": "stations.csv"},
    ),
    Messy(
        name="gates.csv",
        header=("Card No", "Date", "Time", "Station", "Título"),
        fields=_gates,
        delimiter=";",
        codec="windows-1252",
        words=("--date", "Date", "--time-format", "16.11.2009 07:45"),
        columns=("device", "Date", "16.11.2009 07:45", "windows-1252"),
        files={"places": "stations.csv"},
        aliases=True,
    ),
    Messy(
        name="taps.csv",
        header=("Tap Time", "Token", " Stop ", "Route, direction"),
        fields=_taps,
        words=("--time-format", "11/16/2009 07:45:00 AM"),
        columns=("device", "11/16/2009 07:45:00 AM"),
        files={"places": "places.csv"},
    ),
    Messy(
        name="calls.csv",
        header=("Subscriber ID", "Tower", "Timestamp", "Kind"),
        fields=_calls,
        delimiter="|",
        words=("--time-format", "16-Nov-09 07:45"),
        columns=("person", "16-Nov-09 07:45"),
        files={"areas": "areas.geojson", "places": "stations.csv"},
    ),
    Messy(
        name="phones.csv",
        header=("Appareil", "Quand", "Latitude", "Longitude"),
        fields=_phones,
        delimiter=";",
        words=(
            *("--type", "density", "--person", "Appareil", "--unit", "device"),
            *("--time", "Quand", "--time-format", "epoch_s"),
        ),
        columns=("density", "Appareil", "Quand", "device", "1258357500"),
        files={"areas": "areas.geojson"},
    ),
    Messy(
        name="taxis.csv",
        header=("Taxi", "TS", "Lon", "Lat", "Praça"),
        fields=_taxis,
        codec="latin-1",
        words=("--time-format", "1258357500"),
        columns=("device", "1258357500", "windows-1252"),
        files={"roads": "roads.geojson"},
    ),
    Messy(
        name="scooters.csv",
        header=("Trip Date", "Time", "Rider", "Long", "Lat", "Zona"),
        fields=_scooters,
        delimiter="\t",
        codec="utf-16",
        words=("--date", "Trip Date", "--time-format", "16-Nov-09 07:45 AM"),
        columns=("person", "Trip Date", "16-Nov-09 07:45 AM", "utf-16"),
        files={"roads": "roads.geojson"},
    ),
)
