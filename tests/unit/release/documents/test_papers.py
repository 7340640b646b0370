"""Where a publisher can be reached, and what plans may say about it."""

import pytest
from pydantic import ValidationError

from hushway.release.documents.papers import licence_address
from hushway.release.plans.sections import ReleasePlan


@pytest.mark.parametrize(
    ("licence", "address"),
    [
        ("CC-BY-4.0", "https://spdx.org/licenses/CC-BY-4.0.html"),
        ("https://city.example/terms", "https://city.example/terms"),
        ("ask us first", None),
    ],
)
def test_a_licence_is_a_name_or_an_address(licence: str, address: str | None) -> None:
    assert licence_address(licence) == address


@pytest.mark.parametrize(
    "stated",
    [
        {"contact": "call me"},
        {"contact": "javascript:alert(1)"},
        {"licence": "ask us first"},
        {"licence": "file:///etc/passwd"},
        {"publisher": " "},
    ],
)
def test_a_plan_states_only_what_tools_understand(stated: dict[str, str]) -> None:
    with pytest.raises(ValidationError):
        ReleasePlan(folder="release", title="Trips", **stated)


@pytest.mark.parametrize(
    "stated",
    [{"contact": "data@city.example"}, {"contact": "https://city.example"}, {"licence": "CC0-1.0"}],
)
def test_a_plan_may_state_addresses_and_names(stated: dict[str, str]) -> None:
    plan = ReleasePlan(folder="release", title="Trips", **stated)
    assert stated.items() <= plan.model_dump().items()
