"""`hushway price` with a guess of the crowd, as a shell runs it."""

import json
from pathlib import Path
from typing import Any

import pytest

from support.scene import Scene


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    """A little scene whose rows nobody could read."""
    made = Scene.prepared(tmp_path / "scene", "od")
    made.rows.write_bytes(b"\x00\xff garbage")
    return made


def priced(scene: Scene, capsys: pytest.CaptureFixture[str], *options: str) -> Any:
    capsys.readouterr()
    assert scene.run("price", *options, "--json") == 0
    return json.loads(capsys.readouterr().out)


def test_a_guess_adds_what_the_published_table_is_off_by(
    scene: Scene, capsys: pytest.CaptureFixture[str]
) -> None:
    scene.say("mechanism", {"name": "learned"})
    assert scene.run("price", "--trips", "6000", "--people", "4000") == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "for a guess of 6,000 trips by 4,000 people" in said
    assert "an origin's total" in said
    assert "Tried on invented trips of that number over your places" in said
    assert "a forecast, not a guarantee" in said
    assert "what the contribution limit leaves out is added" in said
    assert "--trips" not in said


def test_without_a_guess_one_line_says_what_it_would_add(
    scene: Scene, capsys: pytest.CaptureFixture[str]
) -> None:
    assert scene.run("price") == 0
    said = capsys.readouterr().out
    assert "can be forecast from a public guess: --trips NUMBER" in said
    assert "an origin's total" not in said
    assert priced(scene, capsys)["expected"] is None


def test_programs_get_the_same_figures(scene: Scene, capsys: pytest.CaptureFixture[str]) -> None:
    answer = priced(scene, capsys, "--trips", "6000", "--people", "4000")
    expected = answer["expected"]
    assert (expected["trips"], expected["people"]) == (6000, 4000)
    assert 0 < expected["left_out"] < 1
    assert len(expected["notes"]) == 2
    for one in expected["errors"]:
        assert set(one) == {"figure", "size", "error", "share"}
        assert one["share"] == one["error"] / one["size"]
    # The noise is there as before, and so is the price.
    assert [one["figure"] for one in answer["forecasts"]][:2] == ["one cell", "all trips"]
    assert answer["cost"] == "1"


def test_neither_rows_nor_the_ledger_are_touched(
    scene: Scene, capsys: pytest.CaptureFixture[str]
) -> None:
    before = scene.files()
    first = priced(scene, capsys, "--trips", "6000")
    assert scene.spent() == [0]
    assert scene.files() == before
    # Other rows, the same answer to the last digit.
    scene.rows.unlink()
    assert priced(scene, capsys, "--trips", "6000") == first


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (("--trips", "0"), 2, "trips"),
        (("--trips", "-5"), 2, "trips"),
        (("--trips", "10", "--people", "0"), 2, "people"),
        (("--trips", "10", "--people", "20"), 1, "at least as many trips as people"),
        (("--people", "20"), 1, "A guess of people alone says nothing about trips"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_a_guess_that_cannot_be_is_refused(
    scene: Scene,
    capsys: pytest.CaptureFixture[str],
    options: tuple[str, ...],
    code: int,
    words: str,
) -> None:
    capsys.readouterr()
    assert scene.run("price", *options) == code
    assert words in capsys.readouterr().err


@pytest.mark.parametrize("family", ["sequences", "links"])
def test_families_that_cannot_foresee_errors_still_say_what_would_be_known(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], family: str
) -> None:
    scene = Scene.prepared(tmp_path / "scene", family)
    assert scene.run("price") == 0
    assert "What share of all that is follows from a public guess: --trips" in _printed(capsys)
    assert scene.run("price", "--trips", "100", "--people", "50") == 0
    printed = _printed(capsys)
    assert "of at least twice their error." in printed
    assert "Errors to expect" not in printed


def _printed(capsys: pytest.CaptureFixture[str]) -> str:
    return " ".join(capsys.readouterr().out.split())
