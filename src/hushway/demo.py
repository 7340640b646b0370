"""Whole releases from nothing: synthetic cities, plans, budgets, releases that verify."""

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from importlib.resources import files
from pathlib import Path

from hushway.errors import ReleaseError
from hushway.families.density.city.paris import paris
from hushway.families.load import load_plan
from hushway.families.od.city.ann_arbor import ann_arbor
from hushway.families.prepare import prepare
from hushway.families.sequences.city.cards import metro
from hushway.privacy.accounting import cap_for
from hushway.privacy.ledger import Ledger
from hushway.privacy.loss import PureLoss
from hushway.release.job import Job
from hushway.release.new_file import make_folder

PLAN = "plan.toml"
CAP = Fraction(4)

_MARKER = ".hushway-demo"
_SEED = 2018
_CARDS = 150_000
_PEOPLE, _TOWERS, _AREAS = 20_000, 60, 40
# The template is for a city of millions. In one of 20,000 people so few visits need less noise.
_FOR_A_SMALL_CITY = {
    "most_counted = 1000 ": "most_counted = 200  ",
    'epsilon = "0.3" ': 'epsilon = "1"   ',
}


@dataclass(frozen=True, kw_only=True)
class DemoCity:
    """What the demo built: a folder with a city's files and a plan, and an open account."""

    folder: Path
    trips: int
    riders: int
    job: Job


@dataclass(frozen=True, kw_only=True)
class DemoCards:
    """What the demo built for cards: a folder with a city's files and a plan, and an account."""

    folder: Path
    records: int
    job: Job


@dataclass(frozen=True, kw_only=True)
class DemoCalls:
    """What the demo built for calls: a folder with a city's files and a plan, and an account."""

    folder: Path
    events: int
    people: int
    job: Job


def build_demo(folder: Path, *, force: bool = False) -> DemoCity:
    """Writes a synthetic weekday of Ann Arbor, a plan for it, and a ledger with a budget.

    Args:
        folder: Where to build it.
        force: Whether an earlier demo there is thrown away.

    Raises:
        ReleaseError: The folder exists and is not an earlier demo to be thrown away, or cannot be
            made.
    """
    _clear(folder, force=force)
    city = ann_arbor(seed=_SEED)
    city.write(folder)
    return DemoCity(
        folder=folder,
        trips=len(city.trips.rider),
        riders=len(set(city.trips.rider.tolist())),
        job=_planned(folder, "od"),
    )


def build_cards(folder: Path) -> DemoCards:
    """Writes a day of a synthetic metro's cards, a plan for it, and a ledger with a budget."""
    city = metro(_SEED, records=_CARDS)
    city.write(folder)
    return DemoCards(folder=folder, records=len(city), job=_planned(folder, "sequences"))


def build_calls(folder: Path) -> DemoCalls:
    """Writes a week of calls of a small synthetic Paris, a plan for it, and a ledger."""
    city = paris(_SEED, people=_PEOPLE, towers=_TOWERS, areas=_AREAS)
    city.write(folder)
    return DemoCalls(
        folder=folder,
        events=len(city),
        people=city.people,
        job=_planned(folder, "density", _FOR_A_SMALL_CITY),
    )


def _planned(folder: Path, family: str, changes: Mapping[str, str] | None = None) -> Job:
    """Writes the family's template as a plan, with changes, and opens its account."""
    template = files("hushway") / "families" / family / "template.toml"
    text = template.read_text(encoding="utf-8")
    for old, new in (changes or {}).items():
        text = text.replace(old, new)
    (folder / PLAN).write_text(text, encoding="utf-8")
    job = prepare(load_plan(folder / PLAN))
    delta = job.plan.privacy.delta
    with Ledger.connect(job.plan.ledger_url()) as ledger:
        cap = PureLoss(CAP) if delta is None else cap_for(CAP, delta)
        ledger.open_account(job.account, cap, delta=delta)
    return job


def _clear(folder: Path, *, force: bool) -> None:
    """Makes the folder anew; removes nothing but an earlier demo, and that only if told to."""
    if folder.exists():
        earlier = (folder / _MARKER).is_file()
        if not (earlier and force):
            again = ", or throw the earlier demo away with --force" if earlier else ""
            raise ReleaseError(
                f"{folder} exists already.",
                advice=f"Name a folder that does not exist yet: hushway demo NAME{again}.",
            )
        shutil.rmtree(folder)
    make_folder(folder)
    (folder / _MARKER).touch()
