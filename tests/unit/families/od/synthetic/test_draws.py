"""Draws of whole tables from estimates, and the trips that are written from them."""

from pathlib import Path

import numpy as np
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from hushway.errors import ReleaseError
from hushway.families.od.files.rows import read_estimates, write_estimates
from hushway.families.od.fit.table import Estimates, ODTable
from hushway.families.od.synthetic.draws import PeriodSums, draw_table
from hushway.families.synthesis import synthesize
from hushway.transit.day_demand import read_od_table


def silent(_step: str, _share: float | None = None) -> None:
    return


def sums_of(table: ODTable, error: float) -> PeriodSums:
    periods = len(table.universe.periods)
    counts = np.zeros(periods, dtype=np.int64)
    np.add.at(counts, table.cells // table.universe.pairs, table.counts)
    return PeriodSums(counts=counts, errors=np.full(periods, error))


def test_a_draw_has_the_trips_of_every_period_if_these_are_known(learnt: ODTable) -> None:
    assert learnt.estimates is not None
    sums = sums_of(learnt, 0.0)
    for seed in range(20):
        drawn = draw_table(learnt.universe, learnt.estimates, sums, seed=seed)
        found = np.bincount(
            drawn.cells // learnt.universe.pairs, weights=drawn.counts, minlength=len(sums.counts)
        )
        assert np.all(drawn.counts > 0)
        assert np.all(np.diff(drawn.cells) > 0)
        # A period in which nothing was drawn has nothing to add to.
        some = found > 0
        np.testing.assert_array_equal(found[some], sums.counts[some])


def test_a_seed_is_a_draw_and_another_seed_is_another(learnt: ODTable) -> None:
    assert learnt.estimates is not None
    sums = sums_of(learnt, 2.0)
    one, again, other = (
        draw_table(learnt.universe, learnt.estimates, sums, seed=seed) for seed in (1, 1, 2)
    )
    assert one.counts.tolist() == again.counts.tolist()
    assert (one.cells.tolist(), one.counts.tolist()) != (
        other.cells.tolist(),
        other.counts.tolist(),
    )


def test_draws_have_the_mean_and_the_spread_of_their_cells(learnt: ODTable) -> None:
    # Four cells of one period, drawn 4,000 times with a fixed seed: means to 5 standard errors.
    cells = np.arange(4, dtype=np.int64)
    means = np.array([0.3, 2.0, 8.0, 40.0])
    deviations = np.array([1.5, 2.0, 1.0, 4.0])
    estimates = Estimates(cells=cells, means=means, standard_errors=deviations)
    periods = len(learnt.universe.periods)
    # An error this wide lets the total be whatever was drawn, give or take.
    sums = PeriodSums(
        counts=np.array([50] + [0] * (periods - 1)), errors=np.array([6.0] + [0.0] * (periods - 1))
    )
    drawn = np.zeros((4000, 4))
    for seed in range(len(drawn)):
        found = draw_table(learnt.universe, estimates, sums, seed=seed)
        drawn[seed, found.cells] = found.counts
    scaled = means * 50 / means.sum()
    assert np.all(np.abs(drawn.mean(axis=0) - scaled) < 0.1 * scaled + 0.1)
    assert np.all(drawn.std(axis=0) > 0.5 * deviations)
    # What is clumped is mostly empty: a mean of .3 is not a trip on three days of ten.
    assert np.mean(drawn[:, 0] == 0) > 0.8


def test_estimates_survive_writing_and_reading(tmp_path: Path, learnt: ODTable) -> None:
    assert learnt.estimates is not None
    write_estimates(learnt.universe, learnt.estimates, tmp_path / "e.parquet")
    read = read_estimates(learnt.universe, tmp_path / "e.parquet")
    assert read.cells.tolist() == learnt.estimates.cells.tolist()
    assert read.means.tolist() == learnt.estimates.means.tolist()
    assert read.standard_errors.tolist() == learnt.estimates.standard_errors.tolist()


def test_estimates_out_of_order_or_below_zero_are_refused(tmp_path: Path, learnt: ODTable) -> None:
    assert learnt.estimates is not None
    good = learnt.estimates
    for wrong in (
        Estimates(cells=good.cells[::-1], means=good.means, standard_errors=good.standard_errors),
        Estimates(cells=good.cells, means=-good.means, standard_errors=good.standard_errors),
    ):
        path = tmp_path / "wrong.parquet"
        write_estimates(learnt.universe, wrong, path)
        with pytest.raises(ReleaseError, match="in order"):
            read_estimates(learnt.universe, path)


def test_synthetic_trips_are_rows_that_go_in(learnt_release: Path, tmp_path: Path) -> None:
    published = read_od_table(learnt_release)
    words = synthesize(learnt_release, tmp_path / "trips.parquet", seed=7)
    rows = pq.read_table(tmp_path / "trips.parquet")
    assert rows.num_rows > 0
    assert words.startswith(f"{rows.num_rows:,} synthetic trips")
    assert rows.schema.names == ["trip_id", "origin", "destination", "time"]
    ids = set(published.universe.locations.ids)
    assert set(rows["origin"].to_pylist()) <= ids
    times = rows["time"].to_pylist()
    assert times == sorted(times)
    periods = published.universe.periods
    assert all(periods.first_day <= time.date() <= periods.last_day for time in times)
    minutes = [time.hour * 60 + time.minute for time in times]
    assert all(periods.opens <= minute < periods.closes for minute in minutes)


def test_the_same_seed_writes_the_same_file_and_csv_says_the_same(
    learnt_release: Path, tmp_path: Path
) -> None:
    for name in ("a.csv", "b.csv"):
        synthesize(learnt_release, tmp_path / name, seed=3)
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()
    synthesize(learnt_release, tmp_path / "c.parquet", seed=3)
    from_csv = pyarrow.csv.read_csv(tmp_path / "a.csv")
    assert from_csv["time"].to_pylist() == pq.read_table(tmp_path / "c.parquet")["time"].to_pylist()


def test_a_drawn_table_adds_up_to_its_trips(learnt_release: Path, tmp_path: Path) -> None:
    words = synthesize(learnt_release, tmp_path / "t.parquet", seed=4, table=True, progress=silent)
    rows = pq.read_table(tmp_path / "t.parquet")
    assert rows.schema.names == ["period", "origin", "destination", "count"]
    assert f"{sum(rows['count'].to_pylist()):,} synthetic trips" in words


def test_without_estimates_the_table_itself_is_drawn(summed_release: Path, tmp_path: Path) -> None:
    published = read_od_table(summed_release)
    words = synthesize(summed_release, tmp_path / "trips.csv")
    assert words.startswith(f"{published.counts.sum():,} synthetic trips")


@pytest.mark.parametrize("name", ["trips.txt", "trips"])
def test_other_endings_are_refused(summed_release: Path, tmp_path: Path, name: str) -> None:
    with pytest.raises(ReleaseError, match="neither CSV nor Parquet"):
        synthesize(summed_release, tmp_path / name)
