"""A release of card sequences, from raw taps to a verified folder, as a steward makes it."""

import json
from fractions import Fraction
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import hushway
from hushway.errors import BudgetError, GeographyError, PlanError
from hushway.families.asking import synthesize
from hushway.families.load import load_plan
from hushway.families.sequences.city.cards import metro
from hushway.families.sequences.plan import SequencesPlan
from hushway.privacy.ledger import Ledger, Window
from hushway.privacy.loss import PureLoss
from hushway.privacy.randomness import SeededSource
from hushway.steward.publish import publish
from support.city_plan import change, invoke, job_of, link_with_template
from support.long import often
from support.mutations import described, rewrite


@pytest.fixture(scope="module")
def cards(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cards")
    metro(3, records=4000).write(folder)
    return folder


@pytest.fixture
def city(learnt: Path) -> Path:
    """The same, for a prefix tree."""
    change(learnt, 'name = "learned" ', 'name = "prefix_tree" ')
    for option in ("thresholds", "levels", "groups"):
        change(learnt, f"# {option} = ", f"{option} = ")
    return learnt


@pytest.fixture
def learnt(cards: Path, tmp_path: Path) -> Path:
    """The plan of the template beside the city's files, and an open account."""
    link_with_template(tmp_path, cards, "sequences")
    job = job_of(tmp_path)
    with Ledger.connect(tmp_path / "ledger.db") as ledger:
        ledger.open_account(job.account, PureLoss(Fraction(4)))
    return tmp_path


def test_a_release_verifies_and_the_ledger_has_paid_for_it(city: Path) -> None:
    published = publish(job_of(city))
    assert hushway.verify(published.folder).passed
    assert published.certificate.terms.release_type == "sequences"
    assert published.certificate.claim.amount == 1
    with Ledger.connect(city / "ledger.db") as ledger:
        assert ledger.accounts()[0].spent == 1
        assert str(ledger.entries()[1].window) == "2026-03-03"
        assert ledger.unpublished() == []


def test_a_learnt_release_verifies_and_its_prefixes_are_sure(learnt: Path) -> None:
    change(learnt, 'epsilon = "1" ', 'epsilon = "4" ')
    published = publish(job_of(learnt), source=SeededSource(3))
    assert published.certificate.terms.mechanism.name == "learned"
    assert {event.query for event in published.certificate.terms.events} >= {
        "records by number of stops",
        "how records begin, end and go on, shared out",
        "records by longest known prefix",
    }
    report = hushway.verify(published.folder)
    assert report.intact
    prefixes = pq.read_table(published.folder / "prefixes.parquet").to_pylist()
    assert len(prefixes) > 20
    # They were sure before errors were enlarged for having been chosen; no interval holds 0.
    assert all(row["count"] > 2 * row["standard_error"] > 0 for row in prefixes)


def test_a_plan_without_a_mechanism_learns_where_it_can(learnt: Path) -> None:
    change(learnt, 'name = "learned" ', "# ")
    change(learnt, 'noise = "laplace" ', "# ")
    change(learnt, "[mechanism]", "")
    assert job_of(learnt).mechanism.name == "learned"
    change(learnt, "times = false", "times = true")
    assert job_of(learnt).mechanism.name == "prefix_tree"


def test_learnt_records_keep_no_times(learnt: Path) -> None:
    change(learnt, "times = false", "times = true")
    with pytest.raises(PlanError, match="keeps no times"):
        load_plan(learnt / "plan.toml")


@pytest.mark.parametrize("damage", ["prefix", "csv", "question"])
def test_a_learnt_release_that_was_edited_is_found_out(learnt: Path, damage: str) -> None:
    change(learnt, 'epsilon = "1" ', 'epsilon = "4" ')  # at 1 there may be no sure prefix to edit
    published = publish(job_of(learnt))
    folder = published.folder
    files = described(folder)
    if damage == "prefix":
        table = pq.read_table(folder / "prefixes.parquet")
        counts = table["count"].to_pylist()
        more = pa.array([counts[0] + 1, *counts[1:]], pa.int64())
        changed = table.set_column(2, table.schema.field("count"), more)
        pq.write_table(changed, folder / "prefixes.parquet", use_dictionary=False)
    elif damage == "csv":
        lines = (folder / "sequences.csv").read_text(encoding="utf-8").splitlines()
        (folder / "sequences.csv").write_text("\n".join(lines[:-1]) + "\n", encoding="utf-8")
    else:
        text = (folder / "questions.csv").read_text(encoding="utf-8")
        changed = text.replace("prefix,", "prefix,1", 1)
        (folder / "questions.csv").write_text(changed, encoding="utf-8")
    rewrite(folder, published.certificate, files)
    assert not hushway.verify(folder).intact


def test_learnt_records_become_synthetic_taps(learnt: Path) -> None:
    folder = publish(job_of(learnt)).folder
    made = invoke("synthesize", folder, learnt / "synthetic.parquet")
    assert made.exit_code == 0, made.output
    records = pq.read_table(folder / "sequences.parquet")["count"].to_pylist()
    taps = pq.read_table(learnt / "synthetic.parquet")
    assert len(taps["record"].unique()) == sum(records)


def test_counts_of_the_tree_add_up_and_end_in_the_published_sequences(city: Path) -> None:
    folder = publish(job_of(city)).folder
    tree = pq.read_table(folder / "tree.parquet")
    sequences = pq.read_table(folder / "sequences.parquet")
    assert sum(sequences["count"].to_pylist()) == sum(tree["ends"].to_pylist())
    assert min(tree["count"].to_pylist()) >= 0
    known = set(pq.read_table(city / "taps.parquet")["place"].unique().to_pylist())
    stops = {stop for sequence in sequences["sequence"].to_pylist() for stop in sequence}
    assert stops <= known


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("old", "new"),
    often(
        [
            ("times = false", "times = true"),
            ('columns = ["zone"] ', "fan_out = 9 "),
            ('columns = ["zone"] ', "# "),
            ('thresholds = "expected_false"', 'thresholds = "paper"'),
            ('groups = "balanced"', 'groups = "paper"'),
            ('levels = "recommended"', 'levels = "uniform"'),
            ('max_records = "auto" ', "max_records = 2 "),
            ('span = "day"', 'span = "window"'),
            ("max_stops = 4 ", "mean_stops = 2 "),
        ],
        first=4,
    ),
    ids=["times", "generated", "simple", "paper", "2/f", "uniform", "two", "window", "guess"],
)
def test_every_option_publishes_a_release_that_verifies(city: Path, old: str, new: str) -> None:
    # A little city needs a generous budget for anything to stay above the thresholds.
    change(city, 'epsilon = "1" ', 'epsilon = "4" ')
    change(city, "max_stops = 12 ", "max_stops = 4 ")
    change(city, old, new)
    if new == "# ":
        change(city, "[taxonomy] ", "# [taxonomy] ")
    assert hushway.verify(publish(job_of(city)).folder).passed


