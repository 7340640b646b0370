"""`hushway ask`: sums of every release type by command and by Python, with the same answers."""

import json
from pathlib import Path
from typing import Any

import pyarrow.compute as pc
import pytest
from typer.testing import CliRunner

import hushway
from hushway.cli.verbs import app
from hushway.errors import ReleaseError
from support.little_plans import FAMILIES
from support.scene import Scene

# What the numbers of each release type are told apart by, first of all.
BY = {"od": "origins", "sequences": "first", "density": "areas", "links": "links"}


@pytest.fixture(scope="module", params=FAMILIES)
def published(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Scene:
    made = Scene.prepared(tmp_path_factory.mktemp("asked") / "scene", request.param)
    made.say("privacy.epsilon", "3")
    assert made.run("publish", "--yes") == 0
    return made


def by_command(release: Path, *words: str) -> dict[str, Any]:
    done = CliRunner().invoke(app, ["ask", str(release), *words, "--json"], catch_exceptions=False)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_everything_is_the_sum_of_what_is_published_and_costs_nothing(published: Scene) -> None:
    before, spent = published.files(), published.spent()
    release = hushway.open(published.folder / "release")
    everything = release.sum()
    assert everything.low <= everything.value <= everything.high
    if published.family in ("od", "density"):
        counts = release.arrow()["count"]
        assert everything.value == pytest.approx(pc.sum(counts).as_py())
    assert (published.files(), published.spent()) == (before, spent)


def test_command_and_python_answer_alike(published: Scene) -> None:
    folder, by = published.folder / "release", BY[published.family]
    release = hushway.open(folder)
    label = release.cells.dimensions[by].ids[0]
    (answer,) = by_command(folder, "--where", f"{by}={label}")["answers"]
    own = release.sum(**{by: label})
    assert answer["value"] == own.value
    assert (answer["low"], answer["high"]) == (own.low, own.high)
    top = by_command(folder, "--top", "2", "--by", by)["answers"]
    assert [each["label"] for each in top] == [each.label for each in release.top(2, by)]


def test_what_was_counted_stands_beside_every_answer(published: Scene) -> None:
    folder = published.folder / "release"
    said = CliRunner().invoke(app, ["ask", str(folder)], catch_exceptions=False).output
    assert "Protected unit: one" in " ".join(said.split())
    found = hushway.ask(folder)
    assert found.of in (folder / "certificate.html").read_text("utf-8").replace("&#x27;", "'")
    assert found.warning is not None


def test_two_questions_at_once_are_refused(published: Scene) -> None:
    with pytest.raises(ReleaseError, match="several"):
        hushway.ask(published.folder / "release", mean="periods", top=3, by="periods")
    with pytest.raises(ReleaseError, match="no condition"):
        hushway.ask(published.folder / "release", where=["origins"])
