"""Where vehicles were and when, by `stop_visits` or `vehicle_locations` of TIDES: public inputs."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pyarrow as pa

from hushway.engine.embedded import embedded_session
from hushway.engine.reading import read_rows
from hushway.engine.settings import EngineSettings
from hushway.journeys.rides import PublicRides
from hushway.tables.header import Clock
from hushway.tables.layout import Columns, TimedSource, layout_of


@dataclass(frozen=True, kw_only=True)
class StopVisits(Columns):
    """Vehicles at stops; TIDES names the columns so."""

    vehicle: str = "vehicle_id"
    time: str = "actual_arrival_time"
    stop: str = "stop_id"


@dataclass(frozen=True, kw_only=True)
class VehicleLocations(Columns):
    """Positions of vehicles; TIDES names the columns so."""

    vehicle: str = "vehicle_id"
    time: str = "event_timestamp"
    lon: str = "longitude"
    lat: str = "latitude"


@dataclass(frozen=True)
class _Vehicles(TimedSource[Columns]):
    noun = "vehicles"
    areas: ClassVar[None] = None


def read_visits(path: Path, columns: Columns, clock: Clock, rides: PublicRides) -> pa.Table:
    """Returns (vehicle_id, visit_us, visit_at): when vehicles came to stops of the timetable.

    A position near no stop, and a row without a vehicle or a time, says nothing.

    Raises:
        DataError: A column is missing, or the file cannot be read.
    """
    source = _Vehicles(path=path, columns=columns, clock=clock)
    layout = layout_of(source)
    with embedded_session(EngineSettings()) as session:
        rows = read_rows(session, layout, clock)
        rows = rows.mutate(vehicle_id=rows.vehicle.cast("string").strip(), visit_us=rows.us)
        if "stop" in rows.columns:
            stops = session.load("public_stops", rides.stops)
            rows = rows.mutate(stop_id=rows.stop.cast("string").strip()).left_join(stops, "stop_id")
            seen = session.fetch(rows.select("vehicle_id", "visit_us", visit_at=rows["at"]))
        else:
            seen = session.fetch(rows.select("vehicle_id", "visit_us", "lon", "lat"))
            at = rides.stop_near(seen["lon"].to_numpy(), seen["lat"].to_numpy())
            at = pa.array(at, mask=at < 0)
            seen = seen.drop_columns(["lon", "lat"]).append_column("visit_at", at)
    return seen.drop_null()
