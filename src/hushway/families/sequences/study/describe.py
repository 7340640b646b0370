"""What the card cities hold, as a table: `python -m hushway.families.sequences.study.describe`."""

import numpy as np

from hushway.families.sequences.city.cards import bus, metro
from hushway.families.sequences.city.city import CardCity
from hushway.families.sequences.study.data import distinct
from hushway.families.sequences.study.patterns import top_patterns
from hushway.study.results import facts_table, print_tables

_RANKS = (1, 100, 300)
_LONG = 12


def table(cities: tuple[CardCity, ...]) -> str:
    """Returns the figures of some cities as a Markdown table, a column each."""
    return facts_table({city.name: _facts(city) for city in cities})


def _facts(city: CardCity) -> dict[str, str]:
    length = np.diff(city.start)
    records = distinct(city.start, city.stops)
    long_enough = city.start[:-1][length > 1]
    beginnings = np.unique(
        city.stops[long_enough] * len(city.locations) + city.stops[long_enough + 1]
    )
    patterns = top_patterns(records, max(_RANKS))
    return {
        "records": f"{len(city):,}",
        "places": f"{len(city.locations):,}",
        "stops of the longest record": f"{length.max()}",
        "stops of a record, mean": f"{length.mean():.2f}",
        "stops of all records": f"{len(city.stops):,}",
        "stops of a record, median": f"{np.median(length):.0f}",
        "stops of a record, 99th percentile": f"{np.quantile(length, 0.99):.0f}",
        f"records with more than {_LONG} stops": f"{np.mean(length > _LONG):.1%}",
        "distinct records": f"{len(records):,}",
        "records unlike any other": f"{np.sum(records.weights == 1):,}",
        "distinct beginnings of two stops": f"{len(beginnings):,}",
        **{
            f"support of the pattern of rank {rank}": f"{patterns[rank - 1].support:,}"
            for rank in _RANKS
        },
        f"patterns of the first {max(_RANKS)} with two stops": (
            f"{sum(len(pattern.locations) == 2 for pattern in patterns)}"  # noqa: PLR2004
        ),
    }


if __name__ == "__main__":
    print_tables("card cities", lambda seed: table((metro(seed), bus(seed))))
