"""A synthetic card city: public lines and stops, and records of taps that belong to nobody."""

from dataclasses import dataclass
from datetime import date
from pathlib import Path

import numpy as np

from hushway.arrays import IntArray
from hushway.families.sequences.public.taxonomy import Taxonomy
from hushway.geography.locations import Locations


@dataclass(frozen=True, kw_only=True, eq=False)
class CardCity:
    """A city with one day of taps, one record for each card. The arrays cannot be written to.

    Attributes:
        taxonomy: The public stops, and one level: their lines.
        start: Where each record begins; one entry more than records.
        stops: The location index of every stop of all records in a row.
        seconds: The second of the day of every stop, ascending within a record.
    """

    name: str
    zone: str
    day: date
    taxonomy: Taxonomy
    start: IntArray
    stops: IntArray
    seconds: IntArray
    person: IntArray

    def __post_init__(self) -> None:
        for column in (self.start, self.stops, self.seconds, self.person):
            column.flags.writeable = False

    def __len__(self) -> int:
        return len(self.start) - 1

    @property
    def locations(self) -> Locations:
        """The public stops."""
        return self.taxonomy.locations

    @property
    def minutes(self) -> IntArray:
        """The minute of the day of every stop, never descending within a record."""
        return self.seconds // 60

    @property
    def person_of_stop(self) -> IntArray:
        """The person of every stop."""
        return np.repeat(self.person, np.diff(self.start))

    def write(self, folder: Path) -> None:
        """Writes places.csv and taps.parquet.

        Locations have id, name, lon, lat and zone, which is the line. Taps have person, location
        and time, a wall-clock timestamp without a zone, in the order of time.
        """
        # pyarrow takes a noticeable part of a second to load, and most users of a city never write
        # it.
        from hushway.study.city_files import write_locations

        folder.mkdir(parents=True, exist_ok=True)
        write_locations(self.locations, folder / "places.csv")
        write_taps(self, folder / "taps.parquet")


def write_taps(city: CardCity, path: Path) -> None:
    """Writes person, location and time of every tap, in the order of time."""
    import pyarrow as pa
    from pyarrow import parquet

    from hushway.study.city_files import number_column, table_of

    order = np.argsort(city.seconds, kind="stable")
    midnight = np.datetime64(city.day, "s").astype(np.int64)
    names = pa.array(city.locations.ids)
    codes = number_column(city.stops[order].astype(np.int32), pa.int32())
    columns = {
        "person": number_column(city.person_of_stop[order], pa.int64()),
        "place": pa.DictionaryArray.from_arrays(codes, names),
        "time": number_column(midnight + city.seconds[order], pa.timestamp("s")),
    }
    table = table_of(columns)
    parquet.write_table(table, path)
