"""Reads an atlas back as a page does: facts, and columns by where they lie."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hushway.families.atlas import atlas_of
from hushway.release.drawing.atlas_files import AtlasFiles, atlas_files


@dataclass(frozen=True)
class ReadAtlas:
    """The facts of an atlas, and its bytes."""

    facts: dict[str, Any]
    data: bytes

    def column(self, *path: str) -> NDArray[Any]:
        """Returns the numbers of a column, such as ("flows", "count")."""
        place: Any = self.facts
        for name in path:
            place = place[name]
        # A page can look at columns only where they are aligned, and inside the file.
        assert place["at"] % 8 == 0
        size = place["length"] * int(place["type"][1:])
        assert place["at"] + size <= len(self.data)
        return np.frombuffer(self.data[place["at"] : place["at"] + size], f"<{place['type']}")

    def columns(self) -> list[dict[str, Any]]:
        """Returns all references to columns."""
        return list(_references(self.facts))


def read_atlas(files: AtlasFiles) -> ReadAtlas:
    """Parses the two files."""
    return ReadAtlas(json.loads(files.atlas), files.columns)


def atlas_in(folder: Path) -> ReadAtlas:
    """Draws a release, and reads what was drawn."""
    return read_atlas(atlas_files(atlas_of(folder)))


def _references(part: Any) -> Any:
    if isinstance(part, dict):
        if set(part) == {"type", "at", "length"}:
            yield part
        else:
            for inside in part.values():
                yield from _references(inside)
