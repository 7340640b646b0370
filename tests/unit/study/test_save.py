"""Every study is saved in the same way; only what differs is given."""

import json
import math
from functools import partial
from pathlib import Path

import pytest

from hushway.study.results import Figures, Interval, Report, StudyTable

TABLES = [
    StudyTable(title=title, columns=["method", "#error"], rows=[["sound", "0.1"]])
    for title in ("first", "second")
]


def note(text: str, path: Path) -> None:
    path.write_text(text, encoding="utf-8")


def test_numbers_tables_statements_and_pictures_are_saved(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "study"
    Report(
        facts={"ε": 1},
        headlines=TABLES[:1],
        further=TABLES[1:],
        statements=["One.", "Two."],
        remarks=["Three."],
        pictures={"one.png": partial(note, "1"), "two.png": partial(note, "2")},
    ).save(folder)
    assert json.loads((folder / "numbers.json").read_text(encoding="utf-8")) == {"ε": 1}
    first, second = (table.markdown() for table in TABLES)
    text = (folder / "tables.md").read_text(encoding="utf-8")
    assert text == f"{first}\n{second}\n- One.\n- Two.\n"
    assert [(folder / f"{name}.png").read_text() for name in ("one", "two")] == ["1", "2"]


def test_a_study_beside_another_has_names_of_its_own(tmp_path: Path) -> None:
    Report(facts={}, headlines=TABLES[:1]).save(tmp_path, prefix="other-")
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "other-numbers.json",
        "other-tables.md",
    ]
    assert (tmp_path / "other-tables.md").read_text(encoding="utf-8") == TABLES[0].markdown()


def test_figures_are_means_over_runs_by_setting_and_name() -> None:
    figures = Figures("method", "epsilon")
    figures.add("sound", "1", rows=[{"mre": 1.0, "rsse": 4.0}, {"mre": 3.0, "rsse": 4.0}])
    figures.add("sound", "0.1", rows=[{"mre": 7.0}])
    assert figures.of("sound", "1", "mre").mean == 2.0
    assert figures.deviation("sound", "1", "rsse") == 0.0
    assert figures.get("sound", "0.1", "rsse") is None
    assert figures.tried("epsilon") == ["1", "0.1"]
    assert figures.facts()[0]["figure"] == "mre"


@pytest.mark.parametrize(
    ("mean", "half_width", "written"),
    [
        (0.5034, 0.0226, "0.503 ± 0.023"),
        (291.6, 112.4, "292 ± 112"),
        (2156.4, 26.2, "2,156 ± 26"),
        (99.96, 9.96, "100 ± 10"),
        (41.0, math.nan, "41"),
    ],
)
def test_numbers_are_short_and_never_powers_of_ten(
    mean: float, half_width: float, written: str
) -> None:
    said = str(Interval(mean=mean, half_width=half_width))
    assert said.replace("\N{NO-BREAK SPACE}", " ") == written
