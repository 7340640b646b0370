"""Releases of an average weekday, Saturday and Sunday, from a plan to a verified folder."""

import csv
import shutil
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import openmatrix
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hushway.errors import HushwayError
from hushway.families.atlas import atlas_of
from hushway.families.load import plan_from, prepare
from hushway.families.od.files.names import FLOWS, OMX
from hushway.families.verify import verify
from hushway.privacy.certificate import Certificate
from hushway.privacy.ledger import Ledger
from hushway.privacy.loss import Measure, loss_of
from hushway.privacy.randomness import SeededSource
from hushway.steward.publish import publish
from support.little_city import write_table
from support.little_plans import little_plan, write_little_files
from support.mutations import described, rewrite

# Ten days from a Friday on; the Wednesday runs like a Sunday.
WINDOW = {"first_day": "2026-02-27", "last_day": "2026-03-08", "holidays": ["2026-03-04"]}
TIME = {"zone": "Europe/Lisbon", "minutes": 720, "publish": "average day", **WINDOW}
DAYS = {"weekday": 5, "saturday": 2, "sunday": 3}
# Changes a file of a release by a factor; by 1 it says the same again.
Edit = Callable[[Path, int], None]
WORDS = (
    "average weekday of 5 days, saturday of 2 days, sunday of 3 days, 27 February to 8 March 2026"
)


def published(folder: Path, family: str, time: dict[str, Any], **changes: Any) -> Path:
    write_little_files(folder)
    # As many trips as show in every cell.
    trips = (
        (f"p{i}", "abcd"[i % 4], "abcd"[(i + 1) % 4], f"2026-03-0{1 + i % 8}T{i % 24:02d}:30:00")
        for i in range(2000)
    )
    write_table(folder / "trips.csv", "person,origin,destination,time", trips)
    facts = little_plan(family) | {"time": time} | changes
    job = prepare(plan_from(facts, folder=folder))
    with Ledger.connect(job.plan.ledger_url()) as ledger:
        ledger.open_account(job.account, loss_of(Measure.ZCDP, Fraction(1000)))
    return publish(job, source=SeededSource(1)).folder


