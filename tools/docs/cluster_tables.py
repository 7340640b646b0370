"""Tables of how fast rows are counted, for the page that quotes `cluster.py`.

The benchmark adds the seconds of each size and work to one file, the size in millions of rows.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

Found = Mapping[str, Any]
Rows = list[list[str]]

_SMALLER: Final = "27 M"
_LARGER: Final = "270 M"
_CORES: Final = 2
_CORES_OF_ONE_MACHINE: Final = 32
# Rows, whose they are, and the cores of a cluster for them.
_CITIES: Final = (
    (10**9, "10⁹, a city's year", 16),
    (10**10, "10¹⁰, a country's year", 64),
    (10**11, "10¹¹, a continent's", 256),
)
_MINUTE_S: Final = 60


def rates(found: Found) -> tuple[list[str], Rows]:
    """Returns titles and rows: seconds of every size, engine and work, and what follows at once."""
    head = ["events", "engine and work", "seconds", "million rows/s", "over the bare group-by"]
    rows = []
    for events, seconds in _sizes(found):
        for name, each in seconds.items():
            bare = seconds[f"{name.partition(',')[0]}, bare by person"]
            rate = f"{_millions(events) / each:.2f}"
            rows.append([events, name, f"{each:.1f}", rate, f"{each / bare:.1f}"])
    return head, rows


def growth(found: Found) -> tuple[list[str], Rows]:
    """Returns titles and rows: how many times longer ten times the rows take."""
    smaller, larger = (found[size]["seconds"] for size in (_SMALLER, _LARGER))
    rows = [[name, f"{larger[name] / smaller[name]:.0f}"] for name in smaller]
    return ["engine and work", f"from {_SMALLER} to {_LARGER}, times as long"], rows


def memory(found: Found) -> tuple[list[str], Rows]:
    """Returns titles and rows: what the process needs that makes the release."""
    rows = [[events, f"{found[events]['peak_gb']:.1f}"] for events, _ in _sizes(found)]
    return ["events", "GB at most, all of them counted on one machine"], rows


def positions(found: Found) -> tuple[list[str], Rows]:
    """Returns titles and rows: how many positions are matched and counted."""
    rows = [[name, f"{rate:,.0f}"] for name, rate in found["traces"]["rates"].items()]
    return ["traces", "positions a second"], rows


def divided(found: Found) -> tuple[list[str], Rows]:
    """Returns titles and rows: minutes of large data, at the rates of a core."""
    seconds = found[_SMALLER]["seconds"]

    def minutes(rows: int, name: str, cores: int) -> str:
        of_a_core = _millions(_SMALLER) * 1e6 / seconds[name] / _CORES
        return f"{rows / of_a_core / cores / _MINUTE_S:.1f}"

    head = [
        "rows",
        f"trips, one machine of {_CORES_OF_ONE_MACHINE} cores, minutes",
        "cores of a cluster",
        "trips, minutes",
        "visits, minutes",
    ]
    return head, [
        [
            title,
            minutes(rows, "duckdb, trips", _CORES_OF_ONE_MACHINE),
            str(cores),
            minutes(rows, "cluster, trips", cores),
            minutes(rows, "cluster, visits", cores),
        ]
        for rows, title, cores in _CITIES
    ]


def _sizes(found: Found) -> Iterator[tuple[str, Mapping[str, float]]]:
    """Yields sizes and seconds; traces are none of them."""
    for events, measured in found.items():
        if events != "traces":
            yield events, measured["seconds"]


def _millions(events: str) -> float:
    return float(events.partition(" ")[0])
