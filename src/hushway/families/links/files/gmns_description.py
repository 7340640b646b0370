"""What the data package of a release of links says about its GMNS tables."""

from hushway.families.links.files.formats.gmns import (
    CONFIG_COLUMNS,
    COUNT_COLUMNS,
    LINK_COLUMNS,
    MEASUREMENT_COLUMNS,
    NODE_COLUMNS,
)
from hushway.release.resource import Resource, table_schema

GMNS_CONFIG = "gmns/config.csv"
GMNS_NODES = "gmns/node.csv"
GMNS_LINKS = "gmns/link.csv"
GMNS_MEASUREMENTS = "gmns/link_measurement.csv"

Words = tuple[tuple[str, str], ...]

_CONFIG_WORDS: Words = (
    ("string", "What the network is called."),
    ("string", "Unit of short lengths."),
    ("string", "Unit of the lengths of links."),
    ("string", "Unit of speeds."),
    ("string", "Coordinates: longitudes and latitudes of WGS84."),
    ("string", "How courses are written."),
    ("string", "Type of the ids."),
)
_NODE_WORDS: Words = (
    ("string", "Id of the node."),
    ("number", "Longitude in degrees."),
    ("number", "Latitude in degrees."),
)
_LINK_WORDS: Words = (
    ("string", "Id of the link."),
    ("string", "Name of the street; may be empty."),
    ("string", "Node that the link leaves."),
    ("string", "Node that it leads to."),
    ("boolean", "Always true: each direction is a link."),
    ("string", "Its course as well-known text."),
    ("integer", "Always 1: the course runs from the first node to the second."),
    ("number", "Length in kilometres."),
    ("string", "The class in the words of planners."),
    ("number", "Usual speed in km/h, which is public; not measured."),
    ("integer", "Number of lanes, rounded; empty if unknown."),
    ("integer", "Class, from 1 (motorways) to 5 (residential streets)."),
)
_COUNT_WORDS: Words = (
    ("number", "Published number of travellers; empty if the link does not show."),
    ("number", "What the count is expected to be off by; empty likewise."),
)
_MEASUREMENT_WORDS: Words = (
    ("string", "Id of the link."),
    ("string", "Label of the period."),
    ("number", "Published number of travellers."),
    ("number", "What the count is expected to be off by."),
)


def gmns_resources(*, counts: bool) -> tuple[Resource, ...]:
    """Returns the GMNS tables of a release, with counts beside the links or by themselves."""
    links: tuple[str, ...] = LINK_COLUMNS
    link_words = _LINK_WORDS
    if counts:
        links, link_words = (*links, *COUNT_COLUMNS), (*link_words, *_COUNT_WORDS)
    resources = (
        _table(
            GMNS_LINKS,
            "Roads as GMNS links",
            "The whole public network as the link table of the General Modeling Network "
            "Specification" + (", with the counts of the links that show." if counts else "."),
            (links, link_words, ["link_id"]),
        ),
        _table(
            GMNS_NODES,
            "Nodes as GMNS nodes",
            "All nodes of the public network.",
            (NODE_COLUMNS, _NODE_WORDS, ["node_id"]),
        ),
        _table(
            GMNS_CONFIG,
            "Units of the GMNS tables",
            "One row. Lengths over speeds give hours.",
            (CONFIG_COLUMNS, _CONFIG_WORDS, ["dataset_name"]),
        ),
    )
    if counts:
        return resources
    measurements = _table(
        GMNS_MEASUREMENTS,
        "Counts of GMNS links",
        "The published counts by link and period. The specification has no table for them.",
        (MEASUREMENT_COLUMNS, _MEASUREMENT_WORDS, ["link_id", "period"]),
    )
    return (*resources, measurements)


def _table(
    path: str, title: str, description: str, columns: tuple[tuple[str, ...], Words, list[str]]
) -> Resource:
    names, words, key = columns
    described = ((name, *rest) for name, rest in zip(names, words, strict=True))
    return Resource(
        path=path,
        title=title,
        description=description,
        mediatype="text/csv",
        schema=table_schema(*described, key=key),
    )
