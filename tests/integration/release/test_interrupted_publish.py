"""However early or late a publish is interrupted, it says what was spent and what lies where."""

import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hushway import interruption
from hushway.cli import plans
from hushway.privacy.ledger import Ledger
from hushway.release.folder import place
from hushway.steward import jobs
from hushway.steward import publish as publishing
from hushway.steward.preflight import Preflight
from support.scene import Scene

Planted = tuple[Any, str]

# Where the signal comes, before or after a call; and what is said then.
BEFORE: tuple[tuple[Planted, str], ...] = (
    ((jobs, "load_plan"), "Nothing was spent."),
    ((publishing, "prepare"), "Nothing was spent."),
    ((Preflight, "ready"), "Nothing was spent."),
    ((place.Place, "begin"), "Nothing was spent."),
    ((Ledger, "reserve"), "Nothing was spent."),
    ((publishing, "write_sealed"), "is spent for"),
)
AFTER: tuple[tuple[Planted, str], ...] = (
    ((publishing, "prepare"), "Nothing was spent."),
    ((place.Place, "begin"), "Nothing was spent."),
    ((Ledger, "reserve"), "is spent for"),
    ((publishing, "write_sealed"), "is whole and waits beside its place"),
    ((place.Place, "appear"), "is published in release"),
    ((place.Place, "leave"), "is published in release"),
    ((publishing, "publish"), "is published in release"),
    ((plans, "answer_json"), "is published in release"),
)
CASES = [
    pytest.param(planted, says, late, id=f"{'after' if late else 'before'} {planted[1]}")
    for late, cases in ((False, BEFORE), (True, AFTER))
    for planted, says in cases
]


def with_signal(call: Callable[..., Any], *, late: bool) -> Callable[..., Any]:
    """Returns a call during which somebody presses Ctrl-C, at its beginning or at its end."""

    def interrupted(*args: Any, **options: Any) -> Any:
        if not late:
            signal.raise_signal(signal.SIGINT)
        answer = call(*args, **options)
        signal.raise_signal(signal.SIGINT)
        return answer

    return interrupted


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene.prepared(tmp_path / "scene", "od")


@pytest.mark.parametrize(("planted", "says", "late"), CASES)
def test_it_says_what_was_spent_and_what_lies_where(  # noqa: PLR0917
    planted: Planted,
    says: str,
    late: bool,
    scene: Scene,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    owner, name = planted
    monkeypatch.setattr(owner, name, with_signal(getattr(owner, name), late=late))
    assert scene.run("publish", "--yes", "--json") == 1
    said = capfd.readouterr().err
    assert said.count("Interrupted.") == 1
    assert says in said
    assert "Traceback" not in said
    (spent,) = scene.spent()
    assert (spent == 0) == ("Nothing was spent." in said)
    assert (scene.folder / "release").exists() == ("is published" in said)
    assert (scene.folder / ".release.partial").exists() == ("waits" in said)
    assert interruption.standing() in said
