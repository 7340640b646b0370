"""What the synthetic city holds, as a table: `python -m hushway.families.od.city.describe`."""

import numpy as np

from hushway.families.od.city.ann_arbor import ann_arbor
from hushway.families.od.city.city import City
from hushway.families.od.city.places import WINDOW
from hushway.study.results import facts_table, print_tables


def table(seed: int) -> str:
    """Returns the figures of the weekday and the weekend as a Markdown table."""
    return facts_table(
        {
            "weekday": _facts(ann_arbor(seed=seed, day="weekday")),
            "weekend": _facts(ann_arbor(seed=seed, day="weekend")),
        }
    )


def _facts(city: City) -> dict[str, str]:
    trips, places = city.trips, len(city.cells.locations)
    in_window = (trips.period >= WINDOW.start) & (trips.period < WINDOW.stop)
    cell = city.cells.encode(trips.period, trips.origin, trips.destination)
    window_cells, window_counts = np.unique(cell[in_window], return_counts=True)
    window_types = places**2 * len(WINDOW)
    error_of_zeros = np.sqrt(np.sum(window_counts**2) / window_types)
    made = np.bincount(trips.rider)
    return {
        "date": f"{city.cells.periods.first_day:%A %Y-%m-%d}",
        "places": f"{places}",
        "zones": f"{len(city.cells.locations.zones)}",
        "hubs": f"{len(city.network.hubs)}",
        "transport modes": f"{len(city.modes)}",
        "half-hours of service": f"{len(city.cells.periods)}",
        "trips": f"{len(trips):,}",
        "trips, 08:00-10:00": f"{in_window.sum():,}",
        "trip types, 08:00-10:00 (places² x 4)": f"{window_types:,}",
        "non-zero trip types, 08:00-10:00": f"{len(window_cells):,}",
        "RMSE of an all-zero table, 08:00-10:00": f"{error_of_zeros:.2f}",
        "trip types of the day, origin and destination differ": f"{city.cells.size:,}",
        "non-zero trip types of the day": f"{len(np.unique(cell)):,}",
        "riders": f"{trips.riders:,}",
        "trips of a rider, mean": f"{made.mean():.2f}",
        "trips of a rider, 99th percentile": f"{np.quantile(made, 0.99):.0f}",
        "trips of a rider, most": f"{made.max()}",
    }


if __name__ == "__main__":
    print_tables("Ann Arbor", table)
