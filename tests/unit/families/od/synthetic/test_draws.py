"""Draws of whole tables from estimates, and the trips that are written from them."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import openmatrix
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from hushway.arrays import FloatArray
from hushway.errors import ReleaseError
from hushway.families.asking import synthesize
from hushway.families.od.files.omx import matrix_names
from hushway.families.od.files.rows import read_estimates, write_estimates
from hushway.families.od.fit.random_effects import RandomEffects
from hushway.families.od.fit.table import Estimates, ODTable
from hushway.families.od.public.cells import ODCells
from hushway.families.od.synthetic.draws import Learnt, draw_table
from hushway.families.od.synthetic.published import published_trips
from hushway.transit.day_demand import read_od_table


def silent(_step: str, _share: float | None = None) -> None:
    return


NO_EFFECTS = RandomEffects(
    origin=0.0,
    destination=0.0,
    origin_by_period=0.0,
    destination_by_period=0.0,
    period=0.0,
    pair=0.0,
)


def learnt_of(table: ODTable, *, error: float, **changes: Any) -> Learnt:
    """What a table learnt, with one error for all of its sums."""
    published = published_trips(table).learnt
    assert published is not None
    sums = tuple(
        replace(one, errors=np.full(one.feature.size, error), counts=one.counts)
        for one in published.sums
    )
    return replace(published, **{"sums": sums, "effects": NO_EFFECTS, **changes})


def drawn_counts(learnt: Learnt, draws: int) -> FloatArray:
    """One draw a row, one cell a column."""
    found = np.zeros((draws, learnt.universe.size))
    for seed in range(draws):
        drawn = draw_table(learnt, seed=seed)
        assert np.all(drawn.counts > 0)
        assert np.all(np.diff(drawn.cells) > 0)
        found[seed, drawn.cells] = drawn.counts
    return found


def even(universe: ODCells, mean: float, error: float) -> Estimates:
    """The same estimate for every cell."""
    return Estimates(
        cells=np.arange(universe.size),
        means=np.full(universe.size, mean),
        standard_errors=np.full(universe.size, error),
    )


def test_a_draw_has_the_total_of_the_release_if_it_is_known(learnt: ODTable) -> None:
    found = drawn_counts(learnt_of(learnt, error=1e-6), 20)
    # Totals of several families cannot all be met to the last trip; the coarsest is met last.
    np.testing.assert_allclose(found.sum(axis=1), learnt.counts.sum(), atol=1)


def test_a_seed_is_a_draw_and_another_seed_is_another(learnt: ODTable) -> None:
    known = learnt_of(learnt, error=2.0)
    one, again, other = (draw_table(known, seed=seed) for seed in (1, 1, 2))
    assert one.counts.tolist() == again.counts.tolist()
    assert (one.cells.tolist(), one.counts.tolist()) != (
        other.cells.tolist(),
        other.counts.tolist(),
    )


def test_draws_have_the_mean_and_the_spread_of_their_cells(learnt: ODTable) -> None:
    # Drawn 2,000 times with fixed seeds. Errors this wide leave sums as they were drawn.
    means, deviations = np.array([0.3, 2.0, 5.02, 40.0]), np.array([1.5, 2.0, 0.3, 4.0])
    estimates = Estimates(cells=np.arange(4), means=means, standard_errors=deviations)
    known = learnt_of(learnt, error=1e6, estimates=estimates)
    found = drawn_counts(known, 2000)[:, :4]
    assert np.all(np.abs(found.mean(axis=0) - means) < 5 * deviations / np.sqrt(2000))
    np.testing.assert_allclose(found.std(axis=0), deviations, rtol=0.15)
    # What is clumped is mostly empty: a mean of .3 is not a trip on three days of ten.
    assert np.mean(found[:, 0] == 0) > 0.8


def test_sums_vary_as_random_effects_say(learnt: ODTable) -> None:
    universe = learnt.universe
    effects = RandomEffects(
        origin=0.8,
        destination=0.2,
        origin_by_period=0.5,
        destination_by_period=0.1,
        period=0.1,
        pair=0.4,
    )
    estimates = even(universe, 20.0, 2.0)
    known = learnt_of(learnt, error=1e6, estimates=estimates, effects=effects)
    found = drawn_counts(known, 600)
    own = estimates.standard_errors**2
    period, origin, _ = universe.decode(estimates.cells)
    by_period = period * len(universe.locations) + origin
    for sums in (origin, by_period, estimates.cells % universe.pairs, estimates.cells):
        size = int(sums.max()) + 1
        drawn = np.array([np.bincount(sums, weights=one, minlength=size) for one in found])
        expected = effects.variances(universe, estimates.cells, own, sums, size)
        # Cells keep all of their own variance beside what effects do to them, so in groups as
        # small as these sums vary by somewhat more.
        assert 0.9 < drawn.var(axis=0).mean() / expected.mean() < 1.6
        np.testing.assert_allclose(drawn.mean(), 20.0 * len(sums) / size, rtol=0.02)


def test_a_total_that_is_known_better_moves_cells_without_bias(learnt: ODTable) -> None:
    universe = learnt.universe
    means = np.where(np.arange(universe.size) % 2, 0.4, 30.0)
    estimates = replace(
        even(universe, 1.0, 1.0), means=means, standard_errors=np.where(means < 1, 0.8, 3.0)
    )
    total = next(one for one in learnt_of(learnt, error=1.0).sums if one.feature.size == 1)
    total = replace(total, counts=np.array([round(means.sum())]))
    found = drawn_counts(learnt_of(learnt, error=1.0, estimates=estimates, sums=(total,)), 500)
    assert found.sum(axis=1).std() < 2
    small = means < 1
    np.testing.assert_allclose(found[:, small].mean(), 0.4, rtol=0.1)
    np.testing.assert_allclose(found[:, ~small].mean(), 30.0, rtol=0.01)


def test_what_is_not_listed_is_put_on_other_cells(learnt: ODTable) -> None:
    assert learnt.estimates is not None
    some = slice(0, None, 2)
    listed = Estimates(
        cells=learnt.estimates.cells[some],
        means=learnt.estimates.means[some],
        standard_errors=np.zeros(len(learnt.estimates.cells[some])),
    )
    known = learnt_of(learnt, error=1e6, estimates=listed)
    found = drawn_counts(known, 200)
    others = np.delete(found, listed.cells, axis=1)
    missing = learnt.counts.sum() - listed.means.sum()
    np.testing.assert_allclose(others.sum(axis=1).mean(), missing, rtol=0.1)


def test_where_nothing_is_expected_nothing_is_drawn(learnt: ODTable) -> None:
    nothing = Estimates(
        cells=np.zeros(0, dtype=np.int64), means=np.zeros(0), standard_errors=np.zeros(0)
    )
    drawn = draw_table(learnt_of(learnt, error=1.0, estimates=nothing), seed=1)
    assert len(drawn.cells) == 0
    empty = even(learnt.universe, 0.0, 0.0)
    assert draw_table(learnt_of(learnt, error=1e6, estimates=empty), seed=1).counts.sum() == 0


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


def test_matrices_hold_the_same_draw_by_period_and_say_that_it_is_one(
    learnt_release: Path, tmp_path: Path
) -> None:
    synthesize(learnt_release, tmp_path / "t.parquet", seed=4, table=True)
    synthesize(learnt_release, tmp_path / "t.omx", seed=4)
    universe = read_od_table(learnt_release).universe
    names, ids = matrix_names(universe), universe.locations.index
    expected = {name: np.zeros((len(ids), len(ids))) for name in names}
    for row in pq.read_table(tmp_path / "t.parquet").to_pylist():
        matrix = expected[names[universe.periods.labels.index(row["period"])]]
        matrix[ids[row["origin"]], ids[row["destination"]]] = row["count"]
    with openmatrix.open_file(str(tmp_path / "t.omx")) as file:
        assert "nobody made these trips" in file.root._v_attrs["synthetic"]
        assert sorted(file.list_matrices()) == sorted(names)
        for name in names:
            assert np.array_equal(np.array(file[name]), expected[name])
            assert "standard_error_mean" not in file[name].attrs


def test_without_estimates_the_table_itself_is_drawn(summed_release: Path, tmp_path: Path) -> None:
    published = read_od_table(summed_release)
    words = synthesize(summed_release, tmp_path / "trips.csv")
    assert words.startswith(f"{published.counts.sum():,} synthetic trips")


@pytest.mark.parametrize("name", ["trips.txt", "trips"])
def test_other_endings_are_refused(summed_release: Path, tmp_path: Path, name: str) -> None:
    with pytest.raises(ReleaseError, match="ends like"):
        synthesize(summed_release, tmp_path / name)
