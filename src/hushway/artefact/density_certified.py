"""Makes sure that a certificate paid for what a density was made from."""

from collections import Counter
from collections.abc import Callable
from typing import NoReturn

from hushway.errors import ReleaseError
from hushway.geography.density import DensityUniverse
from hushway.geography.visits import (
    ClusterSeries,
    ClusterTotals,
    SiteHistogram,
    VisitLimits,
    VisitTotal,
)
from hushway.privacy.bound import Bound
from hushway.privacy.certificate import Certificate
from hushway.privacy.events import CutEvent, Event, GaussianEvent, LaplaceEvent
from hushway.releases.density.table import DensityTable

# What the exponential mechanism is asked when it chooses how smooth each series is.
SELECTION = "coefficients of each cluster"

_ONE = Bound(cells=1, each=1, total=1)


def check_domain(certificate: Certificate, universe: DensityUniverse) -> None:
    """Makes sure that a certificate was made for these public lists.

    Raises:
        ReleaseError: It was made for others.
    """
    domain = certificate.domain
    if (domain.digest, domain.size) != (universe.digest, universe.size):
        raise ReleaseError(
            "The areas, sites and bins are not those that the certificate was made for.",
            advice="Write each table with its own certificate.",
        )


def check_events(certificate: Certificate, table: DensityTable) -> None:
    """Makes sure that the events of a certificate are those that the published numbers need.

    Privacy:
        Every measurement in the release was paid for, in cells and parts that it has, and what the
        certificate says was measured is in the release.

    Raises:
        ReleaseError: An event is missing, is about other cells, or has no numbers.
    """
    universe, cluster, quanta = table.universe, table.cluster, table.quanta
    series = ClusterSeries(universe=universe, cluster=cluster, quanta=quanta)
    totals = ClusterTotals(universe=universe, cluster=cluster, quanta=quanta)
    histogram, total = SiteHistogram(universe=universe), VisitTotal(universe=universe)
    known: dict[str, Callable[[Event], bool]] = {
        series.name: lambda event: event.cells == series.size and _is_series(event, series),
        histogram.name: lambda event: event.cells == histogram.size and event.bound == _ONE,
        total.name: lambda event: event.cells == event.bound.cells == 1,
        # What clusters are chosen by: the total of every cell of the cover, or of all together.
        totals.name: lambda event: event.cells in {1, len(universe.cover)},
        SELECTION: lambda event: event.cells == series.size and _is_series(event, series),
    }
    for event in certificate.events:
        kinds = CutEvent if event.query == SELECTION else (LaplaceEvent, GaussianEvent)
        fits = known.get(event.query)
        if fits is None or not isinstance(event, kinds) or not fits(event):
            _refuse(event.query)
    asked = Counter(event.query for event in certificate.events)
    published = {
        series.name: True,
        histogram.name: table.measured_sites is not None,
        total.name: table.measured_total is not None,
    }
    for query, is_published in published.items():
        if asked[query] != is_published:
            _refuse(query)


def _is_series(event: Event, series: ClusterSeries) -> bool:
    """Whether a bound is that of some number of visits, each of as many parts as the series has."""
    bound = event.bound
    visits, rest = divmod(bound.total, series.quanta)
    if rest or not visits:
        return False
    reach = series.reach(VisitLimits(max_visits=visits, most_counted=1))
    return (bound.cells, bound.each, bound.total) == tuple(reach)


def _refuse(query: str) -> NoReturn:
    raise ReleaseError(
        f"The events of the certificate and the numbers of the release differ about {query}.",
        advice="Write each table with its own certificate.",
    )
