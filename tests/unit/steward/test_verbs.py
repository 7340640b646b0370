"""Every verb has the same name, options and answers by command, workbench and Python."""

import inspect
import json
from collections.abc import Callable, Iterator
from functools import reduce
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
import typer.main
from typer.testing import CliRunner

import hushway
from hushway.auditing.runs import FEWEST_RUNS
from hushway.cli.verbs import app
from hushway.families.registry import FAMILIES as REGISTRY
from hushway.steward import facts
from hushway.workbench.worker_events import EventWriter
from hushway.workbench.worker_tasks import TASKS
from support.little_plans import FAMILIES
from support.scene import PLAN, Scene
from support.toy_family import ToyFamily

# How the command line is answered and asked; functions return values and never ask.
OF_THE_COMMAND_LINE = {"as_json", "yes"}
# Studies are modules of their own: each family has its function.
NOT_IN_PYTHON = {"reproduce"}
TOY = """
release_type = "toy"
visits = "visits.csv"
areas = ["north", "south", "west"]
data.name = "visits"
privacy = { unit = "person", epsilon = "1" }
ledger.period = "2026"
release = { folder = "release", title = "People by area" }
"""


def commands(group: Any, above: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, (*above, name))
        elif not command.hidden:
            yield (*above, name), command


ALL = {
    words: command
    for words, command in commands(typer.main.get_command(app))
    if words[0] not in NOT_IN_PYTHON
}


@pytest.mark.parametrize("words", ALL, ids=" ".join)
def test_python_has_every_verb_with_the_same_options(words: tuple[str, ...]) -> None:
    function = reduce(getattr, words, hushway)
    options = [one for one in ALL[words].params if one.name not in OF_THE_COMMAND_LINE]
    parameters = inspect.signature(function).parameters
    assert {one.name for one in options} <= set(parameters)
    positional = [name for name, one in parameters.items() if one.kind is one.POSITIONAL_OR_KEYWORD]
    assert [one.name for one in options if one.param_type_name == "argument"] == positional


def plain(value: Any) -> Any:
    return json.loads(json.dumps(value, default=str))


def by_command(*words: object) -> Any:
    done = CliRunner().invoke(app, [*map(str, words), "--json"], catch_exceptions=False)
    return json.loads(done.stdout)


def by_workbench(kind: str, plan: Path, **options: Any) -> Any:
    return plain(TASKS[kind](plan, options, EventWriter(StringIO(), outlives_server=False)))


