"""A synthetic city: public geography, and trips that belong to nobody."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from hushway.arrays import IntArray
from hushway.families.od.public.cells import ODCells
from hushway.geography.transit import TransitNetwork, network_toml


@dataclass(frozen=True, kw_only=True)
class Trips:
    """Trips as arrays of one length, in the order of departure. The arrays cannot be written to.

    Attributes:
        rider: Number of the rider, 0 .. riders-1.
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
        """Writes places.csv, modes.csv, network.toml and the trips.

        Trips have the columns trip_id, rider, origin, destination and departed_at, a wall-clock
        time: ISO text in trips.csv, a timestamp without a zone in trips.parquet.
        """
        # pyarrow takes a noticeable part of a second to load, and most users of a city never write
        # it.
        from hushway.families.od.city.files import write_modes, write_trips
        from hushway.study.city_files import write_locations

        folder.mkdir(parents=True, exist_ok=True)
        write_locations(self.cells.locations, folder / "places.csv")
        write_modes(self, folder / "modes.csv")
        (folder / "network.toml").write_text(network_toml(self.network), encoding="utf-8")
        write_trips(self, folder / f"trips.{format}")
