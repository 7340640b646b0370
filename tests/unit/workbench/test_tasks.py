"""Tasks as processes: what they tell, how they end, and that the ledger's rules hold."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hushway.families.verify import verify
from hushway.workbench import tasks
from hushway.workbench.tasks import Task
from support import held_child
from support.little_bench import (
    OURS,
    Steward,
    come_in,
    open_account,
    spent,
    steward_of,
    wait_for,
    write_plan,
)


@pytest.fixture
def held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder by which publishes wait: in the middle, when they have spent."""
    folder = tmp_path / "held"
    folder.mkdir()
    monkeypatch.setenv(held_child.FOLDER, str(folder))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(path for path in sys.path if path))
    monkeypatch.setattr(tasks, "COMMAND", held_child.COMMAND)
    return folder


@pytest.mark.long
def test_the_whole_way_from_check_to_ledger(steward: Steward, plan: Path) -> None:
    kind, checked = steward.end(steward.start("check"))
    assert (kind, checked["usable"], checked["found"]["read"]) == ("result", True, 20)
    assert checked["for"].startswith("your screen only")
    # No account yet: it cannot be paid for.
    _, priced = steward.end(steward.start("price"))
    assert (priced["cost"], priced["affordable"], priced["account"]) == ("1", False, None)
    assert priced["loss"] == "ε = 1 per person"
    assert steward.client.get(f"/api/plans/{steward.plan}/ledger").status_code == 422
    _, opened = steward.end(steward.start("account", epsilon="4"))
    assert (opened["budget_limit"], opened["spent"]) == ("4", "0")
    events = steward.events(steward.start("publish", confirm="1.0"))
    assert events[0][0] == "progress"
    assert events[-1][0] == "result"
    published = events[-1][1]
    assert (published["folder"], published["claim"]) == ("release", "ε = 1 per person")
    assert verify(plan.parent / "release").intact
    ledger = steward.client.get(f"/api/plans/{steward.plan}/ledger").json()
    (account,), (entry,) = ledger["accounts"], ledger["entries"]
    assert (account["limit"], account["spent"], account["left"]) == ("4", "1", "3")
    assert account["left_value"] == 3.0
    assert account["release_type"] == "od"
    assert (entry["state"], entry["amount"]) == ("published", "1")
    assert entry["release"] == published["release"]
    assert ledger["people"][0]["lost"][0]["epsilon"] == "1"
    assert steward.plans[0]["published"] is True
    _see_the_certificate(steward, published["release"])
    kind, told = steward.end(steward.start("ask", where=["origins=a,b"]))
    (asked,) = told["answers"]
    assert kind == "result"
    assert asked["low"] <= asked["value"] <= asked["high"]


def _see_the_certificate(steward: Steward, release: str) -> None:
    found = steward.client.get(f"/api/plans/{steward.plan}/certificate").json()
    assert found["sentences"]["release"] == release
    assert found["sentences"]["guarantee"]
    assert found["sentences"]["warning"].startswith("Not signed")
    page = steward.client.get(found["page"])
    assert page.headers["content-type"].startswith("text/html")
    assert page.headers["content-security-policy"].startswith("sandbox; default-src 'none'")
    assert release in page.text


def test_a_finished_task_is_told_again_to_late_comers_and_then_no_more(
    steward: Steward, plan: Path
) -> None:
    plan.write_text("release_type = 'od'\n", encoding="utf-8")
    task = steward.start("check")
    events = steward.events(task)
    assert steward.events(task) == events
    kind, told = events[-1]
    assert kind == "failed"
    assert "does not describe a release" in told["message"]
    assert told["advice"]
    last = {"Last-Event-ID": str(len(events))}
    assert steward.client.get(f"/api/tasks/{task}/events", headers=last).status_code == 204
    (listed,) = steward.client.get("/api/tasks").json()
    assert (listed["id"], listed["kind"], listed["state"]) == (task, "check", "failed")


@pytest.mark.parametrize("typed", ["2", "0.99", "", "one", "1e", "nan", "-1", 1, None, "9" * 50])
def test_nothing_is_published_unless_the_budget_was_typed(
    steward: Steward, funded: Path, typed: Any
) -> None:
    path = f"/api/plans/{steward.plan}/publish"
    response = steward.client.post(path, json={"confirm": typed}, headers=OURS)
    assert response.status_code == 422
    assert steward.client.get("/api/tasks").json() == []
    assert spent(funded) == 0


def test_what_was_typed_for_another_text_publishes_nothing(steward: Steward, funded: Path) -> None:
    path = f"/api/plans/{steward.plan}/publish"
    body = {"confirm": "1", "revision": "0" * 64}
    assert steward.client.post(path, json=body, headers=OURS).status_code == 409
    assert spent(funded) == 0


@pytest.mark.parametrize(
    ("kind", "facts"),
    [
        ("none", {}),
        ("curve", {}),
        ("curve", {"epsilons": []}),
        ("curve", {"epsilons": ["1"] * 31}),
        ("curve", {"epsilons": [1]}),
        ("price", {"trips": 0}),
        ("price", {"trips": True}),
        ("price", {"trips": "many"}),
        ("price", {"trips": 10**13}),
        ("preview", {"trips": 5}),
        ("account", {"epsilon": "0"}),
        ("account", {"epsilon": "4", "delta": "x"}),
    ],
)
def test_a_question_that_makes_no_sense_starts_no_process(
    steward: Steward, kind: str, facts: dict[str, Any]
) -> None:
    response = steward.client.post(f"/api/plans/{steward.plan}/{kind}", json=facts, headers=OURS)
    assert response.status_code in {404, 422}
    assert steward.client.get("/api/tasks").json() == []


