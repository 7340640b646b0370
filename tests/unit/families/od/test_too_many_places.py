"""Too many places are refused by their number: before labels of all pairs, and before spending."""

from pathlib import Path
from typing import Any

import pytest

from hushway.errors import PrivacyError, ReleaseError
from hushway.families.load import plan_from, prepare
from hushway.families.od.files import guard
from hushway.families.od.mechanism import laplace
from hushway.families.od.public import features
from support.little_plans import little_plan, write_little_files

FITTED = ("learned", "cbdp", "hierarchical")
DENSE: tuple[dict[str, Any], ...] = (
    {"name": "laplace", "form": "dense"},
    {"name": "cbdp", "form": "dense", "published_totals": ["total"]},
    {"name": "hierarchical", "published_totals": ["total"]},
)


def plan_of(folder: Path, mechanism: dict[str, Any]) -> Any:
    write_little_files(folder)
    return plan_from(little_plan("od") | {"mechanism": mechanism}, folder=folder)


@pytest.mark.parametrize("name", FITTED)
def test_no_pair_is_labelled_where_all_of_them_are_too_many(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def square(*_: object, **__: object) -> None:
        pytest.fail("an array of all pairs of places was made")

    monkeypatch.setattr(guard, "MOST_LABELS", 11)
    monkeypatch.setattr(features, "pairs_of_matrix", square)
    monkeypatch.setattr(features, "place_pair_labels", square)
    with pytest.raises(ReleaseError, match="labels of pairs of places"):
        prepare(plan_of(tmp_path, {"name": name}))


@pytest.mark.parametrize("mechanism", DENSE, ids=lambda mechanism: mechanism["name"])
def test_a_table_without_room_for_its_noise_is_refused_before_it_is_charged_for(
    mechanism: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(laplace, "MOST_DENSE_CELLS", 23)
    with pytest.raises(PrivacyError, match="24 cells is too large"):
        prepare(plan_of(tmp_path, mechanism))
