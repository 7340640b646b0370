"""Every mechanism of a plan, from a raw trips file to a verified folder."""

import json
import shutil
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import hushway
from hushway.errors import GeographyError, PrivacyError
from hushway.families.load import load_plan, prepare
from hushway.families.od.mechanism import learned as learned_module
from hushway.families.od.mechanism import people as people_module
from hushway.families.od.mechanism.people import LearnedPeople
from hushway.privacy.ledger import Ledger
from hushway.privacy.loss import ZCDPLoss
from hushway.privacy.randomness import SeededSource
from hushway.release.job import Job
from hushway.steward.demo import PLAN
from hushway.steward.publish import publish
from support.city_plan import invoke, with_mechanism
from support.long import often


@pytest.fixture
def city(half_days: Path, tmp_path: Path) -> Path:
    """A fresh copy of a city whose plan names no mechanism."""
    return Path(shutil.copytree(half_days, tmp_path / "city"))


def job_with(city: Path, lines: str) -> Job:
    return prepare(load_plan(with_mechanism(city, lines)))


_ENDS = ("origins", "destinations")
_WAYS = {
    "learned": 'name = "learned"\npublished_totals = ["zones", "origins"]',
    "cbdp": 'name = "cbdp"',
    "O5(a)": 'name = "cbdp"\nvariant = "O5"\nstructure = "hierarchical"\nweights = "uniform"',
    "H3": 'name = "hierarchical"\nvariant = "H3"\nbudget_shares = "uniform"\nprune = false',
    "laplace": 'name = "laplace"\nform = "sparse"\nexpected_false = 20',
    "shares": 'name = "learned"\npublished_totals = ["total"]\n'
    'budget_shares = { cells = "2/3", total = "1/3" }',
    "O3": 'name = "cbdp"\nvariant = "O3"\nbudget_shares = "uniform"\nweights = "size"',
    "lazy": 'name = "cbdp"\nform = "lazy"\nrounding = "plain"',
    "importance": 'name = "cbdp"\nvariant = "O3"\n'
    "importance = { cells = 1, total = 1, period = 9 }",
    "split": 'name = "cbdp"\nvariant = "O3"\n'
    'budget_shares = { cells = "1/2", total = "1/4", period = "1/4" }',
    "H5": 'name = "hierarchical"\nvariant = "H5"',
}


@pytest.mark.parametrize("way", often(_WAYS, first=5))
def test_every_mechanism_publishes_a_release_that_verifies(city: Path, way: str) -> None:
    published = publish(job_with(city, _WAYS[way]))
    assert hushway.verify(published.folder).passed
    assert published.certificate.claim.amount == 1


def test_a_plan_without_a_mechanism_learns_from_all_that_its_files_allow(city: Path) -> None:
    published = publish(prepare(load_plan(city / PLAN)))
    assert hushway.verify(published.folder).passed
    mechanism = published.certificate.terms.mechanism
    assert mechanism.name == "learned"
    titles = [feature["title"] for feature in mechanism.parameters["published_totals"]]
    # Ends of trips are measured too where they stand out of their noise, which chance decides here.
    others = [title for title in titles if title not in _ENDS]
    assert others == ["total", "period", "zones", "modes"]
    assert published.certificate.claim.amount == 1
    columns = pq.read_schema(published.folder / "margins.parquet").names
    assert columns[-3:] == ["standard_error", "low", "high"]
    adds_up = json.loads((published.folder / "adds-up.json").read_text(encoding="utf-8"))
    assert adds_up["fit"]["random_effects"]["pair"] > 0


def _too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learned_module, "MOST_LEARNED", 1)
    monkeypatch.setattr(people_module, "MOST_LEARNED", 1)


