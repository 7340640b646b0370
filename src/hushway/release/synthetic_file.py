"""Synthetic rows as files: tables, matrices, MATSim plans and SUMO persons, by the ending."""

import gzip
import io
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from hushway.arrays import IntArray
from hushway.errors import ReleaseError
from hushway.geography.locations import NOT_KNOWN, Locations
from hushway.release.folder.new_file import refuse_taken, write_new

_TABLES: Final = (".csv", ".parquet")
_OMX: Final = ".omx"
_SUMO: Final = ".rou.xml"
_MATSIM: Final = (".xml", ".xml.gz")
STAMP: Final = (
    "Synthetic travellers drawn by hushway from published numbers; nobody made these trips."
)
_DOCTYPE: Final = (
    '<!DOCTYPE population SYSTEM "http://www.matsim.org/files/dtd/population_v6.dtd">\n'
)


# How simulated travellers move, as MATSim and SUMO call it; SUMO walks where no other mode is
# allowed. A release does not tell, so whoever simulates must choose.
_MODES: Final = {
    "car": ("car", "car"),
    "transit": ("pt", "public"),
    "bicycle": ("bike", "bicycle"),
    "walk": ("walk", ""),
}


@dataclass(frozen=True, kw_only=True, eq=False)
class Travellers:
    """Who is where, one after another, and when they leave.

    Attributes:
        locations: The public places.
        start: Where the places of each traveller begin, and behind them the number of all.
        places: The places of each, in the order in which they are visited.
        left: Seconds from the first midnight at which each place is left. The last is not left.
    """

    locations: Locations
    start: IntArray
    places: IntArray
    left: IntArray


@dataclass(frozen=True, kw_only=True)
class SyntheticFile:
    """What to draw, and the file that it is written to.

    Attributes:
        path: The file. Its ending chooses the format.
        seed: Chooses the draw; another one is another day.
        table: Whether to write a drawn table in place of single rows.
        mode: How travellers move, in files for simulators.

    Raises:
        ReleaseError: The file is there already, no format has this ending, or nobody moves so.
    """

    path: Path
    seed: int = 1
    table: bool = False
    mode: str = "car"

    def __post_init__(self) -> None:
        refuse_taken(self.path)
        known = (*_TABLES, _OMX, *_MATSIM)
        if not self.path.name.endswith(known):
            raise ReleaseError(
                f"No format is written to a file that ends like {self.path.name}.",
                advice="End it with .csv, .parquet or .omx, with .xml or .xml.gz for MATSim plans, "
                f"or with {_SUMO} for SUMO persons.",
            )
        if self.table and self.for_simulators:
            raise ReleaseError(
                "A drawn table is no file of travellers.",
                advice="Leave out --table, or write .csv or .parquet.",
            )

        if self.mode not in _MODES:
            raise ReleaseError(
                f"Travellers do not move by {self.mode!r}.",
                advice=f"Choose one of {', '.join(_MODES)}.",
            )

    @property
    def for_simulators(self) -> bool:
        """Whether travellers are written in place of rows."""
        return self.path.name.endswith(_MATSIM)

    @property
    def for_planners(self) -> bool:
        """Whether a drawn table is written as matrices, one a period."""
        return self.path.name.endswith(_OMX)

    def write_rows(self, rows: pa.Table) -> None:
        """Writes a table of rows."""
        if self.for_planners:
            raise ReleaseError(
                "Matrices are made of OD tables only.",
                advice="Write .csv or .parquet, or give a release of the release type od.",
            )
        write_new(self.path, _packed(rows, self.path.suffix))

    def write_travellers(self, travellers: Travellers) -> int:
        """Writes those who travel between known places, and returns how many they are."""
        able = _travelling(travellers)
        lines = _sumo if self.path.name.endswith(_SUMO) else _matsim
        data = "".join(lines(able, self.mode)).encode()
        # No time in the header: the same draw has the same bytes.
        write_new(self.path, gzip.compress(data, mtime=0) if self.path.suffix == ".gz" else data)
        return len(able.start) - 1


def _packed(rows: pa.Table, suffix: str) -> bytes:
    if suffix == ".csv":
        text = io.BytesIO()
        pyarrow.csv.write_csv(rows, text)
        return text.getvalue()
    packed = pa.BufferOutputStream()
    pq.write_table(rows, packed, compression="zstd")
    return bytes(packed.getvalue().to_pybytes())


