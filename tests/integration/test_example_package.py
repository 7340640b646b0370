"""A release type of another package, installed and taken through every command by processes."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

PACKAGE = Path(__file__).parents[2] / "examples" / "hushway-visits"
OUTSIDE = "the package hushway-visits 0.1.0, which is not part of hushway"

Say = Callable[..., str]


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Installs the package into a folder that Python finds."""
    if not all(find_spec(name) for name in ("pip", "setuptools")):
        pytest.skip("pip and setuptools build the package")
    place = tmp_path_factory.mktemp("installed")
    # Building writes into the folder that it builds.
    source = shutil.copytree(PACKAGE, place / "source")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    offline = ["--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run([*pip, *offline, "--target", place / "site", source], check=True)
    return {**os.environ, "PYTHONPATH": str(place / "site"), "COLUMNS": "200"}


@pytest.fixture(scope="module")
def say(environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Say]:
    said = tmp_path_factory.mktemp("said") / "said.txt"
    places = (environment["PYTHONPATH"], str(Path(__file__).parents[1]))
    with subprocess.Popen(
        [sys.executable, "-P", "-m", "support.commands"],
        env={**environment, "PYTHONPATH": os.pathsep.join(places)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        bufsize=1,
    ) as commands:

        def run(*words: object, code: int = 0, folder: Path | None = None) -> str:
            asked = [list(map(str, words)), str(folder or said.parent), str(said)]
            commands.stdin.write(json.dumps(asked) + "\n")
            assert commands.stdout.readline() == f"{code}\n", said.read_text("utf-8")
            return said.read_text("utf-8")

        yield run


@pytest.fixture(scope="module")
def town(say: Say, environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns a folder with a town, a plan that `init` wrote, and two releases."""
    folder = tmp_path_factory.mktemp("town")
    code = "from hushway_visits.city import write_town; from pathlib import Path; "
    code += "write_town(Path(), people=400, seed=3)"
    subprocess.run([sys.executable, "-c", code], cwd=folder, env=environment, check=True)
    days = ("--first-day", "2026-03-02", "--last-day", "2026-03-02", "--zone", "Europe/Lisbon")
    chosen = ("--set", "stops.file=stops.csv", "--set", "time.minutes=240", "--epsilon", "1")
    say("init", "taps.csv", "--type", "visits", *days, *chosen, "--yes", folder=folder)
    say("ledger", "open", "plan.toml", "--epsilon", 4, folder=folder)
    plan = (folder / "plan.toml").read_text("utf-8")
    for name in ("again", "later"):
        other = plan.replace('folder = "release"', f'folder = "{name}"')
        (folder / f"{name}.toml").write_text(other, encoding="utf-8")
    say("publish", "plan.toml", "--yes", folder=folder)
    say("publish", "again.toml", "--yes", folder=folder)
    return folder


def facts(text: str) -> Any:
    return json.loads(text)


def test_plans_are_written_and_described(say: Say) -> None:
    assert 'release_type = "visits"' in say("plan", "new", "visits")
    assert (
        "max_visits"
        in facts(say("plan", "schema", "visits"))["$defs"]["VisitsPrivacyPlan"]["properties"]
    )


def test_check_price_and_recommend_ask_the_package(say: Say, town: Path) -> None:
    assert "max_visits" in say("check", "later.toml", folder=town)
    assert "all visits of a stop" in say("price", "later.toml", folder=town)
    guess = ("--trips", 1200, "--people", 400)
    assert "max_visits" in say("recommend", "later.toml", *guess, folder=town)


def test_verify_says_that_the_package_is_not_part_of_hushway(say: Say, town: Path) -> None:
    assert OUTSIDE in " ".join(say("verify", "release", folder=town).split())
    found = facts(say("verify", "release", "--json", folder=town))
    assert found["passed"]
    assert found["checked_by"] == "hushway-visits 0.1.0"
    asked = facts(say("verify", "release", "--ledger", "plan.toml", "--json", folder=town))
    assert asked["passed"]


def test_the_package_passes_its_own_tests(environment: dict[str, str]) -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", PACKAGE / "tests"]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env=environment, cwd=PACKAGE
    )
    assert done.returncode == 0, done.stdout


def test_releases_are_compared_and_shown(say: Say, town: Path) -> None:
    compared = facts(say("compare", "release", "again", "--json", folder=town))
    assert compared
    assert "nothing to draw" in say("synthesize", "release", "rows.csv", code=1, folder=town)
    say("site", "release", "again", "--to", "site", folder=town)
    say("site", "release", "--one-file", "page.html", folder=town)
    assert "hushway-visits" in (town / "page.html").read_text("utf-8")


def test_audits_and_rehearsals_run(say: Say, town: Path) -> None:
    assert "all day at a stop" in say("audit", "visits", "--quick", "--runs", 2000, folder=town)
    say("warm", "visits", folder=town)
    assert "publish" in say("ledger", "show", "plan.toml", folder=town)


@pytest.mark.parametrize(
    "words",
    [
        ("-c", "import hushway; print(hushway.open('release').tables)"),
        ("-m", "hushway", "verify", "release"),
    ],
    ids=["Python", "a shell"],
)
def test_a_release_is_opened_and_verified_by(
    words: tuple[str, ...], town: Path, environment: dict[str, str]
) -> None:
    command = [sys.executable, "-P", *words]
    shown = subprocess.run(command, cwd=town, env=environment, check=True, capture_output=True)
    assert b"visits" in shown.stdout + shown.stderr


@pytest.mark.long
def test_planted_mistakes_are_caught(say: Say, town: Path) -> None:
    say("audit", "visits", "--mutants", folder=town)
