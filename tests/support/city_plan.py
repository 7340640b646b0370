"""A city's folder with a plan in it: commands, changes to the plan, and its job."""

from importlib.resources import files
from pathlib import Path

from typer.testing import CliRunner, Result

from hushway.cli.app import app
from hushway.families.load import load_plan, prepare
from hushway.release.job import Job
from hushway.steward.demo import PLAN


def invoke(*words: str | Path) -> Result:
    """Runs a command in this process."""
    return CliRunner().invoke(app, [str(word) for word in words])


def link_with_template(city: Path, shared: Path, family: str) -> None:
    """Puts links to shared files into a folder, and the family's template as its plan."""
    for file in shared.iterdir():
        (city / file.name).symlink_to(file)
    template = files("hushway") / "families" / family / "template.toml"
    (city / PLAN).write_text(template.read_text(encoding="utf-8"), encoding="utf-8")


def change(city: Path, old: str, new: str) -> Path:
    """Changes the text of the plan, and returns its path."""
    plan = city / PLAN
    text = plan.read_text(encoding="utf-8")
    assert old in text
    plan.write_text(text.replace(old, new), encoding="utf-8")
    return plan


def with_mechanism(city: Path, lines: str, max_trips: int = 2) -> Path:
    """Puts other lines into [mechanism] of the demo, and a limit that does for every mechanism."""
    plan = city / PLAN
    limit = f"max_trips = {max_trips} "
    text = plan.read_text(encoding="utf-8").replace('max_trips = "auto" ', limit)
    head, _, rest = text.replace("# [mechanism]", "[mechanism]").partition("[mechanism]")
    tail = rest[rest.index("[problems]") :]
    plan.write_text(f"{head}[mechanism]\n{lines}\n\n{tail}", encoding="utf-8")
    return plan


def job_of(city: Path) -> Job:
    """Prepares the plan."""
    return prepare(load_plan(city / PLAN))
