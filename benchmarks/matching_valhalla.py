"""Valhalla (C++), a peer of the map matcher. It reads only OpenStreetMap.

Wheels of pyvalhalla that hold the program that builds tiles need Python 3.12; pyvalhalla-weekly has
them for older ones.
"""

import json
import subprocess
import tempfile
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path

import numpy as np
from pyproj import CRS, Transformer

from hushway.families.links.matching.traces import Traces
from hushway.geography.areas import Plane

_PARTS = ("mjolnir", "loki", "thor", "odin", "meili")
_ANSWER = ["edge.way_id", "matched.edge_index", "matched.type"]


def builder() -> Path | None:
    """Returns the program that builds tiles, if it is installed."""
    found = find_spec("valhalla")
    if found is None or found.origin is None:
        return None
    program = Path(found.origin).parent / "bin" / "valhalla_build_tiles"
    return program if program.is_file() else None


class Valhalla:
    """Matches traces to ways of an OpenStreetMap file."""

    def __init__(self, program: Path, file: Path, plane: Plane) -> None:
        from valhalla import Actor, get_config

        self._folder = tempfile.TemporaryDirectory()
        folder = Path(self._folder.name)
        tiles = folder / "tiles"
        tiles.mkdir()
        config = get_config(tile_extract="", tile_dir=str(tiles), verbose=False)
        for part in _PARTS:
            config[part].setdefault("logging", {})["type"] = ""
        settings = folder / "valhalla.json"
        settings.write_text(json.dumps(config))
        subprocess.run([program, "-c", settings, file], check=True, capture_output=True)
        self._actor = Actor(config)
        local = {"proj": "laea", "lon_0": plane.lon, "lat_0": plane.lat, "datum": "WGS84"}
        self._degrees = Transformer.from_crs(CRS.from_dict(local), "EPSG:4326", always_xy=True)

    def requests(self, traces: Traces, accuracy: float | None) -> list[str]:
        """Returns what to ask for each trip; accuracy in metres, None for what is usual."""
        lon, lat = self._degrees.transform(traces.x, traces.y)
        places = [{"lon": x, "lat": y} for x, y in zip(lon.tolist(), lat.tolist(), strict=True)]
        ask = {
            "costing": "auto",
            "shape_match": "map_snap",
            "filters": {"action": "include", "attributes": _ANSWER},
            "trace_options": {} if accuracy is None else {"gps_accuracy": accuracy},
        }
        return [
            json.dumps({**ask, "shape": places[first:last]})
            for first, last in pairwise(traces.start.tolist())
        ]

    def match(self, requests: list[str]) -> list[str]:
        """Returns the answers. Only this is timed: texts go in, texts come out."""
        answers = []
        for request in requests:
            try:
                answers.append(self._actor.trace_attributes(request))
            except RuntimeError:
                answers.append("{}")
        return answers


def ways_of(traces: Traces, answers: list[str]) -> np.ndarray:
    """Returns the way of each position, or -1."""
    found = np.full(len(traces.x), -1)
    for first, text in zip(traces.start.tolist(), answers, strict=False):
        answer = json.loads(text)
        edges = answer.get("edges", [])
        for i, point in enumerate(answer.get("matched_points", [])):
            edge = point.get("edge_index", len(edges))
            if point.get("type") != "unmatched" and edge < len(edges):
                found[first + i] = edges[edge]["way_id"]
    return found
