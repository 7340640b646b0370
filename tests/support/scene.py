"""A little scene that a test spoils: files, a plan and an open account, then the command itself.

`python -m support.scene FOLDER FAMILY` writes files and plan, for whoever runs commands elsewhere.
"""

import atexit
import json
import shutil
import sys
import threading
from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest

from hushway.cli.app import main
from hushway.privacy.ledger import Ledger
from support.little_plans import good_row, little_plan, rows_file, write_little_files

PRIVATE = "person-private-007"
PLAN = "plan.toml"
# What an open database may keep beside it.
_BESIDE = {"ledger.db-wal", "ledger.db-shm"}


@dataclass
class Scene:
    """A family's little files in a folder, and its plan as values that a test may change.

    Attributes:
        folder: Where everything lies.
        family: The family.
        plan: What is written as the plan when the command runs.
        plan_text: Written instead of the plan, if a test says so.
    """

    folder: Path
    family: str
    plan: dict[str, Any]
    plan_text: str | None = None

    @classmethod
    def written(cls, folder: Path, family: str) -> "Scene":
        """Writes files and plan into a new folder."""
        folder.mkdir()
        write_little_files(folder)
        scene = cls(folder=folder, family=family, plan=little_plan(family))
        scene.write_plan()
        return scene

    @classmethod
    def prepared(cls, folder: Path, family: str) -> "Scene":
        """Makes a new folder of files and an open account; all of a family have one ledger."""
        return _prepared(family).copied(folder)

    def copied(self, folder: Path) -> "Scene":
        """Returns a copy of the scene in another folder, to be spoilt."""
        shutil.copytree(self.folder, folder)
        return Scene(folder=folder, family=self.family, plan=little_plan(self.family))

    @property
    def rows(self) -> Path:
        """The file of protected rows."""
        return self.folder / rows_file(self.family)

    def add_row(self, **fields: str) -> None:
        """Adds a row of a person who must never be named."""
        values = good_row(self.family) | {"person": PRIVATE} | fields
        with self.rows.open("a", encoding="utf-8") as file:
            file.write(",".join(values.values()) + "\n")

    def say(self, where: str, value: Any) -> None:
        """Sets an option of the plan, such as privacy.epsilon."""
        *tables, last = where.split(".")
        place = self.plan
        for table in tables:
            place = place.setdefault(table, {})
        place[last] = value

    def run(self, verb: str, *options: str) -> int:
        """Runs a verb on the plan as a shell would, and returns the exit code."""
        self.write_plan()
        with pytest.MonkeyPatch.context() as patch:
            words = ["hushway", *verb.split(), str(self.folder / PLAN), *options]
            patch.setattr(sys, "argv", words)
            patch.setattr("signal.signal", lambda *_: None)
            patch.setattr("threading.excepthook", threading.excepthook)
            patch.setattr("sys.unraisablehook", sys.unraisablehook)
            with pytest.raises(SystemExit) as ended:
                main()
        return int(ended.value.code or 0)

    def write_plan(self) -> None:
        """Writes the plan as it stands."""
        text = toml(self.plan) if self.plan_text is None else self.plan_text
        (self.folder / PLAN).write_text(text, encoding="utf-8")

    def files(self) -> set[str]:
        """Returns the names of everything in the folder, hidden or not."""
        return {path.name for path in self.folder.iterdir()} - _BESIDE

    def spent(self) -> list[Any]:
        """Returns what each account has lost, if the ledger is sound."""
        with Ledger.connect(self.folder / "ledger.db") as ledger:
            assert ledger.check() == []
            return [account.spent for account in ledger.accounts()]


@cache
def _prepared(family: str) -> Scene:
    """Writes files and opens an account that can spend on the plan: once, to be copied."""
    folder = Path(mkdtemp())
    atexit.register(shutil.rmtree, folder)
    scene = Scene.written(folder / "scene", family)
    assert scene.run("ledger open", "--epsilon", "20", "--delta", "1e-6") == 0
    return scene


def toml(facts: dict[str, Any], above: str = "") -> str:
    """Writes values as TOML: first what stands by itself, then the tables."""
    plain = {name: value for name, value in facts.items() if not isinstance(value, dict)}
    tables = {name: value for name, value in facts.items() if isinstance(value, dict)}
    lines = [f"[{above}]"] if above else []
    lines += [f"{name} = {_value(value)}" for name, value in plain.items()]
    inner = [toml(value, f"{above}.{name}" if above else name) for name, value in tables.items()]
    return "\n".join([*lines, "", *inner])


def _value(value: Any) -> str:
    if isinstance(value, date | float):
        return str(value)
    return json.dumps(value)


if __name__ == "__main__":
    Scene.written(Path(sys.argv[1]), sys.argv[2])
