"""Further names of places: read, checked, proposed, and never part of a release."""

from pathlib import Path

import pytest

from hushway.errors import GeographyError
from hushway.geography.locations import Location, Locations
from hushway.tables.aliases import aliases_csv, nearest_places, read_aliases, with_aliases

PLACES = Locations(
    tuple(
        Location(id=key, name=name, lon=0.0, lat=0.0, zone="")
        for key, name in [
            ("KGX", "King's Cross St. Pancras"),
            ("EMB", "Embankment"),
            ("SHB", "Shepherd's Bush"),
            ("7", "Seven Sisters"),
            ("71", "Seventy One"),
        ]
    )
)


def written(folder: Path, text: str) -> Path:
    file = folder / "aliases.csv"
    file.write_text(text, encoding="utf-8")
    return file


def test_rows_may_name_places_by_aliases_and_no_digest_tells(tmp_path: Path) -> None:
    file = written(tmp_path, "name,place\nKings X,KGX\nThe Moon,\n")
    found = with_aliases(PLACES, file)
    assert found.places_of_ids["Kings X"] == 0
    assert "The Moon" not in found.places_of_ids
    assert found.digest == PLACES.digest


@pytest.mark.parametrize(
    "line", ["Kings X,NOWHERE", "EMB,KGX", "Embank,EMB\nEmbank,KGX"], ids=["place", "id", "twice"]
)
def test_an_alias_that_is_not_clear_is_refused_by_its_line(tmp_path: Path, line: str) -> None:
    with pytest.raises(GeographyError, match=r"line \d") as refused:
        with_aliases(PLACES, written(tmp_path, f"name,place\n{line}\n"))
    assert "Kings" not in str(refused.value)


@pytest.mark.parametrize("text", ["", "name;station\na;b\n", "name,place\na\n", 'name,place\n"a'])
def test_another_file_is_no_file_of_aliases(tmp_path: Path, text: str) -> None:
    with pytest.raises(GeographyError, match="is no file of aliases"):
        with_aliases(PLACES, written(tmp_path, text))


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("Kings Cross St Pancras", "KGX"),
        ("EMBANKMNT", "EMB"),
        ("Shepherds Bush (Central)", "SHB"),
        ("kgx", "KGX"),
        ("007", "7"),
        ("72", None),
        ("Unknown", None),
    ],
)
def test_a_name_is_like_the_place_that_somebody_meant(name: str, place: str | None) -> None:
    assert nearest_places([name], PLACES).get(name) == place


def test_proposed_aliases_are_read_as_they_were_written(tmp_path: Path) -> None:
    names = {'a "b", c': "KGX", "é": ""}
    assert read_aliases(written(tmp_path, aliases_csv(names).decode())) == names