@pytest.fixture(scope="module")
def releases(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder, time = tmp_path_factory.mktemp, TIME | {"cycle": "day_type"}
    learned = {"mechanism": {"name": "learned"}, "privacy": {"max_trips": 1, "epsilon": "4"}}
    return {
        "od": published(folder("od"), "od", time, **learned),
        "fitted": published(folder("fitted"), "od", time),
        "density": published(folder("density"), "density", TIME),
    }


@pytest.fixture(params=["od", "fitted"])
def od(releases: dict[str, Path], request: pytest.FixtureRequest) -> Path:
    return releases[request.param]


def rows_of(file: Path) -> list[dict[str, str]]:
    with file.open(newline="", encoding="utf-8") as opened:
        return list(csv.DictReader(opened))


def sealed_again(release: Path, folder: Path, edit: Edit, factor: int) -> bool:
    """Whether an edited release passes, with papers and seal made anew."""
    copy = Path(shutil.copytree(release, folder / str(factor)))
    edit(copy, factor)
    certificate = Certificate.from_json((copy / "certificate.json").read_bytes())
    rewrite(copy, certificate, described(release))
    return verify(copy).intact


def test_an_od_table_has_an_average_day_beside_whole_sums(od: Path) -> None:
    assert verify(od).intact
    table = pq.read_table(od / "trips.parquet").to_pylist()
    assert {row["period"].split()[0]: row["days_counted"] for row in table} == DAYS
    for row in table:
        for name in ("count", "standard_error", "low", "high"):
            exact = row[name] / row["days_counted"]
            assert row[f"{name}_per_day"] == pytest.approx(exact, abs=6e-4)
    divisors = {row["period"]: int(row["days_counted"]) for row in rows_of(od / "periods.csv")}
    assert {label.split()[0]: days for label, days in divisors.items()} == DAYS


def test_sums_over_several_types_are_divided_by_all_their_days(od: Path) -> None:
    sums = pq.read_table(od / "margins.parquet").to_pylist()
    days = {row["period"]: row["days_counted"] for row in sums}
    assert days.pop("") == 10
    assert {label.split()[0]: found for label, found in days.items()} == DAYS


def test_maps_and_matrices_hold_the_average(od: Path) -> None:
    table = pq.read_table(od / "trips.parquet").to_pylist()
    averages = sorted(row["count_per_day"] for row in table if row["count"])
    assert sorted(float(row["count"]) for row in rows_of(od / FLOWS)) == averages
    with openmatrix.open_file(str(od / OMX)) as file:
        cells = np.concatenate([np.asarray(file[name]).ravel() for name in file.list_matrices()])
    assert sorted(cells[cells > 0]) == averages


@pytest.mark.parametrize("family", ["od", "density"])
def test_certificate_page_and_site_say_which_days(family: str, releases: dict[str, Path]) -> None:
    release = releases[family]
    for name in ("certificate.json", "certificate.html", "label.yaml", "datapackage.json"):
        assert WORDS in " ".join((release / name).read_text("utf-8").split())
    shown = atlas_of(release).drawing
    numbers = shown.flows.numbers if shown.flows is not None else shown.totals
    assert numbers is not None
    assert WORDS in numbers.meaning
    assert {period.group for period in shown.periods} == set(DAYS)


def test_a_density_has_means_of_its_published_days(releases: dict[str, Path]) -> None:
    density = releases["density"]
    assert verify(density).intact
    counts: dict[tuple[str, int], float] = {}
    for row in rows_of(density / "density.csv"):
        counts[row["area"], int(row["period"])] = float(row["count"])
    saturdays = {"saturday 00:00-12:00": (2, 16), "saturday 12:00-00:00": (3, 17)}
    found = 0
    for row in rows_of(density / "average_day.csv"):
        assert int(row["days_counted"]) == DAYS[row["period"].split()[0]]
        if own := saturdays.get(row["period"]):
            mean = np.mean([counts[row["area"], at] for at in own])
            assert float(row["count_per_day"]) == pytest.approx(mean, abs=6e-4)
            found += 1
    assert found == 8


def _other_column(name: str, column: str) -> Edit:
    def edit(folder: Path, factor: int) -> None:
        with pq.ParquetFile(folder / name) as file:
            groups = [file.read_row_group(i) for i in range(file.num_row_groups)]
        at, field = groups[0].schema.get_field_index(column), groups[0].schema.field(column)
        # Group by group, as they were: each has labels of its own.
        with pq.ParquetWriter(folder / name, groups[0].schema, compression="zstd") as writer:
            for group in groups:
                numbers = [factor * number for number in group[column].to_pylist()]
                writer.write_table(group.set_column(at, field, pa.array(numbers, field.type)))

    return edit


def _other_text(name: str, old: bytes, new: bytes) -> Edit:
    def edit(folder: Path, factor: int) -> None:
        data = (folder / name).read_bytes()
        assert old in data
        (folder / name).write_bytes(data.replace(old, old if factor == 1 else new))

    return edit


@pytest.mark.parametrize(
    ("family", "edit"),
    [
        ("od", _other_column("trips.parquet", "days_counted")),
        ("od", _other_column("trips.parquet", "standard_error_per_day")),
        ("od", _other_column("margins.parquet", "days_counted")),
        ("od", _other_text("periods.csv", b"Lisbon,5\n", b"Lisbon,6\n")),
        ("density", _other_text("average_periods.csv", b"Lisbon,5\n", b"Lisbon,6\n")),
        ("density", _other_text("average_periods.csv", b"2026-03-04", b"2026-03-05")),
        ("density", _other_text("average_day.csv", b",5,", b",4,")),
    ],
)
def test_a_wrong_divisor_is_found(
    tmp_path: Path, releases: dict[str, Path], family: str, edit: Edit
) -> None:
    release = releases[family]
    assert sealed_again(release, tmp_path, edit, 1)
    assert not sealed_again(release, tmp_path, edit, 2)


@pytest.mark.parametrize(
    ("family", "wrong", "words"),
    [
        ("od", {"cycle": "window"}, "no average of days"),
        ("od", {"cycle": "day_type", "last_day": "2026-02-27"}, "no saturday"),
        ("density", {"last_day": "2026-02-27"}, "no saturday"),
        ("density", {"cycle": "week"}, 'needs cycle = "window"'),
        ("density", {"publish": "sums", "holidays": ["2026-03-04"]}, "only with publish"),
        ("links", {}, "have no average day"),
        ("sequences", {}, "have no average day"),
    ],
)
def test_what_has_no_average_day_is_refused(
    tmp_path: Path, family: str, wrong: dict[str, Any], words: str
) -> None:
    write_little_files(tmp_path)
    time = {key: value for key, value in TIME.items() if key != "holidays"} | wrong
    with pytest.raises(HushwayError, match=words):
        prepare(plan_from(little_plan(family) | {"time": time}, folder=tmp_path))
