"""Makes sure that a certificate paid for what published links were made from."""

from collections import Counter
from typing import NoReturn

from hushway.errors import ReleaseError
from hushway.geography.movements import ClassZones, LinkUniverse, MovementCells, SpeedSums
from hushway.privacy.bound import Bound
from hushway.privacy.certificate import Certificate
from hushway.privacy.events import Event, GaussianEvent, LaplaceEvent
from hushway.privacy.query import PartitionQuery, Query
from hushway.releases.links.table import LinkTable


def check_domain(certificate: Certificate, universe: LinkUniverse) -> None:
    """Makes sure that a certificate was made for these public lists.

    Raises:
        ReleaseError: It was made for others.
    """
    domain = certificate.domain
    if (domain.digest, domain.size) != (universe.digest, universe.size):
        raise ReleaseError(
            "The roads, zones and periods are not those that the certificate was made for.",
            advice="Write each table with its own certificate.",
        )


def check_events(certificate: Certificate, table: LinkTable) -> None:
    """Makes sure that the events of a certificate are those that the published numbers need.

    Privacy:
        Every measurement in the release was paid for, in the cells that it has and for as many
        items of a person as all the others, and what the certificate says was measured is in the
        release.

    Raises:
        ReleaseError: An event is missing, is about other cells or bounds, or has no numbers.
    """
    movements = MovementCells(universe=table.universe)
    speeds, classes = SpeedSums(universe=table.universe), ClassZones(universe=table.universe)
    needed = {movements.name: movements.size}
    if table.class_totals is not None:
        needed[classes.name] = classes.size
    if table.speed is not None:
        needed[speeds.name] = speeds.size
    asked = Counter(event.query for event in certificate.events)
    for query in sorted(asked | Counter(needed)):
        if query not in needed or asked[query] != 1:
            _refuse(query)
    events = {event.query: event for event in certificate.events}
    for query, cells in needed.items():
        event = events[query]
        if not isinstance(event, (LaplaceEvent, GaussianEvent)) or event.cells != cells:
            _refuse(query)
    items = events[movements.name].bound
    if items != Bound(cells=items.cells, each=1, total=items.cells):
        _refuse(movements.name)
    if classes.name in needed and events[classes.name].bound != _of_classes(movements, items):
        _refuse(classes.name)
    if speeds.name in needed and not _is_of_speeds(events[speeds.name], items):
        _refuse(speeds.name)


def _of_classes(movements: MovementCells, items: Bound) -> Bound:
    base = Query(name=movements.name, cells=movements)
    cells = ClassZones(universe=movements.universe)
    return PartitionQuery(name=cells.name, base=base, cells=cells).bound(items)


def _is_of_speeds(event: Event, items: Bound) -> bool:
    """Whether a bound is that of as many links as there are items, each by some largest speed."""
    fastest = event.bound.each
    return event.bound == Bound(cells=items.cells, each=fastest, total=items.cells * fastest)


def _refuse(query: str) -> NoReturn:
    raise ReleaseError(
        f"The events of the certificate and the numbers of the release differ about {query}.",
        advice="Write each table with its own certificate.",
    )
