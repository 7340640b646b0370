"""An atlas as two files: atlas.json, and columns.bin with all numbers one after another.

A column is given by its type, offset and length. Numbers are little endian, and
every column begins at a multiple of 8 bytes, so that a page reads them where they lie.
"""

import json
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from hushway.errors import ReleaseError
from hushway.release.drawing.atlas import (
    Atlas,
    AtlasLinks,
    AtlasPlaces,
    Flows,
    Level,
    Numbers,
    Rings,
    Selectable,
    Tree,
)

FORMAT, VERSION = "hushway-atlas", 1
ATLAS, COLUMNS = "atlas.json", "columns.bin"
# Where a site keeps the files of a release.
FILES: Final = "files"

# Longer names are cut: very long ones would stop a page.
LONGEST_NAME: Final = 200

# What a page can hold, and does not wait for too long.
MOST_COLUMN_BYTES = 1 << 27
MOST_JSON_BYTES = 1 << 26

_ALIGNED = 8
# Origin, destination, count and error.
_ROW_BYTES = 16
# Published numbers have two decimals: half a hundredth is not seen.
_UNSEEN = 0.005
# What is expected of cells is told with three decimals.
_THOUSANDTHS = 1000
_WHOLE: Final = {"u1": 1 << 8, "u2": 1 << 16, "u4": 1 << 32}


@dataclass(frozen=True, kw_only=True)
class AtlasFiles:
    """The bytes of the two files."""

    atlas: bytes
    columns: bytes


