"""A timetable of a little town: a bus along a street, one across it, and a metro with gates.

A hundredth of a degree is 1.1 km. The bus 10 goes east by E1 to E4 and back on the other side of
the street by W4 to W1; the bus 20 goes north by N1 to N3 and crosses it at E3; the metro goes from
MA, next to E4, to MC.
"""

from pathlib import Path
from typing import Final

_POINTS: Final = {
    **{f"E{n}": (0.01 * n, 0.0) for n in (1, 2, 3, 4)},
    **{f"W{n}": (0.01 * n, 0.0005) for n in (1, 2, 3, 4)},
    "N1": (0.031, -0.02),
    "N2": (0.031, 0.0),
    "N3": (0.031, 0.02),
    "MA": (0.041, 0.0),
    "MB": (0.08, 0.0),
    "MC": (0.12, 0.0),
    "MA1": (0.041, 0.0),
    "MB1": (0.08, 0.0),
    "MC1": (0.12, 0.0),
    "FAR": (1.0, 1.0),
}
_TRIPS: Final = {
    "10": {"east": "E1 E2 E3 E4", "west": "W4 W3 W2 W1"},
    "20": {"north": "N1 N2 N3"},
    "M": {"out": "MA1 MB1 MC1", "in": "MC1 MB1 MA1"},
}


def bus_feed(folder: Path, **changes: str | None) -> Path:
    """Writes the timetable: every trip starts at 08:00 and takes five minutes between stops."""
    files = {**_files(), **changes}
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        if text is not None:
            (folder / f"{name}.txt").write_text(text, encoding="utf-8")
    return folder


def _files() -> dict[str, str]:
    stops, times, trips = [], [], []
    for stop, (lon, lat) in _POINTS.items():
        station = stop[:2] if stop.endswith("1") and stop.startswith("M") else ""
        stops.append(f"{stop},{stop} street,{lon},{lat},{station}\n")
    for route, directions in _TRIPS.items():
        for trip, calls in directions.items():
            trips.append(f"{route},daily,{trip}\n")
            for number, stop in enumerate(calls.split()):
                time = f"08:{5 * number:02}:00"
                times.append(f"{trip},{time},{time},{stop},{number}\n")
    return {
        "stops": "stop_id,stop_name,stop_lon,stop_lat,parent_station\n" + "".join(stops),
        "routes": "route_id,route_short_name,route_type\n10,Ten,3\n20,Twenty,3\nM,Metro,1\n",
        "trips": "route_id,service_id,trip_id\n" + "".join(trips),
        "stop_times": "trip_id,arrival_time,departure_time,stop_id,stop_sequence\n"
        + "".join(times),
    }
