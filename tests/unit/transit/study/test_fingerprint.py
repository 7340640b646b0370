"""What decides the numbers of the transit study."""

from pathlib import Path

import hushway
from hushway.transit.study.reproduce import code_digest, fingerprint


def test_it_tells_the_days_apart_and_is_the_same_every_time() -> None:
    mark = fingerprint()
    assert mark == fingerprint()
    assert len(set(mark["days"].values())) == 2
    assert mark["window_s"] == [28_800, 36_000]
    assert mark["hushway"] == hushway.__version__


def test_all_code_counts(tmp_path: Path) -> None:
    folder = tmp_path / "transit"
    folder.mkdir(parents=True)
    (folder / "fleet.py").write_text("ENOUGH = 1", encoding="utf-8")
    before = code_digest(tmp_path)
    (folder / "fleet.txt").write_text("no code", encoding="utf-8")
    assert code_digest(tmp_path) == before
    (folder / "fleet.py").write_text("ENOUGH = 2", encoding="utf-8")
    assert code_digest(tmp_path) != before
