"""Formats of times: what a plan may say, and what an example of a time tells."""

import pytest

from hushway.tables.time_format import formats_of, has_instants, problem_of


@pytest.mark.parametrize(
    ("example", "formats"),
    [
        ("16/11/2009 07:45", ("%d/%m/%Y %H:%M",)),
        ("05/06/2009 7:45", ("%d/%m/%Y %H:%M", "%m/%d/%Y %H:%M")),
        ("16.11.09, 07:45:12.5", ("%d.%m.%y, %H:%M:%S.%f",)),
        ("November 16, 2009 07:45", ("%B %d, %Y %H:%M",)),
        ("May 3, 2009 07:45", ("%b %d, %Y %H:%M",)),
        ("16/11/2009 07:45 +0100", ("%d/%m/%Y %H:%M %z",)),
        ("200911160745", ("%Y%m%d%H%M",)),
        ("1258361100000", ("epoch_ms",)),
        ("2009-11-16T07:45:00+01:00", ()),
    ],
)
def test_an_example_has_the_formats_that_fit_it(example: str, formats: tuple[str, ...]) -> None:
    assert formats_of(example) == formats
    assert all(problem_of(one) is None for one in formats)


@pytest.mark.parametrize("example", ["", "noon", "16/11/2009", "99/99/2009 07:45", "7"])
def test_what_is_no_time_of_a_day_has_none(example: str) -> None:
    with pytest.raises(ValueError, match=example or "^$"):
        formats_of(example)


@pytest.mark.parametrize("given", ["%d/%m/%Y", "%H:%M", "%d/%m/%Y %I:%M", "%Q %d", "%", "epoch"])
def test_a_format_must_tell_day_and_minute(given: str) -> None:
    assert problem_of(given) is not None


def test_counts_and_offsets_are_instants() -> None:
    assert has_instants("epoch_s")
    assert has_instants("%d/%m/%Y %H:%M %z")
    assert not has_instants("%d/%m/%Y %H:%M")
    assert not has_instants(None)
