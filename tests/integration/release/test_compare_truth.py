"""`hushway compare --truth`: what a release is off by, for the steward's own screen."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from hushway.cli.verbs import app
from hushway.errors import PrivacyError
from hushway.families.registry import contents_of
from hushway.families.true_trips import true_errors
from hushway.progress import quiet
from support.scene import PLAN, Scene


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    """A published release that counts one trip of each person, with little noise."""
    made = Scene.prepared(tmp_path / "scene", "od")
    made.say("mechanism", {"name": "laplace", "form": "dense"})
    made.say("privacy.epsilon", "3")
    made.say("privacy.max_trips", 1)
    assert made.run("publish", "--yes") == 0
    return made


def test_the_truth_is_all_trips_and_marked_internal(scene: Scene) -> None:
    release = scene.folder / "release"
    before, spent = scene.files(), scene.spent()
    found = true_errors(release, scene.folder / PLAN, progress=quiet)
    # 20 trips of 5 people, of whom the limit counts one each. For the noise to make up for the
    # others, the 24 cells would need 15 trips between them, each as likely as exp(-3): that happens
    # in fewer than one of 1e8 releases.
    published, true = found.value.total
    assert true == 20
    assert published < true
    assert found.value.misplaced >= (true - published) / true
    assert set(found.value.figures) >= {"all trips", "an origin's total"}
    assert found.value.figures["all trips"] == true - published
    with pytest.raises(PrivacyError, match="computed against the truth"):
        contents_of(found)
    assert (scene.files(), scene.spent()) == (before, spent)


def test_the_command_marks_what_it_prints(scene: Scene) -> None:
    words = ["compare", str(scene.folder / "release"), "--truth", str(scene.folder / PLAN)]
    said = CliRunner().invoke(app, words)
    assert said.exit_code == 0
    assert said.output.startswith("INTERNAL: depends on exact trips; not for release")
    answer = json.loads(CliRunner().invoke(app, [*words, "--json"]).output)
    assert answer["internal"].startswith("INTERNAL")
    both = CliRunner().invoke(app, [*words, "--json", str(scene.folder / "release")])
    assert "compared with one other thing" in str(both.exception)
    neither = CliRunner().invoke(app, words[:2])
    assert "compared with one other thing" in str(neither.exception)
