"""`hushway compare --truth`: what a release is off by, for the steward's own screen."""

import csv
import json
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from hushway.cli.verbs import app
from hushway.errors import PlanError, PrivacyError
from hushway.families.comparison import compare_releases, true_errors
from hushway.families.registry import contents_of
from hushway.progress import quiet
from support.little_plans import FAMILIES
from support.scene import PLAN, Scene

# Limits so small that they leave something out of every little file.
_TIGHT = {"od": "max_trips", "density": "max_visits", "links": "max_items"}


@pytest.fixture(scope="module", params=FAMILIES)
def published(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Scene:
    """A published release of each type that counts little of each person."""
    made = Scene.prepared(tmp_path_factory.mktemp("truth") / "scene", request.param)
    made.say("privacy.epsilon", "3")
    if request.param == "od":
        made.say("mechanism", {"name": "laplace", "form": "dense"})
    if request.param in _TIGHT:
        made.say(f"privacy.{_TIGHT[request.param]}", 1)
    assert made.run("publish", "--yes") == 0
    return made


def test_the_truth_is_of_everybody_and_marked_internal(published: Scene) -> None:
    release = published.folder / "release"
    before, spent = published.files(), published.spent()
    found = true_errors(release, published.folder / PLAN, progress=quiet)
    # 20 trips; taps of 6 cards on one day; 6 people at 2 places in each half of the day; 4 people
    # on 4 links each.
    everything = {"od": 20, "sequences": 6, "density": 24, "links": 16}[published.family]
    assert found.value.total[1] == pytest.approx(everything)
    assert all(np.isfinite(error) and error >= 0 for error in found.value.figures.values())
    with pytest.raises(PrivacyError, match="computed against the truth"):
        contents_of(found)
    assert (published.files(), published.spent()) == (before, spent)


def test_the_command_marks_what_it_prints(published: Scene) -> None:
    release = str(published.folder / "release")
    words = ["compare", release, "--truth", str(published.folder / PLAN)]
    said = CliRunner().invoke(app, words)
    assert said.exit_code == 0
    assert said.output.startswith("INTERNAL: depends on exact rows; not for release")
    answer = json.loads(CliRunner().invoke(app, [*words, "--json"]).output)
    assert answer["internal"].startswith("INTERNAL")
    both = CliRunner().invoke(app, [*words, "--json", release])
    assert "compared with one other thing" in str(both.exception)
    neither = CliRunner().invoke(app, words[:2])
    assert "compared with one other thing" in str(neither.exception)


def test_a_release_of_each_type_is_like_itself(published: Scene) -> None:
    release = published.folder / "release"
    found = compare_releases(release, release)
    assert found.only == (0, 0)
    assert found.both == pq.read_metadata(release / _TABLES[published.family]).num_rows


def test_a_plan_of_another_type_is_refused(published: Scene, tmp_path: Path) -> None:
    other = Scene.prepared(tmp_path / "other", "od" if published.family != "od" else "density")
    other.run("check")
    with pytest.raises(PlanError, match="places and periods of the release"):
        true_errors(published.folder / "release", other.folder / PLAN, progress=quiet)


_TABLES = {
    "od": "trips.parquet",
    "sequences": "sequences.parquet",
    "density": "density.parquet",
    "links": "links.parquet",
}


def errors_of(scene: Scene) -> dict[str, float]:
    found = true_errors(scene.folder / "release", scene.folder / PLAN, progress=quiet)
    return found.value.figures


def rows_of(scene: Scene) -> list[dict[str, str]]:
    with scene.rows.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("published", ["od"], indirect=True)
def test_what_limits_leave_out_is_missing_from_the_release(published: Scene) -> None:
    found = true_errors(published.folder / "release", published.folder / PLAN, progress=quiet)
    # 20 trips of 5 people, of whom the limit counts one each. For the noise to make up for the
    # others, the 24 cells would need 15 trips between them, each as likely as exp(-3): that happens
    # in fewer than one of 1e8 releases.
    total, true = found.value.total
    assert total < true
    assert found.value.misplaced is not None
    assert found.value.misplaced >= (true - total) / true
    assert set(found.value.figures) >= {"all trips", "an origin's total"}
    assert found.value.figures["all trips"] == true - total


@pytest.mark.parametrize("published", ["density"], indirect=True)
def test_densities_are_compared_by_area_and_period(published: Scene) -> None:
    # A period is half a day, in which a person counts once in an area.
    seen = {
        (row["person"], f"{row['lon']}/{row['lat']}", int(row["time"][11:13]) // 12)
        for row in rows_of(published)
    }
    true = Counter((area, half) for _, area, half in seen)
    shown = pq.read_table(published.folder / "release" / "density.parquet").to_pylist()
    off, areas = [], Counter[str]()
    for row in shown:
        exact = true[row["area"], row["starts"].hour // 12]
        if exact:
            off.append(abs(row["count"] - exact))
        areas[row["area"]] += row["count"] - exact
    assert len(off) == len(true)
    figures = errors_of(published)
    assert figures["an area in a period that holds visits"] == pytest.approx(np.mean(off))
    assert figures["an area's total"] == pytest.approx(np.mean([abs(a) for a in areas.values()]))


@pytest.mark.parametrize("published", ["links"], indirect=True)
def test_links_are_compared_one_by_one(published: Scene) -> None:
    shown = pq.read_table(published.folder / "release" / "links.parquet").to_pylist()
    totals = Counter[str]()
    for row in shown:
        totals[row["link_id"]] += row["count"]
    # All four people drive along the first street, and nobody on the other.
    driven = {f"w0.{i}": 4 for i in range(4)}
    links = {*totals, *driven}
    off = sum(abs(totals[link] - driven.get(link, 0)) for link in links)
    all_links = pq.read_metadata(published.folder / "release" / "roads.parquet").num_rows
    assert errors_of(published)["a link's total"] == pytest.approx(off / all_links)


@pytest.mark.parametrize("published", ["sequences"], indirect=True)
def test_prefixes_are_compared_by_their_number_of_stops(published: Scene) -> None:
    taps: dict[str, list[str]] = {}
    for row in sorted(rows_of(published), key=lambda row: row["time"]):
        taps.setdefault(row["person"], []).append(row["place"])
    true = Counter(tuple(stops[:n]) for stops in taps.values() for n in (1, 2, 3))
    shown = Counter[tuple[str, ...]]()
    release = published.folder / "release"
    for row in pq.read_table(release / "sequences.parquet").to_pylist():
        for n in range(1, len(row["sequence"]) + 1):
            shown[tuple(row["sequence"][:n])] += row["count"]
    expected = {}
    for n in {len(prefix) for prefix in shown}:
        off = [abs(count - true[prefix]) for prefix, count in shown.items() if len(prefix) == n]
        expected[f"a published prefix of {n} {'stop' if n == 1 else 'stops'}"] = np.mean(off)
    assert errors_of(published) == pytest.approx(expected)
