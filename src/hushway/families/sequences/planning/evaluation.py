"""Published sequences beside the exact records, for the steward's own eyes."""

from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

from hushway.arrays import FloatArray, IntArray
from hushway.families.sequences.files.learnt import PREFIXES
from hushway.families.sequences.files.published import PARQUET
from hushway.families.sequences.job import RecordRows
from hushway.families.sequences.public.prefixes import SequenceUniverse
from hushway.privacy.measured import Internal
from hushway.privacy.query import Counter, Query
from hushway.release.forecast.true_errors import TrueErrors, mean_error
from hushway.release.job import CountingContext, Job

# More records than anybody has.
_NO_LIMIT = 1 << 40


@dataclass(frozen=True, kw_only=True, eq=False)
class PublishedPrefixes:
    """What a release says of the beginnings of records.

    Attributes:
        place: The place of every stop of each prefix; -1 after its last.
        period: The period of every stop; 0 if times are not kept.
        length: How many stops each has.
        counts: How many records begin with it, as published.
        records: All records, as published.
    """

    place: IntArray
    period: IntArray
    length: IntArray
    counts: FloatArray
    records: float


def true_errors(release: Path, job: Job, context: CountingContext) -> Internal[TrueErrors]:
    """Compares published prefixes with all records that begin with them.

    Privacy:
        Reads all exact records: what it returns carries no guarantee.
    """
    rows, universe = job.rows, job.geography
    assert isinstance(rows, RecordRows)  # noqa: S101  what a plan of sequences makes
    assert isinstance(universe, SequenceUniverse)  # noqa: S101  likewise
    published = read_published(release, universe)
    every = every_record(rows, context)
    first = universe.first_step()
    total = float(every.count(Query(name=first.name, cells=first)).values.sum())
    true = exact_prefixes(published, universe, every)
    return Internal(
        TrueErrors(
            counted=job.wording.counted,
            total=(published.records, total),
            misplaced=None,
            figures={
                f"a published prefix of {stops} {'stop' if stops == 1 else 'stops'}": mean_error(
                    published.counts[published.length == stops], true[published.length == stops]
                )
                for stops in np.unique(published.length).tolist()
            },
        )
    )


def every_record(rows: RecordRows, context: CountingContext) -> Counter:
    """Returns what counts all records, still cut to their first stops: no more are published.

    Privacy:
        Nobody is bounded: for values that stay `Internal`.
    """
    return replace(rows, rule=replace(rows.rule, max_records=_NO_LIMIT)).counter(context)


def exact_prefixes(
    published: PublishedPrefixes, universe: SequenceUniverse, every: Counter
) -> FloatArray:
    """Returns how many records begin with each published prefix, going down all of them at once."""
    found = np.zeros(len(published.length))
    step = universe.first_step()
    on = np.arange(len(found))
    node = np.zeros(len(found), dtype=np.int64)
    while len(on):
        cell = step.cell(node, published.period[on, step.stop], published.place[on, step.stop])
        exact = every.count(Query(name=step.name, cells=step))
        kept, node = np.unique(cell, return_inverse=True)
        if step.grain == universe.taxonomy.grains - 1:
            done = published.length[on] == step.stop + 1
            found[on[done]] = _at(exact.cells, exact.values, cell[done])
            on, node = on[~done], node[~done]
        step = step.below(kept)
    return found


def _at(cells: IntArray, values: IntArray, wanted: IntArray) -> IntArray:
    """Returns the values of wanted cells; 0 where there is none."""
    if not len(cells):
        return np.zeros(len(wanted), dtype=np.int64)
    position = np.minimum(np.searchsorted(cells, wanted), len(cells) - 1)
    return np.where(cells[position] == wanted, values[position], 0)


def read_published(release: Path, universe: SequenceUniverse) -> PublishedPrefixes:
    """Reads the prefixes that are sure; of a tree, all prefixes of its sequences."""
    sequences = _rows(release / PARQUET, "sequence", universe)
    sure = release / PREFIXES
    counts: dict[tuple[tuple[int, int], ...], int] = {}
    if sure.is_file():
        counts = dict(_rows(sure, "prefix", universe))
    else:
        for stops, count in sequences:
            for prefix in accumulate(((stop,) for stop in stops), lambda one, other: one + other):
                counts[prefix] = counts.get(prefix, 0) + count
    length = np.array([len(prefix) for prefix in counts], dtype=np.int64)
    shape = (len(counts), int(length.max(initial=0)))
    place, period = np.full(shape, -1, dtype=np.int64), np.zeros(shape, dtype=np.int64)
    for row, prefix in enumerate(counts):
        place[row, : len(prefix)] = [stop for stop, _ in prefix]
        period[row, : len(prefix)] = [when for _, when in prefix]
    return PublishedPrefixes(
        place=place,
        period=period,
        length=length,
        counts=np.array(list(counts.values()), dtype=np.float64),
        records=float(sum(count for _, count in sequences)),
    )


def _rows(
    path: Path, name: str, universe: SequenceUniverse
) -> list[tuple[tuple[tuple[int, int], ...], int]]:
    """Returns lists of (place, period) with their counts."""
    columns = pq.read_table(path).to_pydict()
    places = {key: number for number, key in enumerate(universe.taxonomy.locations.ids)}
    lists = [[places[stop] for stop in stops] for stops in columns[name]]
    if universe.periods is None:
        periods = [[0] * len(stops) for stops in lists]
    else:
        labels = {label: number for number, label in enumerate(universe.periods.labels)}
        periods = [[labels[label] for label in labels_of] for labels_of in columns["periods"]]
    return [
        (tuple(zip(stops, when, strict=True)), int(count))
        for stops, when, count in zip(lists, periods, columns["count"], strict=True)
    ]
