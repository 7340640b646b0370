"""A release of sequences read again: as a page draws it, and to be added up."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from hushway.arrays import FloatArray, IntArray
from hushway.families.sequences.files.learnt import PREFIXES
from hushway.families.sequences.files.published import LEVELS, TREE
from hushway.families.sequences.files.records import read_prefixes
from hushway.families.sequences.files.taxonomy import read_universe
from hushway.families.sequences.files.tree import read_levels, read_tree, shape_of
from hushway.families.sequences.mechanism.learned import LEARNED
from hushway.families.sequences.public.prefixes import SequenceUniverse
from hushway.geography.locations import Locations
from hushway.geography.periods import Periods
from hushway.privacy.certificate import Certificate
from hushway.release.drawing.atlas import AtlasPeriod, Drawing, Flows, Numbers, Tree
from hushway.release.drawing.atlas_parts import ALL_DAY, located, shown_periods, starts_of_periods
from hushway.release.questions.cells import AskedCells, Dimension, correlated
from hushway.release.untrusted.limits import PAPER_BYTES, read_plain

COUNTED = "records"

_LEARNT_ERROR = "The error is what is left in the number, as learnt from all noisy answers."
_TREE_ERROR = "The error is the noise in the prefix's own measurement, before the fit."


@dataclass(frozen=True, kw_only=True, eq=False)
class Prefixes:
    """Prefixes of whole stops; a parent stands before those that continue it.

    Attributes:
        parent: The prefix before the last stop; -1 where there is one stop.
        place: The place of the last stop.
        period: Its period; 0 where times are not kept.
        counts: How many published records begin so.
        errors: The standard error that the release tells.
    """

    parent: IntArray
    place: IntArray
    period: IntArray
    counts: IntArray
    errors: FloatArray

    @property
    def depth(self) -> IntArray:
        """The stops of each but the first."""
        depth = np.zeros(len(self.parent), dtype=np.int64)
        row = np.flatnonzero(self.parent >= 0)
        at = self.parent[row]
        while len(row):
            depth[row] += 1
            at = self.parent[at]
            row, at = row[at >= 0], at[at >= 0]
        return depth


def draw_sequences(folder: Path, certificate: Certificate, facts: Mapping[str, Any]) -> Drawing:
    """Returns what a release of sequences shows, as `Family.drawing` asks."""
    learnt = certificate.terms.mechanism.name == LEARNED
    universe, found = read_shown(folder, certificate, facts)
    periods = universe.periods
    window = certificate.account.period if periods is None else universe.counted
    error = _LEARNT_ERROR if learnt else _TREE_ERROR
    return Drawing(
        counted=COUNTED,
        window=window,
        periods=(AtlasPeriod(label=ALL_DAY),) if periods is None else shown_periods(periods),
        places=located(universe.taxonomy.locations),
        totals=_totals(found, universe, f"Published records that begin at a place. {error}"),
        flows=_flows(found, universe, error),
        tree=_tree(
            found, periods, f"Published records that begin with these stops, {window}. {error}"
        ),
        notes=("A prefix that is not shown is not known to be absent: it is not sure enough.",),
    )


def read_shown(
    folder: Path, certificate: Certificate, facts: Mapping[str, Any]
) -> tuple[SequenceUniverse, Prefixes]:
    """Reads what is public of sequences, and the prefixes that a release shows."""
    learnt = certificate.terms.mechanism.name == LEARNED
    universe = read_universe(folder, certificate, times=facts["times"] and not learnt)
    return universe, (_learnt if learnt else _kept)(folder, universe)


def _learnt(folder: Path, universe: SequenceUniverse) -> Prefixes:
    locations = universe.taxonomy.locations
    parent, place, counts, errors = read_prefixes(locations, folder / PREFIXES)
    return Prefixes(
        parent=parent, place=place, period=np.zeros_like(place), counts=counts, errors=errors
    )


def _kept(folder: Path, universe: SequenceUniverse) -> Prefixes:
    """Returns the nodes of a tree that stand for whole stops; groups are on the way only."""
    taxonomy = universe.taxonomy
    steps = read_levels(read_plain(folder / LEVELS, PAPER_BYTES), taxonomy)
    table = read_tree(folder / TREE, taxonomy, universe.periods, steps)
    before = shape_of(table).prefix
    stops = np.flatnonzero(table.grains == taxonomy.grains - 1)
    among = np.full(len(table.parent) + 1, -1, dtype=np.int64)
    among[stops] = np.arange(len(stops))
    errors = np.array([step.standard_error for step in steps], dtype=np.float64)
    return Prefixes(
        # The last entry stays -1, and so stands for the root.
        parent=among[before[stops]],
        place=taxonomy.location_of(table.code[stops]),
        period=table.period[stops],
        counts=table.counts[stops],
        errors=errors[table.step[stops]],
    )


def _totals(found: Prefixes, universe: SequenceUniverse, meaning: str) -> Numbers:
    """Returns the records that begin at each place and period; NaN where none are published."""
    places, periods = len(universe.taxonomy.locations), universe.moments
    count, error = (np.full(places * periods, np.nan) for _ in range(2))
    first = found.parent < 0
    at = found.place[first] * periods + found.period[first]
    count[at], error[at] = found.counts[first], found.errors[first]
    return Numbers(count=count, error=error, meaning=meaning)


def _flows(found: Prefixes, universe: SequenceUniverse, error: str) -> Flows:
    """Returns records by their first two stops, in the period of the first.

    The error of a sum over second stops of several periods is not known.
    """
    second = np.flatnonzero(found.depth == 1)
    above = found.parent[second]
    places = len(universe.taxonomy.locations)
    keys = (found.period[above] * places + found.place[above]) * places + found.place[second]
    seen, number, times = np.unique(keys, return_inverse=True, return_counts=True)
    count = np.zeros(len(seen), dtype=np.int64)
    np.add.at(count, number, found.counts[second])
    errors = np.full(len(seen), np.nan)
    errors[number] = found.errors[second]
    errors[times > 1] = np.nan
    period, pair = np.divmod(seen, places * places)
    return Flows(
        origin=pair // places,
        destination=pair % places,
        numbers=Numbers(
            count=count,
            error=errors,
            meaning=f"Published records by their first two stops. {error}",
        ),
        starts=starts_of_periods(period, universe.moments),
    )


def _tree(found: Prefixes, periods: Periods | None, meaning: str) -> Tree:
    """Returns all prefixes by depth, the largest first among siblings."""
    rank = np.full(len(found.parent) + 1, -1, dtype=np.int64)
    depth = found.depth
    taken = [np.empty(0, dtype=np.int64)]
    rows = 0
    for stop in range(int(depth.max(initial=-1)) + 1):
        here = np.flatnonzero(depth == stop)
        above = rank[found.parent[here]]
        here = here[np.lexsort((found.period[here], found.place[here], -found.counts[here], above))]
        rank[here] = rows + np.arange(len(here))
        rows += len(here)
        taken.append(here)
    order = np.concatenate(taken)
    return Tree(
        parent=rank[found.parent[order]],
        place=found.place[order],
        period=None if periods is None else found.period[order],
        numbers=Numbers(count=found.counts[order], error=found.errors[order], meaning=meaning),
    )


def ask_sequences(folder: Path, certificate: Certificate, facts: Mapping[str, Any]) -> AskedCells:
    """Returns the records of a release to be added up, as `Family.asked` asks."""
    universe, found = read_shown(folder, certificate, facts)
    return records_asked(universe.taxonomy.locations, found)


def records_asked(locations: Locations, found: Prefixes) -> AskedCells:
    """Returns records by their first stop, and by their first and second.

    Unless a second stop is asked for, records of one stop or more are counted by their first.
    """
    depth = found.depth
    one, two = np.flatnonzero(depth == 0), np.flatnonzero(depth == 1)
    first = np.concatenate([found.place[one], found.place[found.parent[two]]])
    second = np.concatenate([np.full(len(one), len(locations)), found.place[two]])
    both = np.concatenate([one, two])
    names = tuple(place.name for place in locations.places)
    zones = tuple(place.zone for place in locations.places)
    return AskedCells(
        counted="records",
        dimensions={
            "first": Dimension(ids=locations.ids, position=first, names=(names, zones)),
            "second": Dimension(
                ids=(*locations.ids, ""),
                position=second,
                names=((*names, ""), (*zones, "")),
                unasked=len(locations),
            ),
        },
        counts=found.counts[both].astype(np.float64),
        variances=correlated(found.errors[both]),
        notes=("Prefixes that are not sure enough are not published, and not in any sum.",),
        selected=True,
    )