def test_an_interrupted_publish_says_what_is_spent_and_so_does_the_ledger(
    steward: Steward, funded: Path, held: Path
) -> None:
    task = steward.start("publish", confirm="1")
    wait_for(held / held_child.WAITS)
    response = steward.client.delete(f"/api/tasks/{task}", headers=OURS)
    assert response.status_code == 202
    kind, told = steward.end(task)
    assert kind == "failed"
    assert told["message"] == "Interrupted."
    assert "is spent for" in told["notes"][0]
    assert "nothing was published" in told["notes"][0]
    assert steward.client.get("/api/tasks").json()[0]["state"] == "interrupted"
    ledger = steward.client.get(f"/api/plans/{steward.plan}/ledger").json()
    assert [entry["state"] for entry in ledger["entries"]] == ["abandoned"]
    assert spent(funded) == 1
    assert not (funded.parent / "release").exists()
    assert not (funded.parent / ".release.partial").exists()


@pytest.mark.long
def test_a_publish_that_is_interrupted_before_it_spends_says_so(
    steward: Steward, funded: Path, held: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(held_child.AT, "_spend")
    task = steward.start("publish", confirm="1")
    wait_for(held / held_child.WAITS)
    steward.client.delete(f"/api/tasks/{task}", headers=OURS)
    assert steward.end(task)[1]["notes"] == ["Nothing was spent."]
    assert spent(funded) == 0


def test_of_two_tabs_that_publish_at_once_one_does_and_the_other_spends_nothing(
    steward: Steward, funded: Path, held: Path
) -> None:
    first = steward.start("publish", confirm="1")
    wait_for(held / held_child.WAITS)
    kind, told = steward.end(steward.start("publish", confirm="1"))
    assert kind == "failed"
    assert "publish" in told["message"]
    (held / held_child.GO).touch()
    assert steward.end(first)[0] == "result"
    assert spent(funded) == 1


@pytest.mark.long
def test_two_plans_cannot_both_spend_what_is_left_for_one(tmp_path: Path) -> None:
    folder = tmp_path / "two"
    folder.mkdir()
    one = write_plan(folder, "one.toml", release="one")
    other = write_plan(folder, "other.toml", release="other")
    open_account(one, "1")
    with steward_of(folder) as steward:
        tasks_of = [steward.start("publish", plan["id"], confirm="1") for plan in steward.plans]
        ends = [steward.end(task) for task in tasks_of]
    assert sorted(kind for kind, _ in ends) == ["failed", "result"]
    (refused,) = (told for kind, told in ends if kind == "failed")
    assert "left of its budget limit" in refused["message"]
    assert spent(other) == 1
    assert (folder / "one").is_dir() != (folder / "other").is_dir()


@pytest.mark.usefixtures("held")
def test_too_many_tasks_at_once_are_refused(
    steward: Steward, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tasks, "_MOST_RUNNING", 0)
    response = steward.client.post(f"/api/plans/{steward.plan}/check", headers=OURS)
    assert response.status_code == 429


def test_a_process_that_dies_without_a_word_is_a_failure_that_points_to_the_ledger(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tasks, "COMMAND", (sys.executable, "-c", "import os; os._exit(9)"))
    ended: list[Task] = []
    task = Task("publish", "plan", {}, ended.append)
    task.wait(60)
    assert ended == [task]
    assert task.state == "failed"
    assert "ledger settle" in task.events[-1].data["notes"][0]


@pytest.mark.long
def test_a_signing_key_with_a_passphrase_is_left_to_the_command_line(
    funded: Path, steward: Steward
) -> None:
    from hushway.privacy.signing import new_key_pair

    folder = funded.parent
    new_key_pair(
        folder / "key.pem", folder / "key.pub.pem", passphrase=lambda: "a secret of some length"
    )
    text = funded.read_text("utf-8").replace("[release]\n", '[release]\nsigning_key = "key.pem"\n')
    funded.write_text(text, encoding="utf-8")
    kind, told = steward.end(steward.start("publish", confirm="1"))
    assert kind == "failed"
    assert "passphrase" in told["message"]
    assert "hushway publish" in told["advice"]
    assert spent(funded) == 0


@pytest.mark.long
def test_a_publish_outlives_a_server_that_is_killed(
    funded: Path, held: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import httpx2

    monkeypatch.setenv("PYTHONUNBUFFERED", "1")
    server = subprocess.Popen(
        [sys.executable, "-m", "support.held_server", str(funded.parent)],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert server.stdout is not None
        address = server.stdout.readline().strip()
        origin = address.partition("/#")[0]
        with httpx2.Client(base_url=origin, timeout=60) as client:
            come_in(client, address)
            plan = client.get("/api/state").json()["plans"][0]["id"]
            headers = {"Origin": origin}
            client.post(f"/api/plans/{plan}/publish", json={"confirm": "1"}, headers=headers)
            wait_for(held / held_child.WAITS)
    finally:
        server.send_signal(signal.SIGKILL)
        server.wait()
        if server.stdout is not None:
            server.stdout.close()
    (held / held_child.GO).touch()
    wait_for(funded.parent / "release")
    assert verify(funded.parent / "release").intact
    assert spent(funded) == 1
