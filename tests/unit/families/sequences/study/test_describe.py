import runpy
import sys

import pytest

from hushway.families.sequences.city.cards import bus, metro
from hushway.families.sequences.study import describe


@pytest.mark.long
def test_the_table_has_a_column_for_each_city_and_its_published_figures() -> None:
    small = (metro(9, records=2_000), bus(9, records=2_000))
    lines = describe.table(small).splitlines()
    assert lines[0] == "| | Metro (synthetic) | Bus (synthetic) |"
    assert "| records | 2,000 | 2,000 |" in lines
    assert "| places | 68 | 944 |" in lines
    assert "| stops of the longest record | 90 | 121 |" in lines
    assert "| stops of a record, mean | 4.21 | 5.67 |" in lines


def test_numbers_of_records_and_patterns_agree() -> None:
    city = metro(9, records=2_000)
    facts = dict(line.strip("| ").split(" | ") for line in describe.table((city,)).splitlines()[2:])
    stops, once, distinct = (
        int(facts[name].replace(",", ""))
        for name in ("stops of all records", "records unlike any other", "distinct records")
    )
    assert stops == len(city.stops)
    assert once <= distinct <= len(city)
    supports = [int(facts[f"support of the pattern of rank {rank}"]) for rank in (1, 100, 300)]
    assert supports == sorted(supports, reverse=True)


def test_the_command_prints_the_table(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["describe"])
    monkeypatch.delitem(sys.modules, "hushway.families.sequences.study.describe")
    for name in ("metro", "bus"):
        whole = getattr(sys.modules["hushway.families.sequences.city.cards"], name)
        monkeypatch.setattr(
            f"hushway.families.sequences.city.cards.{name}",
            lambda seed, whole=whole: whole(seed, records=1_000),
        )
    runpy.run_module("hushway.families.sequences.study.describe", run_name="__main__")
    assert "| records | 1,000 | 1,000 |" in capsys.readouterr().out