def _travelling(travellers: Travellers) -> Travellers:
    """Keeps those who go somewhere and whose places are all known, by when they first leave."""
    start, places = travellers.start, travellers.places
    length = np.diff(start)
    owner = np.repeat(np.arange(len(length)), length)
    # Who makes a journey of several rides is there with each of these.
    beside = (travellers.locations.index.get(NOT_KNOWN, -1), *travellers.locations.journeys)
    unknown = np.isin(places, beside)
    able = (length > 1) & (np.bincount(owner, weights=unknown, minlength=len(length)) == 0)
    kept = np.flatnonzero(able)
    kept = kept[np.argsort(travellers.left[start[kept]], kind="stable")]
    begin = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(length[kept])])
    rows = np.arange(begin[-1]) + np.repeat(start[kept] - begin[:-1], length[kept])
    return Travellers(
        locations=travellers.locations,
        start=begin,
        places=places[rows],
        left=travellers.left[rows],
    )


def _matsim(travellers: Travellers, mode: str) -> Iterator[str]:
    """Yields a population of MATSim (version 6): plans of activities with legs between them."""
    crs, points = _metres(travellers.locations)
    at = [f'<activity type="other" x="{east:.1f}" y="{north:.1f}"' for east, north in points]
    leg = f'<leg mode="{_MODES[mode][0]}"/>\n'
    yield f'<?xml version="1.0" encoding="utf-8"?>\n{_DOCTYPE}<population desc="{STAMP}">\n'
    yield (
        '<attributes><attribute name="coordinateReferenceSystem" class="java.lang.String">'
        f"{crs}</attribute></attributes>\n"
    )
    for number, (*stays, (end, _)) in enumerate(_visits(travellers)):
        plan = "".join(f'{at[place]} end_time="{_clock(left)}"/>\n{leg}' for place, left in stays)
        yield f'<person id="{number}"><plan selected="yes">\n{plan}{at[end]}/>\n</plan></person>\n'
    yield "</population>\n"


def _sumo(travellers: Travellers, mode: str) -> Iterator[str]:
    """Yields routes of SUMO: persons whose trips it puts on the nearest edges of its network."""
    at = [f"{place.lon:.6f},{place.lat:.6f}" for place in travellers.locations.places]
    modes = f'modes="{_MODES[mode][1]}"/>'
    yield f'<?xml version="1.0" encoding="UTF-8"?>\n<!-- {STAMP} -->\n<routes>\n'
    for number, visited in enumerate(_visits(travellers)):
        (begin, depart), (second, _) = visited[:2]
        further = "".join(
            f'<stop until="{until}"/><personTrip toLonLat="{at[place]}" {modes}'
            for (_, until), (place, _) in pairwise(visited[1:])
        )
        yield (
            f'<person id="{number}" depart="{depart}"><personTrip fromLonLat="{at[begin]}" '
            f'toLonLat="{at[second]}" {modes}{further}</person>\n'
        )
    yield "</routes>\n"


def _visits(travellers: Travellers) -> Iterator[list[tuple[int, int]]]:
    """Yields for each traveller the places that are visited, and when each is left."""
    visits = list(zip(travellers.places.tolist(), travellers.left.tolist(), strict=True))
    for begin, end in pairwise(travellers.start.tolist()):
        yield visits[begin:end]


def _clock(seconds: int) -> str:
    """Returns hours, minutes and seconds; hours run on after the first day, as MATSim has them."""
    minutes, second = divmod(seconds, 60)
    return f"{minutes // 60:02d}:{minutes % 60:02d}:{second:02d}"


def _metres(locations: Locations) -> tuple[str, list[tuple[float, float]]]:
    """Returns the UTM zone of the middle of all places, and where each of them is in it."""
    from pyproj import Transformer

    west, south, east, north = locations.bounds
    zone = min(int(((west + east) / 2 + 180) // 6) + 1, 60)
    crs = f"EPSG:{32600 + zone if south + north >= 0 else 32700 + zone}"
    lon = [place.lon for place in locations.places]
    lat = [place.lat for place in locations.places]
    x, y = Transformer.from_crs("EPSG:4326", crs, always_xy=True).transform(lon, lat)
    return crs, list(zip(x, y, strict=True))