def test_ready_sequences_need_neither_times_nor_persons(city: Path) -> None:
    rows = "stops\n" + "\n".join("M01 M02 M03" if i % 3 else "M05" for i in range(2000)) + "\n"
    ids = (city / "places.csv").read_text(encoding="utf-8").splitlines()[1:]
    names = [line.split(",")[0] for line in ids]
    for old, new in zip(("M01", "M02", "M03", "M05"), names, strict=False):
        rows = rows.replace(old, new)
    (city / "sequences.csv").write_text(rows, encoding="utf-8")
    change(city, 'taps = "taps.parquet"', 'sequences = "sequences.csv"')
    change(city, 'person = "person"\n', "")
    change(city, 'unit = "person"', 'unit = "record"')
    job = job_of(city)
    # The plan still names days, which nothing in the rows can confirm.
    assert isinstance(job.plan, SequencesPlan)
    assert job.plan.time is not None
    assert job.window == Window.always()
    with Ledger.connect(city / "ledger.db") as ledger:
        ledger.open_account(job.account, PureLoss(Fraction(4)))
    published = publish(job)
    assert hushway.verify(published.folder).passed
    found = pq.read_table(published.folder / "sequences.parquet").to_pylist()
    best = max(found, key=lambda row: row["count"])
    assert best["sequence"] == names[:3]
    assert best["count"] == pytest.approx(2000 * 2 / 3, rel=0.2)


def test_check_and_price_speak_of_records(city: Path) -> None:
    assert "places" in invoke("check", city / "plan.toml").output
    assert "in records" in invoke("price", city / "plan.toml").output


def test_an_account_that_is_empty_counts_nothing(city: Path) -> None:
    change(city, 'epsilon = "1" ', 'epsilon = "5" ')
    with pytest.raises(BudgetError):
        publish(job_of(city))
    assert not (city / "release").exists()


def test_a_location_without_a_group_is_named(city: Path) -> None:
    lines = (city / "places.csv").read_text(encoding="utf-8").splitlines()
    (city / "places.csv").unlink()
    bare = lines[1].rsplit(",", 1)[0] + ","
    text = "\n".join([lines[0], bare, *lines[2:]]) + "\n"
    (city / "places.csv").write_text(text, encoding="utf-8")
    with pytest.raises(GeographyError, match=lines[1].split(",")[0]):
        job_of(city)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('taps = "taps.parquet"', "", "exactly one of taps and sequences"),
        ('person = "person"\n', "", "whose taps they are"),
        ('noise = "laplace" ', 'noise = "gaussian" ', "privacy.delta must be given"),
        ('levels = "recommended"', 'levels = "geometric"', "needs a ratio"),
        ("# expected_false_prefixes = 0.4 ", "expected_false_prefixes = 2 ", "below 1"),
        ("max_stops = 12 ", "max_stops = 0 ", "records.max_stops"),
        ("# mean_stops = 4.5 ", "mean_stops = 4.5 ", "give one of the two"),
        ('release_type = "sequences"', 'release_type = "sequence"', "must be one of od, sequences"),
    ],
)
def test_a_plan_that_makes_no_sense_is_explained(
    city: Path, old: str, new: str, words: str
) -> None:
    change(city, old, new)
    with pytest.raises(PlanError) as caught:
        load_plan(city / "plan.toml")
    assert words in str(caught.value)


def test_json_is_for_programs(city: Path) -> None:
    answer = json.loads(invoke("publish", city / "plan.toml", "--yes", "--json").output)
    assert answer["measure"] == "pure"


def test_synthetic_taps_have_plausible_times_and_the_published_beginnings(city: Path) -> None:
    published = publish(job_of(city))
    made = invoke("synthesise", published.folder, city / "synthetic.parquet")
    assert made.exit_code == 0, made.output
    taps = pq.read_table(city / "synthetic.parquet")
    assert taps.column_names == ["record", "place", "time"]
    tree = pq.read_table(published.folder / "tree.parquet")
    assert len(taps["record"].unique()) == sum(tree["ends"].to_pylist())
    again = invoke("synthesise", published.folder, city / "synthetic.parquet")
    assert again.exit_code != 0


def test_a_damaged_release_gives_no_synthetic_taps(city: Path) -> None:
    folder = publish(job_of(city)).folder
    (folder / "levels.csv").write_bytes(b"")
    with pytest.raises(hushway.HushwayError, match="not as it was written"):
        synthesize(folder, city / "synthetic.parquet")
