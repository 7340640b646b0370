"""`hushway price` for several budgets, and for the smallest one that is enough."""

import json
from pathlib import Path
from typing import Any

import pytest

from hushway.families.registry import FAMILIES
from support.scene import Scene


def scene_of(family: str, folder: Path) -> Scene:
    """A little scene whose rows nobody could read."""
    made = Scene.prepared(folder / "scene", family)
    made.rows.write_bytes(b"\x00\xff garbage")
    return made


def answer(scene: Scene, capsys: pytest.CaptureFixture[str], *options: str) -> Any:
    capsys.readouterr()
    assert scene.run("price", *options, "--json") == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("family", FAMILIES)
def test_every_release_type_has_a_curve_and_its_inverse_agrees(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], family: str
) -> None:
    scene = scene_of(family, tmp_path)
    before = scene.files()
    curve = answer(scene, capsys, "--epsilon", ".25,1, 4")["curve"]
    assert [point["epsilon"] for point in curve] == ["1/4", "1", "4"]
    figure = curve[0]["errors"][0]["figure"]
    errors = [point["errors"][0]["error"] for point in curve]
    assert errors == sorted(errors, reverse=True)
    assert errors[0] > 2 * errors[1]
    assert errors[1] > 2 * errors[2]
    # As good as at 1: so 1 is enough, and what is a step below it is not.
    (found,) = answer(scene, capsys, "--within", f"{figure}={errors[1] + 1e-9:.9f}")["within"]
    assert found["epsilon"] in {"1", "99/100"}
    assert scene.spent() == [0]
    assert scene.files() == before


def test_a_guess_makes_errors_of_what_is_published_of_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scene = scene_of("od", tmp_path)
    scene.say("mechanism", {"name": "laplace", "form": "dense"})
    guess = ("--trips", "6000", "--people", "6000")
    found = answer(scene, capsys, "--epsilon", "0.5,2", *guess)
    assert found["foreseen"]
    first, last = (
        next(one for one in point["errors"] if one["figure"] == "an origin's total")
        for point in found["curve"]
    )
    assert first["share"] > last["share"] > 0
    (enough,) = answer(scene, capsys, "--within", "origins=1%", *guess)["within"]
    assert enough["figure"] == "an origin's total"
    assert enough["share"] <= 0.01
    assert scene.run("price", "--within", "origins=1%", *guess) == 0
    assert "is enough (rounded up)" in capsys.readouterr().out


@pytest.mark.parametrize("ending", ["png", "svg"])
def test_the_picture_is_new_and_the_same_for_the_same_curve(tmp_path: Path, ending: str) -> None:
    scene = scene_of("links", tmp_path)
    pictures = [tmp_path / f"{number}.{ending}" for number in range(2)]
    for picture in pictures:
        assert scene.run("price", "--epsilon", "1,2", "--picture", str(picture)) == 0
    one, other = (picture.read_bytes() for picture in pictures)
    assert one == other
    assert one.startswith(b"\x89PNG" if ending == "png" else b"<?xml")
    # Another file is never replaced.
    assert scene.run("price", "--epsilon", "1,2", "--picture", str(pictures[0])) == 1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--epsilon", "1,x"), "are not budgets"),
        (("--epsilon", "0"), "are not budgets"),
        (("--epsilon", "1", "--within", "a=1"), "looks for one"),
        (("--picture", "x.png"), "A picture shows errors at several budgets"),
        (("--epsilon", "1", "--picture", "x.pdf"), "is not the name of a picture"),
        (("--epsilon", "1", "--trips", "5"), "cannot be foreseen"),
    ],
    ids=str,
)
def test_questions_without_an_answer_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: tuple[str, ...], words: str
) -> None:
    scene = scene_of("links", tmp_path)
    assert scene.run("price", *options) == 1
    assert words in " ".join(capsys.readouterr().err.split())
