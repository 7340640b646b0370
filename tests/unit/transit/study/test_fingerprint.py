"""What decides the numbers of the transit study."""

from pathlib import Path

import pytest

import hushway
from hushway.transit.study.reproduce import CODE, code_digest, fingerprint


def test_it_tells_the_days_apart_and_is_the_same_every_time() -> None:
    mark = fingerprint()
    assert mark == fingerprint()
    assert len(set(mark["days"].values())) == 2
    assert mark["window_s"] == [28_800, 36_000]
    assert mark["hushway"] == hushway.__version__


def test_code_that_decides_numbers_counts_and_pictures_do_not(tmp_path: Path) -> None:
    folder = tmp_path / "transit"
    folder.mkdir(parents=True)
    (folder / "fleet.py").write_text("ENOUGH = 1", encoding="utf-8")
    before = code_digest(tmp_path)
    (folder / "network_picture.py").write_text("COLOUR = 1", encoding="utf-8")
    assert code_digest(tmp_path) == before
    (folder / "fleet.py").write_text("ENOUGH = 2", encoding="utf-8")
    assert code_digest(tmp_path) != before


@pytest.mark.parametrize("pattern", CODE)
def test_all_code_that_is_named_is_there(pattern: str) -> None:
    assert any(Path(hushway.__file__).parent.glob(pattern))
