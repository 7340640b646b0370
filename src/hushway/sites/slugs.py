"""Addresses of releases in a site: plain letters and digits, one of its own for each."""

import re
import unicodedata
from collections.abc import Iterable, Iterator

_OTHERS = re.compile(r"[^a-z0-9]+")
_LONGEST = 60
_NAMELESS = "release"


def slug_of(title: str) -> str:
    """Returns a title in plain letters, digits and hyphens; accents are taken off."""
    bare = unicodedata.normalize("NFKD", title).casefold()
    # An accent is a letter of its own by now, and none that is plain.
    letters = "".join(letter for letter in bare if not unicodedata.combining(letter))
    slug = _OTHERS.sub("-", letters).strip("-")[:_LONGEST].strip("-")
    return slug or _NAMELESS


def distinct_slugs(titles: Iterable[str]) -> Iterator[str]:
    """Yields a slug for each title, with a number where another has it already."""
    taken: set[str] = set()
    for title in titles:
        first = slug_of(title)
        slug, number = first, 2
        while slug in taken:
            slug, number = f"{first}-{number}", number + 1
        taken.add(slug)
        yield slug
