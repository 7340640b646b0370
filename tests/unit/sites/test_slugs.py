import re

import pytest

from hushway.sites.slugs import distinct_slugs, slug_of


@pytest.mark.parametrize(
    ("title", "slug"),
    [
        ("Trips by hour, origin and destination", "trips-by-hour-origin-and-destination"),
        ("Île-de-France: Mobilité 2026", "ile-de-france-mobilite-2026"),
        ("../../etc/passwd", "etc-passwd"),
        ("</script>", "script"),
        ("CON", "con"),
        ("東京", "release"),
        ("", "release"),
        ("---", "release"),
        ("Straße", "strasse"),
        ("a" * 500, "a" * 60),
        ("a" * 59 + " b", "a" * 59),
        ("x\0y\n z", "x-y-z"),
    ],
)
def test_slugs_are_plain(title: str, slug: str) -> None:
    assert slug_of(title) == slug
    assert re.fullmatch(r"[a-z0-9][a-z0-9-]*", slug)


def test_no_two_releases_share_a_slug() -> None:
    titles = ["Trips", "trips!", "Trips 2", "TRIPS", "Trips 2"]
    assert list(distinct_slugs(titles)) == ["trips", "trips-2", "trips-2-2", "trips-3", "trips-2-3"]
