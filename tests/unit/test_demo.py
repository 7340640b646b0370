from pathlib import Path

import pytest

from hushway import demo
from hushway.demo import OtherCities, write_city
from hushway.errors import ReleaseError
from hushway.families.registry import FAMILIES
from hushway.families.sequences.family import SequencesFamily
from hushway.privacy.ledger import Ledger


class _WithoutExample(SequencesFamily):
    def example(self, folder: Path) -> None:  # type: ignore[override]
        del folder


def test_other_cities_are_written_beside_with_a_plan_and_an_account(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = {name: FAMILIES[name] for name in ("od", "sequences")}
    monkeypatch.setattr(demo, "FAMILIES", few)
    with OtherCities(tmp_path) as others:
        (city,) = others
    assert city.folder == tmp_path / "sequences"
    assert city.plan.is_file()
    assert "cards" in city.example.rows
    with Ledger.connect(city.job.plan.ledger_url(), create=False) as ledger:
        assert ledger.account(city.job.account).key == city.job.account


def test_a_release_type_without_a_city_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(demo, "FAMILIES", {"sequences": _WithoutExample()})
    with pytest.raises(ReleaseError, match="has no example"):
        write_city("sequences", tmp_path)
