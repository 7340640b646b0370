"""A synthetic city: public geography, and trips that belong to nobody."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from hushway.arrays import IntArray
from hushway.families.od.public.cells import ODCells
from hushway.geography.transit import TransitNetwork, network_toml
from hushway.study.city_files import number_column, table_of, text_column, write_columns


@dataclass(frozen=True, kw_only=True)
class Trips:
    """Trips as arrays of one length, in the order of departure. The arrays cannot be written to.

    Attributes:
        rider: Number of the rider, 0 .. riders-1.
        origin: Index of the location where the trip starts.
        destination: Index of the location where it ends, never the origin.
        departure_s: Wall-clock seconds after midnight of the first day, 86,400 to a day.
        period: Index of the half-hour of the day.
    """

    rider: IntArray
    origin: IntArray
    destination: IntArray
    departure_s: IntArray
    period: IntArray

    def __post_init__(self) -> None:
        for column in (self.rider, self.origin, self.destination, self.departure_s, self.period):
            column.flags.writeable = False

    def __len__(self) -> int:
        return len(self.rider)

    @property
    def riders(self) -> int:
        """Number of riders."""
        return int(self.rider.max()) + 1


@dataclass(frozen=True, kw_only=True)
class City:
    """A city with one table of trips.

    Attributes:
        name: What the city is called.
        cells: The public universe of its origin-destination table.
        network: Its buses and shuttles.
        modes: Names of the transport modes.
        mode_of: The mode of each origin (row) and destination (column) by the cheapest way through
            the network, an index into `modes`; -1 on the diagonal.
        trips: The trips: synthetic, but to be treated as the protected rows.
    """

    name: str
    cells: ODCells
    network: TransitNetwork
    modes: tuple[str, ...]
    mode_of: IntArray
    trips: Trips

    def write(
        self,
        folder: Path,
        *,
        format: Literal["csv", "parquet"] = "csv",  # noqa: A002 - the word that users know
    ) -> None:
        """Writes locations.csv, modes.csv, network.toml and the trips.

        Trips have the columns trip_id, rider, origin, destination and departed_at, a wall-clock
        time: ISO text in trips.csv, a timestamp without a zone in trips.parquet.

        Args:
            folder: Where to write; made if it is missing.
            format: The format of the trips. The public files are always CSV.
        """
        # pyarrow takes a noticeable part of a second to load, and most users of a city never write
        # it.
        from hushway.study.city_files import write_locations

        folder.mkdir(parents=True, exist_ok=True)
        write_locations(self.cells.locations, folder / "locations.csv")
        write_modes(self, folder / "modes.csv")
        (folder / "network.toml").write_text(network_toml(self.network), encoding="utf-8")
        write_trips(self, folder / f"trips.{format}")


def write_modes(city: City, path: Path) -> None:
    """Writes the mode of every origin and destination that differ."""
    ids = text_column(city.cells.locations.ids)
    origin, destination = np.nonzero(city.mode_of >= 0)
    columns = {
        "origin": _looked_up(ids, origin),
        "destination": _looked_up(ids, destination),
        "mode": _looked_up(text_column(city.modes), city.mode_of[origin, destination]),
    }
    write_columns(columns, path)


def write_trips(city: City, path: Path) -> None:
    """Writes the trips as CSV or Parquet, as the path's suffix says."""
    trips = city.trips
    ids = text_column(city.cells.locations.ids)
    columns = {
        "trip_id": number_column(np.arange(1, len(trips) + 1), pa.int64()),
        "rider": _looked_up(_rider_ids(trips.riders), trips.rider),
        "origin": _looked_up(ids, trips.origin),
        "destination": _looked_up(ids, trips.destination),
    }
    midnight = np.datetime64(city.cells.periods.first_day, "s")
    if path.suffix == ".parquet":
        departed_at = midnight.astype(np.int64) + trips.departure_s
        columns["departed_at"] = number_column(departed_at, pa.timestamp("s"))
        parquet.write_table(table_of(columns), path)
        return
    # A day has few seconds and many trips: every text is made once.
    seconds, which = _numbered(trips.departure_s)
    texts = np.datetime_as_string(midnight + seconds.astype("timedelta64[s]"))
    columns["departed_at"] = _looked_up(text_column(texts.tolist()), which)
    write_columns(columns, path)


def _rider_ids(riders: int) -> pa.Array:
    width = max(6, len(str(riders - 1)))
    return text_column([f"rider-{number:0{width}d}" for number in range(riders)])


def _numbered(ascending: IntArray) -> tuple[IntArray, IntArray]:
    """Returns the distinct values of an ascending array, and which of them each entry is."""
    new = np.concatenate([[True], np.diff(ascending) != 0])
    return ascending[new], np.cumsum(new) - 1


def _looked_up(texts: pa.Array, which: IntArray) -> pa.Array:
    """Returns the text with each of the numbers `which`."""
    return texts.take(number_column(np.ascontiguousarray(which), pa.int64()))
