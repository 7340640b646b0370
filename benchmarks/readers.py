"""Our readers of public files and traces beside libraries: pyogrio, gpxpy, pyrosm and osmnx.

HUSHWAY_PEERS_PYTHON names a Python that has the libraries; without it, it is this one. Every
reading is a process of its own, so that its memory can be told. Seconds are CPU seconds, without
imports. Hostile files are read in the same way, with two minutes for each.
"""

import os
import subprocess
import sys
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
import osmium
import shapefile

SIDE = 120
AREAS, CORNERS = 3_000, 60
POINTS = 200_000
_TIMED = """
import re, sys, time
{imports}
path = sys.argv[1]
start = time.process_time()
{work}
took = time.process_time() - start
peak = int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]) / 1024
print(f"{{took:.3f}} {{peak:.0f}}")
"""


class Reading(NamedTuple):
    """One way to read a file: who does it, with which imports, and by which line."""

    who: str
    imports: str
    work: str
    ours: bool = False


_OURS = {
    "roads": Reading(
        "hushway",
        "from hushway.families.links.public.read import read_roads",
        "read_roads(path)",
        ours=True,
    ),
    "areas": Reading(
        "hushway", "from hushway.tables.areas import read_areas", "read_areas(path)", ours=True
    ),
    "traces": Reading(
        "hushway",
        "from hushway.families.links.rows.gpx import GpxTraces, read_gpx",
        "read_gpx(GpxTraces(path))",
        ours=True,
    ),
}
_OTHERS = {
    ".osm.pbf": Reading(
        "pyrosm",
        "import warnings; warnings.simplefilter('ignore'); from pyrosm import OSM",
        "OSM(path).get_network('driving', nodes=True)",
    ),
    ".osm": Reading("osmnx", "import osmnx", "osmnx.graph_from_xml(path)"),
    ".geojson": Reading("pyogrio", "import pyogrio", "pyogrio.read_dataframe(path)"),
    ".zip": Reading("pyogrio", "import pyogrio", "pyogrio.read_dataframe('/vsizip/' + path)"),
    ".gpx": Reading("gpxpy", "import gpxpy", "gpxpy.parse(open(path))"),
}


def main() -> dict[str, Any]:
    """Prints seconds and megabytes of every reading, and what became of hostile files."""
    python = os.environ.get("HUSHWAY_PEERS_PYTHON", sys.executable)
    ratios = {}
    with TemporaryDirectory(prefix="hushway-bench-") as name:
        folder = Path(name)
        for what, path in _written(folder).items():
            ours, other = _OURS[what.split()[0]], _OTHERS["".join(path.suffixes[-2:])]
            mine, theirs = _run(ours, path, python), _run(other, path, python)
            print(f"{what:16} hushway {_shown(mine)}, {other.who} {_shown(theirs)}")
            if mine and theirs:
                ratios[what] = theirs[0] / mine[0]
                print(f"{what:16} {other.who} takes {ratios[what]:.1f} times as long")
        for what, path in _hostile(folder).items():
            ours, other = _OURS[what.split()[0]], _OTHERS["".join(path.suffixes[-2:])]
            for reading in (ours, other):
                print(f"hostile {what:28} {reading.who:8} {_fate(reading, path, python)}")
    return {"ratios": ratios}


def _run(reading: Reading, path: Path, python: str) -> tuple[float, float] | None:
    done = _process(reading, path, python)
    if done.returncode:
        return None
    seconds, megabytes = done.stdout.split()[-2:]
    return float(seconds), float(megabytes)


def _fate(reading: Reading, path: Path, python: str) -> str:
    try:
        done = _process(reading, path, python, seconds=120)
    except subprocess.TimeoutExpired:
        return "was stopped after two minutes"
    if not done.returncode:
        return f"read it, {done.stdout.split()[-1]} MB"
    if done.returncode < 0:
        return f"was killed by signal {-done.returncode}"
    return (
        "refused it: " + done.stderr.strip().splitlines()[-1].partition(":")[0].rpartition(".")[2]
    )


def _process(
    reading: Reading, path: Path, python: str, seconds: int = 300
) -> "subprocess.CompletedProcess[str]":
    code = _TIMED.format(imports=reading.imports, work=reading.work)
    command = [sys.executable if reading.ours else python, "-c", code, str(path)]
    return subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False)


def _shown(found: tuple[float, float] | None) -> str:
    return "is not installed, or failed" if found is None else f"{found[0]:.2f} s {found[1]:.0f} MB"


