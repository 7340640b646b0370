import math
from pathlib import Path

import numpy as np
import pytest

from hushway.errors import ReleaseError
from hushway.families.links.city.road_city import road_city
from hushway.families.links.city.simulate import simulate_traces
from hushway.families.links.family import _LINKS, _PEOPLE
from hushway.families.links.mechanism.people import LinkPeople
from hushway.families.links.plan import LinksPlan
from hushway.families.load import load_plan, prepare
from hushway.families.registry import FAMILIES
from hushway.families.sequences.family import SequencesFamily
from hushway.privacy.bound import Bound
from hushway.privacy.calibration import noise_for
from hushway.privacy.ledger import Ledger
from hushway.release.family import SEED, Example
from hushway.steward import demo
from hushway.steward.demo import OtherCities, write_city


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


def test_most_roads_of_the_demo_carry_more_people_than_noise_hides(tmp_path: Path) -> None:
    """Counted without noise: what a release shows of it is then no luck."""
    example = FAMILIES["links"].example(tmp_path)
    assert example is not None
    (tmp_path / "plan.toml").write_text(_changed(FAMILIES["links"].template, example))
    job = prepare(load_plan(tmp_path / "plan.toml"))
    city = simulate_traces(road_city(SEED, links=_LINKS), SEED, people=_PEOPLE)
    assert example.rows == f"{len(city.lon):,} positions of {_PEOPLE:,} people"
    on_link = np.repeat(city.person, np.diff(city.truth.start)) * city.roads.links
    seen = np.unique(on_link + city.truth.link) % city.roads.links
    people = np.bincount(seen, minlength=city.roads.links)
    assert isinstance(job.plan, LinksPlan)
    assert isinstance(job.mechanism, LinkPeople)
    usual = job.mechanism.chosen
    items = usual.limits.max_items
    bound = Bound(cells=items, each=1, total=items)
    noise = math.sqrt(noise_for(usual.spends.links, bound).variance)
    assert np.count_nonzero(people > 3 * noise) > city.roads.links / 4
    assert people.max() > 15 * noise


def _changed(text: str, example: Example) -> str:
    for old, new in example.changes.items():
        assert old in text
        text = text.replace(old, new)
    return text
