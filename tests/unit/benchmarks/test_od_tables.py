"""The table of a billion cells, far smaller: a benchmark that cannot run tells nobody."""

from pathlib import Path

import pytest

import od_tables


def test_a_smaller_table_is_written_and_published(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(od_tables, "HUGE_PLACES", 200)
    monkeypatch.setattr(od_tables, "HUGE_TRIPS", 2_000)
    monkeypatch.setattr(od_tables, "HUGE_PEOPLE", 800)
    facts = od_tables.write_huge(tmp_path)
    assert facts["huge_cells"] == 200 * 200 * 48
    published = od_tables.publish_huge(tmp_path, "cbdp")
    assert published["huge_seconds_cbdp"] > 0
    assert (tmp_path / "release-cbdp" / "certificate.json").is_file()
