"""A whole family in one file: people by area, without time. Nobody counts in more than one."""

import csv
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np

from hushway import families as hw

FILE = "people.csv"
ONE = hw.Bound(cells=1, each=1, total=1)


class ToyPlan(hw.AnyPlan):
    release_type: Literal["toy"]
    visits: str
    areas: list[str]


@hw.public_facts
@dataclass(frozen=True)
class Areas:
    ids: tuple[str, ...]
    size: int
    digest: str
    name: str = "people in an area"


def areas_of(ids: list[str]) -> Areas:
    return Areas(tuple(ids), len(ids), hw.digest_of({"areas": ids}))


@dataclass(frozen=True)
class Visits:
    """Rows of (person, area), and who counts them: each person in the last of their areas."""

    read: Callable[[], str]
    areas: Areas
    unit: ClassVar[hw.Unit] = hw.Unit.PERSON

    def check(self, _settings: Any, **_notes: bool) -> hw.RowsChecked:
        return hw.RowsChecked()

    def counter(self, _context: Any) -> "Visits":
        return self

    def bound(self, _query: hw.Query) -> hw.Bound:
        return ONE

    def count(self, _query: hw.Query) -> hw.ExactCounts:
        cell = {area: number for number, area in enumerate(self.areas.ids)}
        rows = csv.reader(self.read().splitlines())
        last = {person: cell[area] for person, area in rows if area in cell}
        cells, values = np.unique(np.array([*last.values()], dtype=np.int64), return_counts=True)
        return hw.ExactCounts(cells=cells, values=values)


@dataclass(frozen=True)
class ToyTable:
    areas: Areas
    counts: Any

    def check(self, certificate: hw.Certificate) -> tuple[bool, str]:
        stated = hw.rebuilt(certificate.terms.mechanism, lambda p: laplace(p["spends"][0]))
        hw.check_domain(certificate, self.areas)
        hw.check_terms(certificate, stated.terms(self.areas))
        return True, "The terms follow from the mechanism."

    @property
    def description(self) -> hw.Description:
        schema = hw.table_schema(("area", "string", "Its name."), ("people", "integer", "In it."))
        words = {"title": "People", "description": "By area.", "mediatype": "text/csv"}
        file = hw.Resource(path=FILE, schema=schema, **words)
        return hw.Description(facts={"areas": self.areas.size}, resources=(file,), omitted={})

    def write(self, folder: Path, _progress: Any) -> None:
        rows = zip(self.areas.ids, self.counts.tolist(), strict=True)
        (folder / FILE).write_text("area,people\n" + "".join(f"{a},{n}\n" for a, n in rows))

    def picture(self, _certificate: hw.Certificate) -> bytes:
        return b"a picture"


@dataclass(frozen=True)
class ToyLaplace(hw.FixedQuestions[Areas]):
    spend: hw.PureLoss
    name: ClassVar[str] = "laplace"
    post_processing: ClassVar[tuple[str, ...]] = ("Negative counts are published as 0.",)

    @property
    def losses(self) -> tuple[hw.PureLoss, ...]:
        return (self.spend,)

    def questions(self, areas: Areas) -> tuple[hw.Question, ...]:
        return ((hw.Query(name=areas.name, cells=areas), self.spend),)

    def fit(self, measured: Any, areas: Areas) -> ToyTable:
        return ToyTable(areas, np.maximum(measured[0].values, 0))

    def terms(self, areas: Areas) -> hw.Terms:
        once = hw.Contribution(words="A person counts once.", limits={"areas": 1})
        words = {"assumed_public": ("The areas.",), "error": "See the noise."}
        who = {"release_type": "toy", "unit": hw.Unit.PERSON, "contribution": once}
        return hw.terms_of(self, areas, ONE, **who, **words)


def laplace(epsilon: Any) -> ToyLaplace:
    return ToyLaplace(hw.PureLoss(hw.exact(epsilon)))


def one_person(visits: type[Visits], epsilon: Any) -> hw.Trial:
    """In each of many areas, a person or nobody."""
    areas, mechanism = areas_of([str(number) for number in range(500)]), laplace(epsilon)

    def world(words: str, rows: str) -> hw.World:
        def look() -> Any:
            budget = hw.filled_budget(visits.unit, mechanism.spend)
            counter = visits(lambda: rows, areas)
            curator = hw.Curator(counter=counter, budget=budget, source=hw.os_source())
            return mechanism.measure(curator, areas)[0].values

        return hw.World(words=words, sample=lambda runs: hw.as_many(look, runs))

    worlds = world("a person", "\n".join(f"p{a},{a}" for a in areas.ids)), world("nobody", "")
    claim = {"name": "a person or nobody", "statistic": "the noisy count", "epsilon": epsilon}
    return hw.Trial(worlds=worlds, tight=True, **claim)


class ToyFamily(hw.Family):
    name, title, plan, table = "toy", "people by area", ToyPlan, ToyTable
    suite = hw.Suite(real=Visits, audits=(one_person,))

    def prepare(self, plan: ToyPlan) -> hw.Job:
        areas, mechanism = areas_of(plan.areas), laplace(plan.privacy.epsilon)
        words = hw.Wording(rows="visits", counted="people", universe=f"{areas.size} areas.")
        rows = Visits(plan.path(plan.visits).read_text, areas)
        chosen = {"plan": plan, "mechanism": mechanism, "terms": mechanism.terms(areas)}
        public = {"geography": areas, "bound": ONE, "window": hw.Window.always()}
        return hw.Job(**chosen, **public, rows=rows, wording=words)

    def check(self, notes: Any, folder: Path, certificate: Any, _facts: Any) -> Any:
        rows = hw.csv_rows(FILE, hw.read_plain(folder / FILE, hw.LIST_BYTES), width=2)[1:]
        table = ToyTable(areas_of([row[0] for row in rows]), [int(row[1]) for row in rows])
        return (
            table.description if notes.attempt("terms", lambda: table.check(certificate)) else None
        )
