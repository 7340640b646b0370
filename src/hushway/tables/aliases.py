"""Further names by which rows call public places: read from a file, and proposed for one.

Privacy:
    Names may have been found in rows. They decide how rows are read, and no release tells them; an
    error names lines of the file, and not what stands there.
"""

import csv
import io
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from hushway.errors import GeographyError
from hushway.escaping import some_of
from hushway.geography.locations import Locations
from hushway.tables.encodings import encoding_of_public
from hushway.tables.first_lines import open_text, read_header
from hushway.tables.unpacking import public_file

_HEADER: Final = ("name", "place")
# How alike two names must be, from 0 to 1, so that one may be a way to write the other.
_ALIKE: Final = 0.6


def with_aliases(locations: Locations, file: Path) -> Locations:
    """Returns places with the further names of a file; a line without a place is left out.

    Raises:
        GeographyError: The file cannot be read, a place is not listed, or a name is not clear.
    """
    places = {key: locations.ids[place] for key, place in locations.places_of_ids.items()}
    found: dict[str, str] = dict(locations.aliases)
    wrong = []
    for line, name, place in _lines(file):
        if place and (place not in places or name in places or name in found):
            wrong.append(f"line {line}")
        elif place:
            found[name] = places[place]
    if wrong:
        raise GeographyError(
            f"Aliases in {file.name} name a place that is not listed, or a name that is a place "
            f"already or stands there twice: {some_of(wrong, 5)}.",
            advice="Write each name once, with the id of a listed place, or nothing, beside it.",
        )
    return replace(locations, aliases=tuple(found.items()))


def read_aliases(file: Path) -> dict[str, str]:
    """Returns the places of names, as a file has them; "" where it has none."""
    return {name: place for _, name, place in _lines(file)}


def _lines(file: Path) -> list[tuple[int, str, str]]:
    with public_file(file, "aliases"):
        try:
            encoding = encoding_of_public(file)
            delimiter, header = read_header(file, encoding)
            with open_text(file, encoding) as text:
                reader = csv.DictReader(text, delimiter=delimiter, strict=True)
                rows = [(reader.line_num, row["name"], row["place"]) for row in reader]
        except (csv.Error, KeyError):
            header, rows = [], []
    if not set(_HEADER) <= set(header) or any(None in row for row in rows):
        raise GeographyError(
            f"{file.name} is no file of aliases.",
            advice="Write a CSV file with the columns name and place.",
        )
    return rows


def nearest_places(names: Iterable[str], locations: Locations) -> dict[str, str]:
    """Returns the id of the place that each name is most like, for those that are like one.

    Likeness is the Dice coefficient of pairs of letters. A name of digits alone is like no other
    than one that differs in leading zeros: numbers that look alike are still other places.
    """
    known: dict[str, str] = {}
    for place in locations.places:
        known.setdefault(_plain(place.id), place.id)
        known.setdefault(_plain(place.name), place.id)
    having: dict[str, list[str]] = {}
    for text in known:
        for pair in _pairs(text):
            having.setdefault(pair, []).append(text)
    near = {name: _most_alike(_plain(name), having) for name in names}
    return {name: known[text] for name, text in near.items() if text in known}


def _most_alike(name: str, having: Mapping[str, list[str]]) -> str | None:
    if not any(map(str.isalpha, name)):
        return name
    pairs = _pairs(name)
    shared = Counter(text for pair in pairs for text in having.get(pair, ()))
    alike = {text: 2 * n / (len(pairs) + len(_pairs(text))) for text, n in shared.items()}
    best = max(alike, key=lambda text: alike[text], default=None)
    return best if best is not None and alike[best] >= _ALIKE else None


def aliases_csv(names: Mapping[str, str]) -> bytes:
    """Returns a file of aliases."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([_HEADER, *names.items()])
    return text.getvalue().encode()


def _plain(name: str) -> str:
    letters = (sign if sign.isalnum() else " " for sign in name.casefold())
    words = "".join(letters).split()
    return " ".join(word.lstrip("0") if word.isdigit() else word for word in words)


def _pairs(text: str) -> set[str]:
    return {text[at : at + 2] for at in range(max(len(text) - 1, 1))}
