"""The suite sees readers that bound some rows of a person by themselves, and another key."""

from dataclasses import replace
from pathlib import Path

import pytest

from hushway.families.density.audit.suite import VisitsBatchByBatch
from hushway.families.links.audit.suite import TracesBatchByBatch
from hushway.families.od.audit.laplace import trips_file_by_file
from hushway.families.od.rows.trips import TripColumns, TripsSource
from hushway.families.sequences.audit.suite import sequences_file_by_file
from hushway.families.sequences.public.prefixes import first_prefixes
from hushway.families.sequences.rows.counter import EngineSequences
from hushway.families.sequences.rows.sequences import SequenceRule
from support.conformance import density, links, od, sequences
from support.conformance.case import SEASONS, random_key
from support.conformance.engines import HERE, scattered

SPRING = SEASONS["spring"]


def test_trips_bounded_in_each_file_by_itself(tmp_path: Path) -> None:
    cells = od.town(4)
    trips = od.random_trips(cells, seed=11, size=2_500, step_us=1)
    table = od.table_of(trips, cells, text=False)
    folder = scattered(tmp_path / "files", table, "parquet", 3)
    source = TripsSource(folder, TripColumns(person="person"))
    wrong = od.counts_of(source, cells, HERE, engine=trips_file_by_file)
    assert sum(wrong.values()) > sum(od.by_hand(trips, cells, od.KEY, 4).values())


def test_sequences_bounded_in_each_file_by_itself(tmp_path: Path) -> None:
    taxonomy, cells = sequences.town(), first_prefixes(sequences.town())
    rule = SequenceRule(max_stops=3, max_records=2, window=sequences.WINDOW, record="day")
    taps = sequences.random_taps(seed=11, size=1_500, step_us=1)
    table = sequences.table_of(taxonomy, taps, text=False)
    folder = scattered(tmp_path / "files", table, "parquet", 3)
    right, wrong = (
        sequences.counter_of(sequences.engine_of(folder, taxonomy, rule, HERE, engine=engine))(
            cells
        )
        for engine in (EngineSequences, sequences_file_by_file)
    )
    assert sum(wrong.values()) > sum(right.values())


@pytest.mark.parametrize("batch", [1, 3, 100])
def test_visits_bounded_in_each_batch_by_itself(tmp_path: Path, batch: int) -> None:
    universe = density.universe_of(SPRING, positions=False)
    events = density.random_events(seed=11, size=2_500, first=SPRING)
    visits = density.visits_by_hand(events, universe, text=False)
    expected = density.counts_by_hand(visits, universe, density.KEY)
    table = density.table_of(events, text=False, positions=False, clock="local")
    folder = scattered(tmp_path / "files", table, "parquet", 3)
    settings = replace(HERE, batch_rows=batch)
    wrong = density.counter_of(folder, universe, settings, engine=VisitsBatchByBatch)
    for one, other in zip(density.answers(wrong, universe), expected, strict=True):
        assert sum(one.values()) > sum(other.values())


@pytest.mark.parametrize("batch", [7, 100])
def test_traces_bounded_in_each_batch_by_itself(tmp_path: Path, batch: int) -> None:
    universe = links.universe_of(SPRING)
    trips = links.random_trips(seed=11, count=160, first=SPRING)
    items = links.items_by_hand(trips, universe, text=False)
    expected = links.counts_by_hand(items, universe, links.KEY)
    table = links.table_of(trips, text=False, clock="local")
    folder = scattered(tmp_path / "files", table, "parquet", 3)
    settings = replace(HERE, batch_rows=batch)
    wrong = links.counter_of(folder, universe, settings, engine=TracesBatchByBatch)
    counts, _ = links.answers(wrong, universe)
    assert sum(counts.values()) > sum(expected[0].values())


def test_the_choice_changes_with_the_key() -> None:
    cells = od.town(10)
    trips = od.random_trips(cells, seed=3, size=2_000, step_us=1)
    one, other = (od.by_memory(trips, cells, random_key(seed), 2) for seed in (1, 2))
    assert one != other
    assert sum(one.values()) == sum(other.values())