class _Columns:
    """Packs columns, and says where each lies."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._size = 0

    def add(self, kind: str, values: NDArray[Any]) -> dict[str, Any]:
        at, size = self._size, len(values) * int(kind[1:])
        if at + size > MOST_COLUMN_BYTES:
            raise _too_large("numbers", MOST_COLUMN_BYTES)
        data = np.ascontiguousarray(values).astype(f"<{kind}").tobytes()
        data += bytes(-size % _ALIGNED)
        self._parts.append(data)
        self._size += len(data)
        return {"type": kind, "at": at, "length": len(values)}

    def numbers(self, numbers: Numbers) -> dict[str, Any]:
        """Packs counts and errors; as long floats only where short ones would be seen to differ."""
        return {
            "count": self.add(_float_kind(numbers.count), numbers.count),
            "error": self.add(_float_kind(numbers.error), numbers.error),
            "meaning": numbers.meaning,
        }

    def whole(self, values: NDArray[Any]) -> dict[str, Any]:
        """Packs whole numbers of 0 or more, as short as they fit."""
        most = int(values.max(initial=0))
        return self.add(next(kind for kind, end in _WHOLE.items() if most < end), values)

    @property
    def data(self) -> bytes:
        return b"".join(self._parts)


def atlas_files(atlas: Atlas) -> AtlasFiles:
    """Returns the two files: the same bytes for the same release."""
    columns, drawing = _Columns(), atlas.drawing
    facts = {
        "format": FORMAT,
        "version": VERSION,
        **{name: text and short_text(text) for name, text in atlas.facts.items()},
        **atlas.sentences,
        "counted": drawing.counted,
        "window": drawing.window,
        "bounds": drawing.bounds,
        "layer": drawing.layer,
        "periods": [
            {
                "label": short_text(each.label),
                "group": each.group and short_text(each.group),
                "whole": each.whole,
            }
            for each in drawing.periods
        ],
        "places": _places(columns, drawing.places),
        "totals": None if drawing.totals is None else columns.numbers(drawing.totals),
        "series": None if drawing.series is None else columns.numbers(drawing.series),
        "flows": None if drawing.flows is None else _flows(columns, drawing.flows),
        "levels": [_level(columns, level) for level in drawing.levels],
        "selectable": drawing.selectable and _selectable(columns, drawing.selectable),
        "links": None if drawing.links is None else _links(columns, drawing.links),
        "tree": None if drawing.tree is None else _tree(columns, drawing.tree),
        "notes": list(drawing.notes),
        "downloads": [
            {
                "path": f"{FILES}/{each.path}",
                "title": short_text(each.title),
                "bytes": each.size,
                "sha256": each.sha256,
            }
            for each in atlas.downloads
        ],
    }
    text = json.dumps(facts, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    data = (text + "\n").encode()
    if len(data) > MOST_JSON_BYTES:
        raise _too_large("names", MOST_JSON_BYTES)
    return AtlasFiles(atlas=data, columns=columns.data)


def _places(columns: _Columns, places: AtlasPlaces) -> dict[str, Any]:
    return {
        "ids": list(map(short_text, places.ids)),
        "names": list(map(short_text, places.names)),
        "lon": columns.add("f8", places.lon),
        "lat": columns.add("f8", places.lat),
        "shapes": None if places.shapes is None else _rings(columns, places.shapes),
    }


def _rings(columns: _Columns, rings: Rings) -> dict[str, Any]:
    return {
        "lon": columns.add("f4", rings.lon),
        "lat": columns.add("f4", rings.lat),
        "ring_starts": columns.add("u4", rings.starts),
        "place_of_ring": columns.add("u4", rings.place),
    }


def _flows(columns: _Columns, flows: Flows) -> dict[str, Any]:
    return {
        "origin": columns.add("u4", flows.origin),
        "destination": columns.add("u4", flows.destination),
        **columns.numbers(flows.numbers),
        "starts": columns.add("u4", flows.starts),
    }


def _level(columns: _Columns, level: Level) -> dict[str, Any]:
    return {
        "group": columns.add("u4", level.group),
        "places": _places(columns, level.places),
        "totals": columns.numbers(level.totals),
        "flows": _flows(columns, level.flows),
    }


def _selectable(columns: _Columns, found: Selectable) -> dict[str, Any]:
    counted = np.flatnonzero(found.count)
    return {
        "intrazonal": found.intrazonal,
        "gap": columns.whole(np.diff(found.cell, prepend=0)),
        "mean": columns.whole(np.rint(_THOUSANDTHS * found.mean)),
        "error": columns.whole(np.rint(_THOUSANDTHS * found.error)),
        "counted": columns.whole(counted),
        "count": columns.whole(found.count[counted]),
        "effects": dict(found.effects),
        "totals": [
            {
                "pair": None if total.pair is None else columns.whole(total.pair),
                "pairs": total.pairs,
                "period": None if total.period is None else columns.whole(total.period),
                "error": columns.add("f8", total.error),
            }
            for total in found.totals
        ],
    }


def _links(columns: _Columns, links: AtlasLinks) -> dict[str, Any]:
    return {
        "lon": columns.add("f4", links.lon),
        "lat": columns.add("f4", links.lat),
        "starts": columns.add("u4", links.starts),
        "ids": list(map(short_text, links.ids)),
        "names": list(map(short_text, links.names)),
        "rank": columns.add("u1", links.rank),
        "link": columns.add("u4", links.link),
        **columns.numbers(links.numbers),
        "row_starts": columns.add("u4", links.row_starts),
        "rest": [{**vars(each), "label": short_text(each.label)} for each in links.rest],
    }


def _tree(columns: _Columns, tree: Tree) -> dict[str, Any]:
    return {
        "parent": columns.add("i4", tree.parent),
        "place": columns.add("u4", tree.place),
        "period": None if tree.period is None else columns.add("u4", tree.period),
        **columns.numbers(tree.numbers),
    }


def short_text(text: str) -> str:
    """Returns a name as a page shows it: the beginning of a very long one."""
    return text if len(text) <= LONGEST_NAME else f"{text[: LONGEST_NAME - 1]}…"


def _float_kind(values: NDArray[np.number]) -> str:
    whole = values.astype(np.float64)
    off = np.abs(whole.astype(np.float32).astype(np.float64) - whole)
    # Comparisons with NaN are false: nothing is lost of what is not published.
    return "f8" if bool(np.any(off > _UNSEEN)) else "f4"


def refuse_many(rows: int) -> None:
    """Refuses more rows with ends, counts and errors than an atlas can hold."""
    if rows * _ROW_BYTES > MOST_COLUMN_BYTES:
        raise _too_large("numbers", MOST_COLUMN_BYTES)


def _too_large(what: str, most: int) -> ReleaseError:
    return ReleaseError(
        f"The release is too large for a page: its {what} take more than {most >> 20} MB.",
        advice="Publish fewer periods, places or rows, or let readers use the files themselves.",
    )