@pytest.mark.long
def test_a_table_that_is_too_large_is_learnt_lazily_from_sums_of_places(
    city: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _too_large(monkeypatch)
    published = publish(prepare(load_plan(city / PLAN)))
    assert hushway.verify(published.folder).passed
    parameters = published.certificate.terms.mechanism.parameters
    assert parameters["form"] == "lazy"
    titles = [feature["title"] for feature in parameters["published_totals"]]
    # Modes label pairs of places one by one.
    assert {"total", "period", "zones"} <= set(titles) <= {*_ENDS, "total", "period", "zones"}


def test_what_a_plan_names_by_hand_is_not_left_out_where_the_table_is_too_large(
    city: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _too_large(monkeypatch)
    with pytest.raises(PrivacyError, match="labels pairs of places one by one") as refusal:
        job_with(city, 'name = "learned"\npublished_totals = ["total", "modes"]')
    assert "cbdp" in refusal.value.advice
    named = job_with(city, 'name = "learned"\npublished_totals = ["total", "origins"]')
    assert isinstance(named.mechanism, LearnedPeople)
    assert named.mechanism.lazy


@pytest.mark.parametrize(("epsilon", "advised"), often([("1", False), ("1/50", True)]))
def test_verify_says_how_much_of_a_learnt_table_is_known(
    city: Path, epsilon: str, advised: bool
) -> None:
    plan = city / PLAN
    text = plan.read_text(encoding="utf-8")
    plan.write_text(text.replace('epsilon = "1"', f'epsilon = "{epsilon}"'), encoding="utf-8")
    published = publish(prepare(load_plan(plan)), source=SeededSource(3))
    sentences = {check.name: check.sentence for check in hushway.verify(published.folder).checks}
    known = sentences["known"]
    assert "of the trips stand in flows of at least twice their error." in known
    assert "Share in sums that are sure within 10%: total" in known
    assert ("Use sums" in known) == advised


def test_a_fitted_release_shows_that_it_adds_up(city: Path) -> None:
    published = publish(job_with(city, 'name = "cbdp"'))
    adds_up = json.loads((published.folder / "adds-up.json").read_text(encoding="utf-8"))
    assert {entry["published_total"] for entry in adds_up["sums"]} == {
        "total",
        "period",
        "zones",
        "modes",
    }
    assert all(entry["largest_difference"] == 0 for entry in adds_up["sums"])
    assert all(entry["largest_rounding_shift"] < 1 for entry in adds_up["sums"])
    assert all(entry["largest_difference"] == 0 for entry in adds_up["refinements"])
    assert adds_up["fit"]["relative_to_total"] <= 1e-9
    total = sum(pq.read_table(published.folder / "trips.parquet")["count"].to_pylist())
    margins = pq.read_table(published.folder / "margins.parquet").to_pylist()
    assert [row["count"] for row in margins if row["published_total"] == "total"] == [total]


def test_gaussian_noise_needs_an_account_in_rho(city: Path) -> None:
    plan = city / PLAN
    text = plan.read_text(encoding="utf-8").replace('# delta = "1e-6"', 'delta = "1e-6"')
    plan.write_text(text, encoding="utf-8")
    job = job_with(city, 'name = "cbdp"\nnoise = "gaussian"')
    with pytest.raises(PrivacyError, match="no pure epsilon"):
        publish(job)
    plan.write_text(
        plan.read_text(encoding="utf-8").replace('period = "2026-03"', 'period = "2026-04"'),
        encoding="utf-8",
    )
    job = prepare(load_plan(plan))
    with Ledger.connect(city / "ledger.db") as ledger:
        ledger.open_account(job.account, ZCDPLoss(Fraction(1)))
    published = publish(job)
    assert hushway.verify(published.folder).passed
    assert published.certificate.epsilon_delta is not None
    assert float(published.certificate.epsilon_delta.epsilon) <= 1


def test_price_says_which_noise_is_better_and_why(city: Path) -> None:
    plan = city / PLAN
    text = plan.read_text(encoding="utf-8").replace('# delta = "1e-6"', 'delta = "1e-6"')
    plan.write_text(text, encoding="utf-8")
    assert "Laplace noise is" in json.loads(invoke("price", plan, "--json").output)["noise"]


def without_a_zone(city: Path) -> None:
    file = city / "places.csv"
    header, first, *rest = file.read_text(encoding="utf-8").splitlines()
    bare = first.removesuffix(first.rsplit(",", 1)[1])
    file.write_text("\n".join([header, bare, *rest]) + "\n", encoding="utf-8")


def without_a_mode(city: Path) -> None:
    file = city / "modes.csv"
    lines = file.read_text(encoding="utf-8").splitlines()
    file.write_text("\n".join(lines[:-1]) + "\n", encoding="utf-8")


@pytest.mark.parametrize(
    ("damage", "words"),
    [(without_a_zone, "places have no zone"), (without_a_mode, "pairs of places have no mode")],
)
def test_labels_that_are_missing_are_named_before_anything_is_paid(
    city: Path, damage: Callable[[Path], None], words: str
) -> None:
    damage(city)
    with pytest.raises(GeographyError, match=words):
        prepare(load_plan(city / PLAN))


@pytest.mark.long
def test_recommend_reads_neither_rows_nor_the_ledger(city: Path) -> None:
    (city / "trips.csv").unlink()
    (city / "ledger.db").unlink()
    words = ("--trips", "3000", "--people", "1500", "--runs", "1", "--json")
    answer = json.loads(invoke("recommend", city / PLAN, *words).output)
    assert answer["best"]["max_trips"] == "auto"
    assert set(answer["best"]["published_totals"]) <= {
        "total",
        "period",
        "origins",
        "destinations",
        "zones",
        "modes",
    }
    assert len(answer["tried"]) > 5
