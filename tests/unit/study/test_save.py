"""Every study is saved in the same way; only what differs is given."""

import json
from functools import partial
from pathlib import Path

from hushway.study.study_table import StudyTable, save_study

TABLES = [
    StudyTable(title=title, columns=["method", "#error"], rows=[["sound", "0.1"]])
    for title in ("first", "second")
]


def note(text: str, path: Path) -> None:
    path.write_text(text, encoding="utf-8")


def test_numbers_tables_statements_and_pictures_are_saved(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "study"
    save_study(
        folder,
        facts={"ε": 1},
        tables=TABLES,
        statements=["One.", "Two."],
        pictures={"one.png": partial(note, "1"), "two.png": partial(note, "2")},
    )
    assert json.loads((folder / "numbers.json").read_text(encoding="utf-8")) == {"ε": 1}
    first, second = (table.markdown() for table in TABLES)
    text = (folder / "tables.md").read_text(encoding="utf-8")
    assert text == f"{first}\n{second}\n- One.\n- Two.\n"
    assert [(folder / f"{name}.png").read_text() for name in ("one", "two")] == ["1", "2"]


def test_a_study_beside_another_has_names_of_its_own(tmp_path: Path) -> None:
    save_study(tmp_path, prefix="other-", facts={}, tables=TABLES[:1], pictures={})
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "other-numbers.json",
        "other-tables.md",
    ]
    assert (tmp_path / "other-tables.md").read_text(encoding="utf-8") == TABLES[0].markdown()