@pytest.fixture(params=[*FAMILIES, "toy"])
def plan(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    if request.param != "toy":
        return Scene.written(tmp_path / "city", request.param).folder / PLAN
    monkeypatch.setitem(REGISTRY, "toy", ToyFamily())
    visits = [f"p{number},{'north' if number % 3 else 'south'}" for number in range(30)]
    (tmp_path / "visits.csv").write_text("\n".join(visits), encoding="utf-8")
    (tmp_path / PLAN).write_text(TOY, encoding="utf-8")
    return tmp_path / PLAN


def test_all_faces_answer_alike_from_plan_to_release(plan: Path) -> None:
    same(plan, "check", facts.check_facts)
    same(plan, "price", facts.price_facts)
    curve = facts.curve_facts(hushway.price(plan, epsilon="1/2,2"))
    assert by_command("price", plan, "--epsilon", "1/2,2") == plain(curve)
    assert by_workbench("curve", plan, epsilons=["1/2", "2"]) == plain(curve)

    account = facts.account_facts(hushway.ledger.open(plan, epsilon="20", delta="1e-6"))
    (shown,) = by_command("ledger", "show", plan)["accounts"]
    assert shown == plain(account)
    same(plan, "price", facts.price_facts)
    rehearsed = facts.dry_run_facts(hushway.publish(plan, dry_run=True))
    assert by_command("publish", plan, "--dry-run") == plain(rehearsed)

    published = hushway.publish(plan)
    release = published.folder
    same(plan, "check", facts.check_facts)
    answers = [
        (("ledger", "show", plan), facts.statement_facts(hushway.ledger.show(plan))),
        (
            ("ledger", "show", plan, "--people"),
            facts.people_facts(hushway.ledger.show(plan, people=True)),
        ),
    ]
    for words, answer in answers:
        assert by_command(*words) == plain(answer)
    settled: list[str] = []
    hushway.ledger.settle(plan, tell=settled.append)
    done = CliRunner().invoke(app, ["ledger", "settle", str(plan)], catch_exceptions=False)
    assert done.stdout.split() == " ".join(settled).split()
    verified = hushway.verify(release, ledger=plan)
    assert verified.intact
    if plan.read_text(encoding="utf-8") == TOY:
        # The command verifies, compares and draws in processes of their own. They know installed
        # families (tests/integration/test_example_package.py), not one that a test registers here.
        return
    found = facts.verification_facts(verified)
    assert by_command("verify", release, "--ledger", plan) == plain(found)
    compared = facts.comparison_facts(hushway.compare(release, release))
    assert by_command("compare", release, release) == plain(compared)
    truth = facts.true_error_facts(hushway.compare(release, truth=plan).value)
    assert by_command("compare", release, "--truth", plan) == plain(truth)
    one, two = release.with_name("one.html"), release.with_name("two.html")
    drawn = facts.site_facts(hushway.site([release], one_file=one), to=None, one_file=two)
    assert by_command("site", release, "--one-file", two) == plain(drawn)
    assert one.read_bytes() == two.read_bytes()


def same(plan: Path, verb: str, to_facts: Callable[[Any], Any]) -> None:
    """Asks all three faces; the workbench adds what its pages show."""
    answer = plain(to_facts(getattr(hushway, verb)(plan)))
    assert by_command(verb, plan) == answer
    assert by_workbench(verb, plan).items() >= answer.items()


def test_a_publish_costs_the_same_by_every_face(tmp_path: Path) -> None:
    costs = set()
    for face in ("command", "workbench", "python"):
        # Each has a ledger of its own, not a copy of one.
        scene = Scene.written(tmp_path / face, "od")
        assert scene.run("ledger open", "--epsilon", "20") == 0
        if face == "command":
            by_command("publish", scene.folder / PLAN, "--yes")
        elif face == "workbench":
            by_workbench("publish", scene.folder / PLAN, confirm=scene.plan["privacy"]["epsilon"])
        else:
            hushway.publish(scene.folder / PLAN)
        costs.add(tuple(scene.spent()))
    assert len(costs) == 1


@pytest.mark.parametrize("family", FAMILIES)
def test_recommendations_are_the_same_by_command_and_python(family: str, tmp_path: Path) -> None:
    plan = Scene.written(tmp_path / "city", family).folder / PLAN
    advice = facts.recommendation_facts(hushway.recommend(plan, trips=400, people=200))
    assert by_command("recommend", plan, "--trips", 400, "--people", 200) == plain(advice)


def test_designs_and_fleets_are_the_same_by_command_and_python(tmp_path: Path) -> None:
    scene = Scene.prepared(tmp_path / "city", "od")
    release = hushway.publish(scene.folder / PLAN).folder
    one, two = tmp_path / "one.toml", tmp_path / "two.toml"
    designed = facts.design_facts(hushway.design(release, one))
    assert by_command("design", release, two) == plain(designed)
    assert one.read_bytes() == two.read_bytes()
    judged = hushway.evaluate(release, task="fleet", network=one, draws=2)
    words = ("evaluate", release, "--task", "fleet", "--network", two, "--draws", 2)
    assert by_command(*words) == plain(facts.fleet_facts(judged))


def test_audits_look_at_the_same_claims_by_command_and_python(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(REGISTRY, "toy", ToyFamily())
    report = plain(facts.audit_facts(hushway.audit("toy", quick=True, runs=FEWEST_RUNS)))
    again = by_command("audit", "toy", "--quick", "--runs", FEWEST_RUNS)
    for one in (*report["findings"], *again["findings"]):
        # Noise is drawn anew: what the runs show differs, and nothing else.
        del one["epsilon_lower"], one["event"], one["reason"]
    assert again == report
