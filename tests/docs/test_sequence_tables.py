"""Columns of judged sequences are counted from the tables as a benchmark saves them."""

from tools.docs import sequence_tables
from tools.docs.results import Result

SAVED = """\
**metro, ε = 1**

| | queries | patterns F1 |
| --- | ---: | ---: |
| without noise | 0.001 | 1.000 |
| learned | **0.024** | 0.900 |
| tree | 0.062 | **0.963** |

**metro, ε = 4**

| | queries | patterns F1 |
| --- | ---: | ---: |
| learned | **0.019** | **1.000** |
| tree | 0.042 | **1.000** |

**pages, ε = 4**

| | queries |
| --- | ---: |
| learned | 0.275 |
| Markov | **0.264** |
"""
RESULT = Result(name="sequence-judges", made={}, text=SAVED)


def test_columns_are_counted_by_scene_and_budget() -> None:
    titles, rows = sequence_tables.won(RESULT)
    assert titles == ["scene", "ε = 1", "ε = 4", "all"]
    assert rows == [
        ["metro", "1 of 2", "2 of 2", "3 of 4"],
        ["pages", "0 of 0", "0 of 1", "0 of 1"],
        ["all", "1 of 2", "2 of 3", "3 of 5"],
    ]


def test_columns_that_are_lost_name_who_is_better() -> None:
    _, rows = sequence_tables.lost(RESULT)
    assert rows == [
        ["metro, 1", "patterns F1 0.900 (0.963 tree)"],
        ["pages, 4", "queries 0.275 (0.264 Markov)"],
    ]