def _written(folder: Path) -> dict[str, Path]:
    """Writes a grid of streets, areas with many corners, and a long track."""
    files = {
        "roads pbf": folder / "grid.osm.pbf",
        "roads xml": folder / "grid.osm",
        "areas geojson": folder / "areas.geojson",
        "areas shapefile": folder / "areas.zip",
        "traces gpx": folder / "track.gpx",
    }
    for file in (files["roads pbf"], files["roads xml"]):
        _write_streets(file)
    rings = [_ring(number) for number in range(AREAS)]
    features = ",".join(
        f'{{"type":"Feature","properties":{{"id":"{n}"}},'
        f'"geometry":{{"type":"Polygon","coordinates":[{ring}]}}}}'
        for n, ring in enumerate(rings)
    )
    files["areas geojson"].write_text(f'{{"type":"FeatureCollection","features":[{features}]}}')
    _write_shapes(folder / "areas", rings, files["areas shapefile"])
    files["traces gpx"].write_text(_gpx())
    return files


def _ring(number: int) -> list[list[float]]:
    turn = np.linspace(0, 2 * np.pi, CORNERS)
    east, north = number % 60 * 0.01, number // 60 * 0.01
    corners = np.column_stack([east + 0.004 * np.cos(turn), north + 0.004 * np.sin(turn)]).round(7)
    return [*corners[:-1].tolist(), corners[0].tolist()]


def _write_streets(file: Path) -> None:
    with osmium.SimpleWriter(str(file)) as writer:
        for n in range(SIDE * SIDE):
            location = (n % SIDE * 0.001, n // SIDE * 0.001)
            writer.add_node(osmium.osm.mutable.Node(id=n + 1, version=1, location=location))
        for n in range(SIDE):
            rows = [n * SIDE + i + 1 for i in range(SIDE)]
            columns = [i * SIDE + n + 1 for i in range(SIDE)]
            for number, nodes in ((2 * n + 1, rows), (2 * n + 2, columns)):
                way = osmium.osm.mutable.Way(
                    id=number, version=1, nodes=nodes, tags={"highway": "residential"}
                )
                writer.add_way(way)


def _write_shapes(stem: Path, rings: list[Any], archive: Path) -> None:
    with shapefile.Writer(str(stem), shapeType=shapefile.POLYGON) as writer:
        writer.field("id", "C")
        for number, ring in enumerate(rings):
            writer.poly([ring[::-1]])
            writer.record(str(number))
    stem.with_suffix(".prj").write_text(
        'GEOGCS["WGS 84",DATUM["WGS_1984",SPHEROID["WGS 84",'
        '6378137,298.257223563]],PRIMEM["Greenwich",0],UNIT["degree",0.0174532925199433]]'
    )
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        for ending in (".shp", ".shx", ".dbf", ".prj"):
            packed.write(stem.with_suffix(ending), f"areas{ending}")


def _gpx(points: int = POINTS, before: str = "", time: str = "2026-03-02T08:00:00Z") -> str:
    track = "".join(
        f'<trkpt lon="{i % 997 / 1e4}" lat="{i % 991 / 1e4}"><time>{time}</time></trkpt>'
        for i in range(points)
    )
    return (
        f'<?xml version="1.0"?>{before}<gpx version="1.1"><trk><trkseg>{track}</trkseg></trk></gpx>'
    )


def _hostile(folder: Path) -> dict[str, Path]:
    """Writes entities that grow, files that are cut off, and an archive that unpacks to zeros."""
    levels = "".join(f'<!ENTITY e{i} "{f"&e{i - 1};" * 10}">' for i in range(1, 8))
    bomb = f'<!DOCTYPE gpx [<!ENTITY e0 "lol">{levels}]>'
    files = {
        "traces entities": folder / "bomb.gpx",
        "traces other file's text": folder / "outside.gpx",
        "roads pbf, cut off": folder / "cut.osm.pbf",
        "areas zip of zeros": folder / "zeros.zip",
        "areas shapefile, cut off": folder / "cut.zip",
    }
    files["traces entities"].write_text(_gpx(1, bomb, "&e7;"))
    outside = f'<!DOCTYPE gpx [<!ENTITY e SYSTEM "file://{folder / "areas.geojson"}">]>'
    files["traces other file's text"].write_text(_gpx(1, outside, "&e;"))
    whole = (folder / "grid.osm.pbf").read_bytes()
    files["roads pbf, cut off"].write_bytes(whole[: len(whole) // 2])
    with zipfile.ZipFile(files["areas zip of zeros"], "w", zipfile.ZIP_DEFLATED) as packed:
        header = (folder / "areas.shp").read_bytes()[:100]
        packed.writestr("areas.shp", header + bytes(400_000_000))
        packed.write(folder / "areas.dbf", "areas.dbf")
        packed.write(folder / "areas.shx", "areas.shx")
    with zipfile.ZipFile(files["areas shapefile, cut off"], "w") as packed:
        packed.writestr("areas.shp", (folder / "areas.shp").read_bytes()[:50_000])
        for ending in (".shx", ".dbf", ".prj"):
            packed.write(folder / f"areas{ending}", f"areas{ending}")
    return files


if __name__ == "__main__":
    main()
