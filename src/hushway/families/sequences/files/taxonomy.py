"""The public groups of locations: taxonomy.json, and columns of places.csv for readers."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from hushway.arrays import IntArray
from hushway.errors import ReleaseError, damaged
from hushway.families.sequences.public.prefixes import SequenceUniverse
from hushway.families.sequences.public.taxonomy import LOCATION, Taxonomy
from hushway.geography.locations import LOCATION_FACTS, Labels, Locations, PlaceLabels
from hushway.privacy.certificate import Certificate, canonical_json, parsed_json
from hushway.release.folder.guard import check_reads_back, refuse
from hushway.release.folder.published_file import PERIODS, PublishedFile, locations_columns
from hushway.release.formats.places import free_name, locations_csv, read_locations, read_periods
from hushway.release.terms import check_domain
from hushway.release.untrusted.limits import LIST_BYTES, read_plain, refuse_large

LOCATIONS = "places.csv"
TAXONOMY = "taxonomy.json"

_MOST_LEVELS = 64
_ABOUT = (
    "The public groups of places, from the coarsest level to the finest. Every place lies in "
    "exactly one group of each level: codes gives its position in names, in the order of "
    "places.csv, which shows the same names in the column stored_as. own_columns are the "
    "further columns that the places had before. Not made from the data."
)


def taxonomy_json(taxonomy: Taxonomy) -> bytes:
    """Returns the public groups as JSON: the same bytes for the same taxonomy."""
    stored = _stored_columns(taxonomy)
    return canonical_json(
        {
            "about": _ABOUT,
            "own_columns": [labels.column for labels in taxonomy.locations.labels],
            "levels": [
                {
                    "column": level.column,
                    "stored_as": name,
                    "names": list(level.names),
                    "codes": level.codes.tolist(),
                }
                for name, level in zip(stored, taxonomy.levels, strict=True)
            ],
        }
    )


def grouped_locations_csv(taxonomy: Taxonomy) -> bytes:
    """Returns the public places as CSV, with a column for every level of groups."""
    return locations_csv(grouped_locations(taxonomy))


def grouped_locations(taxonomy: Taxonomy) -> Locations:
    """Returns the places with the names of their groups among their labels."""
    locations = taxonomy.locations
    own = {*LOCATION_FACTS, *(labels.column for labels in locations.labels)}
    added = [
        PlaceLabels(column=name, values=tuple(_names_by_location(level)))
        for name, level in zip(_stored_columns(taxonomy), taxonomy.levels, strict=True)
        if name not in own
    ]
    return Locations(locations.places, (*locations.labels, *added))


def read_taxonomy(data: bytes, places: bytes) -> Taxonomy:
    """Reads the public places and their groups back."""
    refuse_large("taxonomy.json", len(data), LIST_BYTES)
    facts = parsed_json(data)
    if len(facts["levels"]) > _MOST_LEVELS:
        raise _rewritten()
    shown = read_locations(places)
    own = tuple(shown.labels[: len(facts["own_columns"])])
    taxonomy = Taxonomy(
        locations=Locations(shown.places, own),
        levels=tuple(
            Labels(
                column=level["column"],
                codes=np.array(level["codes"], dtype=np.int32),
                names=tuple(level["names"]),
            )
            for level in facts["levels"]
        ),
    )
    if taxonomy_json(taxonomy) != data or grouped_locations_csv(taxonomy) != places:
        raise _rewritten()
    return taxonomy


def read_universe(folder: Path, certificate: Certificate, *, times: bool) -> SequenceUniverse:
    """Reads the public places, groups and, where times are kept, periods of a release."""
    universe = SequenceUniverse(
        taxonomy=read_taxonomy(
            read_plain(folder / TAXONOMY, LIST_BYTES), read_plain(folder / LOCATIONS, LIST_BYTES)
        ),
        periods=read_periods(read_plain(folder / PERIODS, LIST_BYTES)) if times else None,
    )
    check_domain(certificate, universe)
    return universe


def check_public(taxonomy: Taxonomy) -> None:
    """Makes sure that places and groups are public ones."""
    # The very classes: a subclass might carry more than what is public.
    if type(taxonomy) is not Taxonomy or type(taxonomy.locations) is not Locations:
        refuse("The taxonomy is not one of public places.")
    if any(type(level) is not Labels for level in taxonomy.levels):
        refuse("The groups of the places are not public labels.")


def taxonomy_files(
    taxonomy_of: Callable[[Any], Taxonomy],
) -> tuple[PublishedFile[Any, Any], PublishedFile[Any, Any]]:
    """Returns the files of the public places and their groups."""
    return (
        PublishedFile(
            path=LOCATIONS,
            title="Public places",
            description="Where stops may be, with the groups that they belong to. Public "
            "knowledge, not made from the data.",
            columns=lambda view: locations_columns(grouped_locations(taxonomy_of(view))),
            parts=lambda view: [grouped_locations_csv(taxonomy_of(view))],
            is_source=True,
        ),
        PublishedFile(
            path=TAXONOMY,
            title="Public groups of places",
            description="Which places belong together at each level. Public knowledge, not made "
            "from the data.",
            parts=lambda view: [taxonomy_json(taxonomy_of(view))],
            is_source=True,
        ),
    )


def grain_name(taxonomy: Taxonomy, grain: int) -> str:
    """Returns what a granularity is called: the column of its level, or location."""
    return LOCATION if grain == len(taxonomy.levels) else taxonomy.levels[grain].column


def node_labels(taxonomy: Taxonomy, grain: int) -> tuple[str, ...]:
    """Returns the names of all groups of a granularity, or the ids of locations, by number."""
    if grain == len(taxonomy.levels):
        order: IntArray = taxonomy.location_of(np.arange(len(taxonomy.locations)))
        return tuple(taxonomy.locations.ids[i] for i in order.tolist())
    level = taxonomy.levels[grain]
    code_of_number = np.empty(len(level), dtype=np.int64)
    code_of_number[taxonomy.codes(grain)] = level.codes
    return tuple(level.names[code] for code in code_of_number.tolist())


def check_levels(taxonomy: Taxonomy) -> None:
    """Makes sure that a verifier can read the public groups back from their files."""
    if len(taxonomy.levels) > _MOST_LEVELS:
        raise ReleaseError(
            f"A release holds at most {_MOST_LEVELS} levels of groups.",
            advice="Leave out some of them.",
        )
    check_reads_back(
        "The places or their groups",
        lambda: (
            read_taxonomy(taxonomy_json(taxonomy), grouped_locations_csv(taxonomy)).digest
            == taxonomy.digest
        ),
        "Use plain text for ids and names, and Python's own floats for positions.",
    )


def _stored_columns(taxonomy: Taxonomy) -> tuple[str, ...]:
    """Returns under which name places.csv shows each level.

    A level that was made of a column of the locations is shown by that very column.
    """
    locations = taxonomy.locations
    labels = ("zone", *(each.column for each in locations.labels))
    shown = {name: locations.labels_in(name) for name in labels}
    taken = {*LOCATION_FACTS, *shown}
    stored = []
    for level in taxonomy.levels:
        if shown.get(level.column) == tuple(_names_by_location(level)):
            stored.append(level.column)
            continue
        name = free_name(level.column, taken)
        taken.add(name)
        stored.append(name)
    return tuple(stored)


def _names_by_location(level: Labels) -> Iterator[str]:
    return (level.names[code] for code in level.codes.tolist())


def _rewritten() -> ReleaseError:
    return damaged(
        "taxonomy.json or places.csv is not as hushway writes it, or is larger than it may be."
    )
