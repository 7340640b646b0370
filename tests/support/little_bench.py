"""A steward's folder with the smallest plan, and a server for it, asked without a network."""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

import tomlkit
from starlette.testclient import TestClient

from hushway.families.load import load_plan, prepare
from hushway.privacy.ledger import Ledger
from hushway.privacy.loss import PureLoss
from hushway.workbench.addresses import LOOPBACK, Address
from hushway.workbench.app import Workbench, workbench_app
from hushway.workbench.login import LOGIN, Login
from hushway.workbench.middleware import SecurityMiddleware
from hushway.workbench.plan_folder import PlanFolders
from hushway.workbench.tasks import TaskList
from support.little_plans import little_plan, write_little_files

PORT = 8321
ORIGIN = f"http://{LOOPBACK}:{PORT}"
OURS = {"Origin": ORIGIN}
HEAD = "# Read by people too.\n"


def write_plan(folder: Path, name: str = "plan.toml", *, release: str = "release") -> Path:
    """Writes the smallest OD plan, with a comment, and the files that it names."""
    write_little_files(folder)
    facts = little_plan("od")
    facts["release"]["folder"] = release
    # Faster than anything that is fitted, and needs no machine code.
    facts["mechanism"] = {"name": "laplace"}
    file = folder / name
    file.write_text(HEAD + tomlkit.dumps(facts), encoding="utf-8")
    return file


def open_account(plan: Path, limit: str = "4") -> None:
    """Opens the account of a plan."""
    job = prepare(load_plan(plan))
    with Ledger.connect(job.plan.ledger_url()) as ledger:
        ledger.open_account(job.account, PureLoss(Fraction(limit)))


def spent(plan: Path) -> Fraction:
    """Returns what the account of a plan has spent."""
    job = prepare(load_plan(plan))
    with Ledger.connect(job.plan.ledger_url(), create=False) as ledger:
        assert ledger.check() == []
        return ledger.account(job.account).spent


class Steward:
    """A browser that has come in."""

    def __init__(self, client: TestClient) -> None:
        self.client = client

    @property
    def plans(self) -> list[dict[str, Any]]:
        """The plans that the server knows."""
        found: list[dict[str, Any]] = self.client.get("/api/state").json()["plans"]
        return found

    @property
    def plan(self) -> str:
        """The id of the first plan."""
        return str(self.plans[0]["id"])

    def start(self, kind: str, plan: str | None = None, **facts: Any) -> str:
        """Starts a task and returns its id."""
        path = f"/api/plans/{plan or self.plan}/{kind}"
        response = self.client.post(path, json=facts, headers=OURS)
        assert response.status_code == 202, response.text
        return str(response.json()["task"])

    def events(self, task: str) -> list[tuple[str, Any]]:
        """Waits for a task, and returns what it told."""
        text = self.client.get(f"/api/tasks/{task}/events").text
        blocks = [block.split("\n") for block in text.split("\n\n") if block.startswith("id: ")]
        return [
            (block[1].removeprefix("event: "), json.loads(block[2].removeprefix("data: ")))
            for block in blocks
        ]

    def end(self, task: str) -> tuple[str, Any]:
        """Waits for a task, and returns its last word."""
        return self.events(task)[-1]


def come_in(client: Any, printed: str) -> None:
    """Does what the page does when it is opened at the address that was printed."""
    origin, _, token = printed.partition("/#token=")
    answer = client.post(LOGIN, json={"token": token}, headers={"Origin": origin})
    assert answer.status_code == 200
    client.headers["Authorization"] = f"Bearer {answer.json()['session']}"


@contextmanager
def steward_of(*places: Path) -> Iterator[Steward]:
    """Serves plans to a browser that has come in."""
    login = Login()
    tasks = TaskList(lambda _task: None)
    bench = Workbench(plans=PlanFolders(places), tasks=tasks)
    address = Address(host=LOOPBACK, port=PORT)
    app = SecurityMiddleware(workbench_app(bench, login), address=address, access=login)
    try:
        with TestClient(app, base_url=ORIGIN) as client:
            come_in(client, login.link(ORIGIN))
            yield Steward(client)
    finally:
        for task in tasks.running:
            task.interrupt()
            task.wait()


def wait_for(file: Path, seconds: float = 120.0) -> None:
    """Waits until a file is there."""
    until = time.monotonic() + seconds
    while not file.exists():
        assert time.monotonic() < until, f"{file.name} never appeared"
        time.sleep(0.02)
