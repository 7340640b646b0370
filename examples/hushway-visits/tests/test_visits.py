import csv
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hushway import families as hw
from hushway.families.load import plan_from, prepare

from hushway_visits.audit import SUITE
from hushway_visits.city import little_plan
from hushway_visits.files import FILES
from hushway_visits.fit import Weights, least_squares
from hushway_visits.mechanism import VisitCounts
from hushway_visits.table import VisitsTable

SETTINGS = hw.EngineSettings(memory_limit="1GB", threads=1, encrypt_spills=False)
SHAPE = (3, 4)


def job_of(folder: Path, **tables: Any) -> hw.Job:
    own = little_plan(folder)
    facts = {
        "release_type": "visits",
        "ledger": {"period": "none"},
        "release": {"folder": "release", "title": "Visits"},
        **own,
        **tables,
    }
    return prepare(plan_from(facts, folder=folder))


def counts_of(job: hw.Job) -> hw.IntArray:
    source = hw.SeededSource(1)
    context = hw.CountingContext(
        key=hw.BoundingKey.draw(source), bits=source, settings=SETTINGS, progress=lambda _: None
    )
    found = job.rows.counter(context).count(hw.Query(name="visits", cells=job.geography))
    counts = np.zeros(job.geography.size, dtype=np.int64)
    counts[found.cells] = found.values
    return counts


def write_taps(folder: Path, rows: Iterable[tuple[str, str, str]]) -> None:
    with (folder / "taps.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("person", "stop", "time"), *rows])


def test_a_person_counts_once_in_a_cell_and_no_more_than_the_limit(tmp_path: Path) -> None:
    job = job_of(tmp_path)
    hours = [
        f"2026-03-02T{hour:02d}:{minute:02d}:00" for hour in (1, 7, 13, 19) for minute in (1, 2)
    ]
    write_taps(tmp_path, [("p", stop, hour) for stop in ("red1", "blue2") for hour in hours])
    counts = counts_of(job)
    assert counts.max() == 1
    assert counts.sum() == job.bound.total == 2


def test_taps_that_are_nowhere_or_never_are_dropped_and_told(tmp_path: Path) -> None:
    job = job_of(tmp_path)
    good = ("p", "red1", "2026-03-02T10:00:00")
    odd = [("", *good[1:]), ("p", "moon", good[2]), (*good[:2], "2027-01-01T10:00:00")]
    write_taps(tmp_path, [good, *odd, (*good[:2], "noon")])
    assert counts_of(job).sum() == 1
    found = job.rows.check(SETTINGS, notes=True)
    assert {problem.kind: problem.count for problem in found.problems} == {
        "null_value": 1,
        "unknown_place": 1,
        "outside_window": 1,
        "unparsable_time": 1,
    }
    assert found.found is not None
    assert (found.found.read, found.found.kept) == (5, 1)


def questions() -> np.ndarray[Any, Any]:
    cells = np.eye(np.prod(SHAPE))
    table = cells.reshape(*SHAPE, -1)
    return np.concatenate([cells, table.sum(axis=1), table.sum(axis=0)])


def test_the_fit_is_weighted_least_squares() -> None:
    variances = (2.0, 5.0, 7.0)
    draw = np.random.default_rng(1)
    answers = [draw.integers(0, 100, size) for size in (12, 3, 4)]
    scale = np.repeat(1 / np.sqrt(variances), (12, 3, 4))
    asked, said = questions() * scale[:, None], np.concatenate(answers) * scale
    expected = np.linalg.lstsq(asked, said, rcond=None)[0]
    weights = Weights.of(SHAPE, variances)
    assert np.allclose(least_squares(answers, weights).ravel(), expected)
    covariance = np.linalg.inv(asked.T @ asked)
    sums = questions()[12:] @ covariance @ questions()[12:].T
    assert np.allclose(np.diag(covariance), weights.errors.cell**2)
    assert np.allclose(
        np.diag(sums), np.repeat([weights.errors.stop**2, weights.errors.period**2], SHAPE)
    )
    assert np.isclose(covariance.sum(), weights.errors.whole**2)


def test_cells_alone_are_published_as_measured() -> None:
    answers = [np.arange(12)]
    weights = Weights.of(SHAPE, (2.0,))
    assert np.array_equal(least_squares(answers, weights).ravel(), answers[0])
    assert np.isclose(weights.errors.cell**2, 2)


@pytest.fixture
def published(tmp_path: Path) -> tuple[VisitsTable, Path]:
    job = job_of(tmp_path)
    mechanism = job.mechanism
    assert isinstance(mechanism, VisitCounts)
    draw = np.random.default_rng(2)
    sizes = [query.cells.size for query in mechanism.queries(job.geography)]
    table = mechanism.table([draw.integers(-5, 50, size) for size in sizes], job.geography)
    for file in FILES:
        file.written(table, tmp_path / file.path)
    return table, tmp_path


@pytest.mark.parametrize("name", ["visits.parquet", "visits.csv", "profiles.json"])
def test_a_file_must_follow_from_the_noisy_answers(
    published: tuple[VisitsTable, Path], name: str
) -> None:
    table, folder = published
    hw.check_files(FILES, table, folder)
    other = VisitsTable(
        universe=table.universe,
        answers=tuple(answer + 1 for answer in table.answers),
        weights=table.weights,
    )
    for file in FILES:
        if file.path == name:
            file.written(other, folder / name)
    with pytest.raises(hw.ReleaseError, match=name):
        hw.check_files(FILES, table, folder)


def test_shares_must_leave_something_for_the_counts(tmp_path: Path) -> None:
    with pytest.raises(Exception, match="leaves nothing"):
        job_of(tmp_path, mechanism={"name": "totals", "share": "1/2"})


def test_quick_audits_pass() -> None:
    assert all(finding.passed for finding in SUITE.audit(runs=2000, epsilons=(1,), quick=True))


def test_planted_mistakes_are_caught() -> None:
    assert all(one.caught for one in SUITE.hunt(runs=70_000, epsilons=(1,)))
